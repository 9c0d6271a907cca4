# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job's termination message and exit code. Pure.

Kubelet copies the message into the pod's status, where everybody who may read pods can read it. It holds
names, numbers and sentences made of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...model.errors import ConfigurationError, InvalidDocument, OwnershipConflict
from ...workflows.provision.steps import stored_at
from .work import Ended

__all__ = ["LARGEST", "exit_code", "outcome", "written"]

# Bytes; kubelet cuts off the rest.
LARGEST = 4096
_LONGEST = 1000
_SHORTEST = 200
_CALLS = ("gcp_api_calls", "k8s_api_calls")
# Failures that another run with the same input repeats.
_NOT_MENDED = (ConfigurationError.kind, InvalidDocument.kind, OwnershipConflict.kind)


def exit_code(ended: Ended) -> int:
    """Return 0 on success, 2 if a person must fix something first, and 1 otherwise."""
    if ended.problem is None:
        return 0
    return 2 if ended.kind in _NOT_MENDED else 1


def outcome(
    ended: Ended,
    seconds: float,
    gcp_calls: Sequence[dict[str, Any]] = (),
    kubernetes_calls: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return the termination message of the job contract.

    :param seconds: total time.
    :param gcp_calls: as ``Calls`` has them.
    """
    said: dict[str, Any] = {"result": "success" if ended.problem is None else "failure"}
    if ended.problem is not None:
        said["kind"] = ended.kind
        said["message"] = _bounded(ended.problem)
    elif ended.changed:
        said["message"] = "Pull secret provisioned"
    else:
        said["message"] = "Pull secret is unchanged"
    if ended.phase is not None:
        said["phase"] = ended.phase
    if ended.version is not None:
        said["version"] = ended.version
    settings = ended.settings
    # Names have been checked once a phase has begun.
    if settings is not None and ended.phase is not None:
        cluster = settings.cluster
        said["secret"] = stored_at(cluster)
        said["management_secret"] = {
            "namespace": cluster.management_namespace,
            "name": cluster.k8s_secret_name,
        }
    said["changed"] = ended.changed
    said["versions_created"] = ended.versions
    if ended.replication_differs:
        said["replication_differs"] = True
    said["duration_seconds"] = round(seconds, 3)
    said["gcp_api_calls"] = list(gcp_calls)
    said["k8s_api_calls"] = list(kubernetes_calls)
    return said


def written(said: dict[str, Any]) -> bytes:
    """Return the message in writing, within kubelet's limit: calls are left out before names."""
    said = dict(said)
    while len(_encoded(said)) > LARGEST and any(said.get(name) for name in _CALLS):
        name = max(_CALLS, key=lambda calls: len(said.get(calls) or ()))
        # The rarest calls first, because the frequent ones matter most.
        rarest = min(said[name], key=lambda call: int(call["count"]))
        said[name] = [call for call in said[name] if call is not rarest]
        said["calls_left_out"] = True
    while len(_encoded(said)) > LARGEST and len(str(said.get("message", ""))) > _SHORTEST:
        said["message"] = _bounded(said["message"], max(_SHORTEST, len(said["message"]) * 3 // 4))
    # No secret has names that long, and a cut name would be ambiguous.
    for name in ("management_secret", "secret", "version"):
        if len(_encoded(said)) > LARGEST:
            said.pop(name, None)
    return _encoded(said)


def _encoded(said: dict[str, Any]) -> bytes:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def _bounded(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
