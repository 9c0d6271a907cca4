# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result that a Job left at its end, checked field by field. Pure.

Any program in the pod may write a termination message. That program had the pull secret, and the message goes
on into statuses, logs and metrics. So names must be those of the order, words must be known, and numbers
within bounds. The rest is a failure's message, which is masked as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable

from ....model import job_vocabulary
from ..model import Order

__all__ = ["LARGEST", "JobResult", "checked_job_result", "cleaned_text", "parse_job_result"]

# The length at which Kubernetes cuts a pod's termination messages.
LARGEST = 4096
_LONGEST_MESSAGE = 1000
_MOST_CALLS = 64
_MOST = 100_000
_MOST_SECONDS = 86400.0

# A URL's password and query, in which registries put signatures.
_PASSWORD = re.compile(r"(?<=://)[^/\s@\"']*@")
_QUERY = re.compile(r"(?<=[\w/.=-])\?[^\s\"'?]+")
_SPACES = re.compile(r"\s+")
_VERSION = re.compile(r"[1-9][0-9]{0,8}\Z", re.ASCII)

_Check = Callable[[Any], Any]


def cleaned_text(text: Any, longest: int = _LONGEST_MESSAGE) -> str:
    """Return a text that a Job wrote as one printable line for a condition, with a maximum length."""
    line = _SPACES.sub(" ", str(text or "")[: 4 * longest]).strip()
    line = "".join(letter for letter in line if letter.isprintable())
    line = _QUERY.sub("?…", _PASSWORD.sub("", line))
    return line if len(line) <= longest else line[: longest - 1] + "…"


@dataclass(frozen=True)
class JobResult:
    """The valid part of a result.

    :param fields: as the job contract names them, ``result`` at least.
    :param elsewhere: it names other secrets than were ordered; they, and the version there, are left out.
    """

    fields: Mapping[str, Any]
    elsewhere: bool = False


def _result_places(order: Order) -> dict[str, Any]:
    """Return the names of the secrets that the order's Job writes, in the form of a result."""
    return {
        "secret": order.stored_at,
        "management_secret": {"namespace": order.namespace, "name": order.placed_as},
    }


def parse_job_result(message: Any, order: Order) -> JobResult | None:
    """Return the result in a termination message, or None if it has none."""
    if not isinstance(message, str) or len(message.encode("utf-8", "replace")) > LARGEST:
        return None
    try:
        document = json.loads(message)
    except (ValueError, RecursionError):
        return None
    return checked_job_result(document, order)


def checked_job_result(document: Any, order: Order) -> JobResult | None:
    """Return the valid fields of a result, or None if ``result`` itself is invalid."""
    if not isinstance(document, Mapping):
        return None
    found = _fields(document, _RESULT)
    if "result" not in found:
        return None
    elsewhere = False
    for name, ordered in _result_places(order).items():
        # An invalid field is not masked, which would cost a search for parts of the pull secret.
        if document.get(name) == ordered:
            found[name] = ordered
        elif document.get(name) is not None:
            elsewhere = True
    if elsewhere:
        found.pop("version", None)
    return JobResult(found, elsewhere)


def _fields(document: Mapping[str, Any], checks: Mapping[str, _Check]) -> dict[str, Any]:
    made = {}
    for name, check in checks.items():
        value = check(document.get(name))
        if value is not None:
            made[name] = value
    return made


def _version(value: Any) -> str | None:
    return value if isinstance(value, str) and _VERSION.match(value) else None


def _one_of(words: Sequence[str]) -> _Check:
    return lambda value: value if isinstance(value, str) and value in words else None


def _word(words: Callable[[Any], str]) -> _Check:
    """Return a known word, or ``other`` to show that there was one."""
    return lambda value: words(value) if isinstance(value, str) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _count(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value <= _MOST else None


def _seconds(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # Neither infinity nor NaN is between the bounds.
    return round(float(value), 4) if 0 <= value <= _MOST_SECONDS else None


def _message(value: Any) -> str | None:
    return cleaned_text(value) if isinstance(value, str) else None


def _calls(operation: Callable[[Any], str]) -> _Check:
    checks: dict[str, _Check] = {
        "operation": _word(operation),
        "status_code": _word(job_vocabulary.status_code),
        "count": _count,
        "seconds": _seconds,
    }

    def check(value: Any) -> list[dict[str, Any]] | None:
        if not isinstance(value, Sequence) or isinstance(value, str):
            return None
        made = [_fields(item, checks) for item in value[:_MOST_CALLS] if isinstance(item, Mapping)]
        return [item for item in made if len(item) == len(checks)]

    return check


_RESULT: dict[str, _Check] = {
    "result": _one_of(("success", "failure")),
    "version": _version,
    "changed": _flag,
    "replication_differs": _flag,
    "versions_created": _count,
    "kind": _word(lambda value: job_vocabulary.allowed_or_other(value, job_vocabulary.KINDS)),
    "message": _message,
    "phase": _one_of(job_vocabulary.PHASES),
    "duration_seconds": _seconds,
    "gcp_api_calls": _calls(
        lambda value: job_vocabulary.allowed_or_other(value, job_vocabulary.GCP_OPERATIONS)
    ),
    "k8s_api_calls": _calls(job_vocabulary.k8s_operation),
}
