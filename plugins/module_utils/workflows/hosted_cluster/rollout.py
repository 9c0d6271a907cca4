# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds which nodes have a syncer, their progress, and how many may restart at once. Pure functions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...model.shown import is_name
from ...model.syncer_limits import MOST_SLOTS

__all__ = ["Rollout", "expected_nodes", "rollout_of", "slot_count", "tolerates_all"]

_STATES = ("in-sync", "pending", "failed", "held")
# Taints that the DaemonSet controller lets its pods tolerate.
_ALWAYS = (
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/pid-pressure",
    "node.kubernetes.io/unschedulable",
    "node.kubernetes.io/network-unavailable",
)
_SHOWN = 10
# Maximum length of a message; syncers write no longer one. A cut message might end with half a credential.
_LONGEST = 500
# Characters between the parts of a sentence that no name contains.
_CLAUSES = re.compile(r"; |[\[\]%']")


@dataclass(frozen=True)
class Rollout:
    """The progress of the nodes with one version of the secret.

    :param pending: nodes that have not reported this version.
    :param failed: node to the message of its syncer.
    """

    nodes: int
    in_sync: int
    pending: Sequence[str] = ()
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        """Whether every node has it."""
        return self.in_sync == self.nodes

    @property
    def settled(self) -> bool:
        """Whether waiting longer will change nothing."""
        return not self.pending

    def as_dict(self) -> dict[str, Any]:
        """Return a dictionary for a module's result, with the first few nodes."""
        return {
            "nodes": self.nodes,
            "in_sync": self.in_sync,
            "pending": len(self.pending),
            "pending_nodes": list(self.pending[:_SHOWN]),
            "failed": len(self.failed),
            "failed_nodes": dict(list(self.failed.items())[:_SHOWN]),
        }

    def sentence(self, what: str = "the secret") -> str:
        """Return a sentence that names the nodes that do not have ``what`` yet, and why."""
        parts = []
        if self.pending:
            parts.append(f"not finished: {_names(self.pending)}")
        parts += [f"{node}: {why}" for node, why in list(self.failed.items())[:_SHOWN]]
        if len(self.failed) > _SHOWN:
            parts.append(f"and {len(self.failed) - _SHOWN} more that failed")
        return f"{self.in_sync} of {self.nodes} nodes have {what}" + "".join(f"; {part}" for part in parts)


def slot_count(max_restarting: str, nodes: int, present: int = 0) -> int:
    """Return how many kubelets may restart at the same time, at least 1, and never more than the share.

    The DaemonSet's pods know their slots by name, so another number means a new pod on every node. A share is
    therefore rounded down to a power of two. The current number stays while it is at least a quarter of the
    share, so that nodes that come and go near a boundary change it only once.

    :param max_restarting: a number, or a share such as ``10%``; checked before.
    :param present: how many slots the pods know now, or 0.
    """
    if not max_restarting.endswith("%"):
        return max(1, int(max_restarting))
    # Without a limit, a tenant who can create Nodes could cause any number of Leases.
    most = min(max(1, nodes * int(max_restarting[:-1]) // 100), MOST_SLOTS)
    return present if most <= 4 * present <= 4 * most else int(2 ** (most.bit_length() - 1))


def expected_nodes(
    nodes: Iterable[Mapping[str, Any]],
    selector: Mapping[str, str],
    tolerations: Sequence[Mapping[str, Any]],
) -> list[str]:
    """Return the names of the nodes on which the DaemonSet has a pod."""
    return sorted(node["metadata"]["name"] for node in nodes if _runs_on(node, selector, tolerations))


def tolerates_all(tolerations: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether no taint keeps the DaemonSet's pods away."""
    return any(
        toleration.get("operator") == "Exists" and not toleration.get("key") and not toleration.get("effect")
        for toleration in tolerations
    )


def _runs_on(
    node: Mapping[str, Any], selector: Mapping[str, str], tolerations: Sequence[Mapping[str, Any]]
) -> bool:
    labels = node["metadata"].get("labels") or {}
    if any(labels.get(name) != value for name, value in selector.items()):
        return False
    taints = (node.get("spec") or {}).get("taints") or []
    return all(
        taint.get("effect") not in ("NoSchedule", "NoExecute")
        or taint.get("key") in _ALWAYS
        or any(_tolerates(toleration, taint) for toleration in tolerations)
        for taint in taints
    )


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("key")) and (toleration.get("value") or "") == (taint.get("value") or "")


def rollout_of(nodes: Sequence[str], data: Mapping[str, str] | None, version: str) -> Rollout:
    """Return the progress of the nodes with ``version`` of the secret.

    :param data: of the status ConfigMap: node to JSON of ``resourceVersion``, ``state`` and ``message``.
    """
    in_sync, pending, failed = 0, [], {}
    for node in nodes:
        entry = _entry((data or {}).get(node))
        state = entry.get("state")
        if entry.get("resourceVersion") != version or state not in _STATES or state == "pending":
            pending.append(node)
        elif state == "in-sync":
            in_sync += 1
        else:
            said = entry.get("message")
            failed[node] = (
                f"{state}: {_checked_message(said)}" if isinstance(said, str) and said else str(state)
            )
    return Rollout(len(nodes), in_sync, pending, failed)


def _checked_message(message: str) -> str:
    """Return a syncer's message if it consists of names, because writers of the ConfigMap could write
    anything.
    """
    if len(message) > _LONGEST:
        return "(not shown)"
    clauses = [clause for clause in _CLAUSES.split(message) if clause.strip()]
    return message if clauses and all(is_name(clause) for clause in clauses) else "(not shown)"


def _entry(text: str | None) -> Mapping[str, Any]:
    try:
        entry = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _names(nodes: Sequence[str]) -> str:
    more = f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else ""
    return ", ".join(nodes[:_SHOWN]) + more
