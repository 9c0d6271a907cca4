# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From the API server's answers to our errors.

A Status' message is quoted only where it cannot hold what was sent: a 422 may repeat
an invalid value, so of that one only the fields and their reasons are kept.
"""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    ConfigurationError,
    Conflict,
    DependencyMissing,
    NotFound,
    PermissionDenied,
    PullSecretError,
    QuotaExceeded,
    Unavailable,
)

__all__ = ["AlreadyExists", "Overtaken", "translate"]


class Overtaken(Conflict):
    """The object is not as it was read any more.

    ``unsure``: perhaps by ourselves, since an earlier try of the same write got no answer.
    """

    unsure: bool = False


class AlreadyExists(Overtaken):
    """The object is there already."""


def translate(status: int, body: bytes, verb: str, place: str) -> PullSecretError:
    """One of ours for an HTTP status and a Status body.

    :param place: ``namespaces/NS/secrets/NAME``, with the context in front where several are in use.
    """
    answer = _status(body)
    reason, message = str(answer.get("reason") or ""), _line(answer.get("message"))
    where = f"{verb} {place}"
    if status == 401:
        return PermissionDenied(f"Unauthorized: {where}", "the API server does not know these credentials")
    if status == 403:
        if "is being terminated" in message:
            return DependencyMissing(f"Forbidden: {where}: the namespace is being terminated")
        return PermissionDenied(
            f"Forbidden: {where}{message}",
            # A quota or an admission plugin refuses with 403 as well.
            f"give that user a Role with {_verbs(place)}" if " cannot " in message else None,
        )
    if status == 404:
        details = answer.get("details") or {}
        if details.get("kind") == "namespaces":
            return DependencyMissing(
                f"NotFound: {where}: namespace {details.get('name')} does not exist",
                "the placement adapter creates it; has it run?",
            )
        return NotFound(f"NotFound: {where}")
    if status == 409:
        return (
            AlreadyExists(f"AlreadyExists: {where}")
            if reason == "AlreadyExists"
            else Overtaken(f"Conflict: {where}")
        )
    if status == 422:
        return ConfigurationError(f"Invalid: {where}: {_causes(answer)}")
    if status == 429:
        return QuotaExceeded(f"TooManyRequests: {where}")
    if status in (408, 500, 502, 503, 504):
        return Unavailable(f"{reason or status}: {where}")
    return PullSecretError(f"{reason or status}: {where}")


def _verbs(place: str) -> str:
    if "/serviceaccounts/" in place:
        return "get and patch on serviceaccounts"
    return "get, list, create, patch and delete on secrets"


def _status(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _line(message: Any) -> str:
    text = " ".join(str(message or "").split())
    return f": {text[:300]}" if text else ""


def _causes(answer: dict[str, Any]) -> str:
    causes = (answer.get("details") or {}).get("causes") or []
    return (
        ", ".join(f"{cause.get('field')} ({cause.get('reason')})" for cause in causes)
        or "the object is not valid"
    )
