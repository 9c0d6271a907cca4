# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What may be a label's value.  Pure.

Much of what is counted was said by others: a pod's termination message, an event's type. Each new value of
a label is a series that Prometheus keeps, so only what is known, or a few of what has the right shape, gets
through.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from http import HTTPStatus
from typing import Any, Optional

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils import errors

__all__ = [
    "GCP_OPERATIONS",
    "KINDS",
    "OTHER",
    "Few",
    "amount",
    "chosen",
    "cluster",
    "k8s_operation",
    "status",
]

OTHER = "other"
# Of Secret Manager's API.
GCP_OPERATIONS = frozenset(
    {
        "access_secret_version",
        "add_secret_version",
        "create_secret",
        "delete_secret",
        "destroy_secret_version",
        "disable_secret_version",
        "enable_secret_version",
        "get_secret",
        "get_secret_version",
        "list_secret_versions",
        "list_secrets",
        "update_secret",
    }
)
# What an error is called: in results, and in a Job's termination message.
KINDS = frozenset(
    one.kind
    for one in vars(errors).values()
    if isinstance(one, type) and issubclass(one, errors.PullSecretError)
) | {"being_deleted", "precondition", "request_refused"}
_K8S = re.compile(
    r"(?:get|list|create|update|patch|replace|delete|watch)"
    r"_(?:secret|job|pod|namespace|service_?account|configmap|event)s?(?:_(?:token|status|log))?\Z"
)
# As HTTP says it, 499 as Google does for what was cancelled; "none" is a request without an answer.
_STATUSES = frozenset({"none", *(str(one.value) for one in HTTPStatus), "499"})
# A cluster's id is a UUID or a DNS label; what the API calls it is a name all the same.
_CLUSTER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?\Z")
_WORD = re.compile(r"[a-z][a-zA-Z0-9._-]{0,62}\Z")


def chosen(value: Any, known: Collection[str]) -> str:
    """A known value, or ``other``."""
    return value if isinstance(value, str) and value in known else OTHER


def k8s_operation(value: Any) -> str:
    """``create_secret``: a verb of the API and a kind that we handle; else ``other``."""
    return value if isinstance(value, str) and _K8S.match(value) else OTHER


def status(value: Any) -> str:
    """``200``, ``503``, ``none`` for a request that nobody answered; else ``other``."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return chosen(text, _STATUSES)


def cluster(value: Any) -> str:
    """A cluster's id; else ``other``."""
    return value if isinstance(value, str) and _CLUSTER.match(value) else OTHER


def amount(value: Any, most: float) -> Optional[float]:
    """A number from 0 to ``most``, or None: a wrong one would spoil a counter for good."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # A huge int has no float; the comparison is exact all the same.
    if not 0 <= value <= most or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return float(value)


class Few:
    """Words of the right shape, as long as they are few; what comes after those is ``other``."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._seen: set[str] = set()

    def __call__(self, value: Any) -> str:
        """The word itself, or ``other``."""
        if not isinstance(value, str) or not _WORD.match(value):
            return OTHER
        if value not in self._seen:
            if len(self._seen) >= self._most:
                return OTHER
            self._seen.add(value)
        return value
