# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values that a Job's result may have in statuses, logs and metrics. Pure.

A Job's pod may write anything. Only these words pass, so that none can be a part of the pull secret, and none
creates an unlimited number of metrics.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from http import HTTPStatus
from typing import Any

from . import errors

__all__ = [
    "END_KINDS",
    "GCP_OPERATIONS",
    "KINDS",
    "KUBERNETES_KINDS",
    "OTHER",
    "PHASES",
    "allowed_or_other",
    "k8s_operation",
    "status_code",
]

OTHER = "other"
PHASES = ("initialization", "gcp-secret-manager", "k8s-secret")
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
KINDS = frozenset(
    one.kind
    for one in vars(errors).values()
    if isinstance(one, type) and issubclass(one, errors.PullSecretError)
) | {"being_deleted", "precondition", "request_refused", "stopped"}
KUBERNETES_KINDS = frozenset(
    {
        "backoff_limit_exceeded",
        "deadline_exceeded",
        "input_refused",
        "job_failed",
        "out_of_memory",
        "pod_evicted",
        "pod_failure_policy",
    }
)
"""Kinds of failures of a Job whose program left no message, from Kubernetes' reason."""
END_KINDS = KINDS | KUBERNETES_KINDS
_K8S = re.compile(
    r"(?:get|list|create|update|patch|replace|delete|watch)"
    r"_(?:secret|job|pod|namespace|service_?account|configmap|event)s?(?:_(?:token|status|log))?\Z"
)
_STATUSES = frozenset({"none", *(str(one.value) for one in HTTPStatus), "499"})


def allowed_or_other(value: Any, known: Collection[str]) -> str:
    """Return a known value, or ``other``."""
    return value if isinstance(value, str) and value in known else OTHER


def k8s_operation(value: Any) -> str:
    """Return ``create_secret``, a verb of the API with a kind that we use, or ``other``."""
    return value if isinstance(value, str) and _K8S.match(value) else OTHER


def status_code(value: Any) -> str:
    """Return ``200``, ``503``, ``none`` for a request without a response, or ``other``."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    return allowed_or_other(text, _STATUSES)
