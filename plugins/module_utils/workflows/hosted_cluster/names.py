# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The names and labels of a hosted cluster's global pull secret, as the sync contract defines them."""

from __future__ import annotations

from ...model.naming import kubernetes_labels

__all__ = [
    "ADDITIONAL",
    "ADDITIONAL_REGISTRIES",
    "GLOBAL",
    "KUBE_SYSTEM",
    "PROBLEM",
    "STATUS",
    "SYNCER",
    "ownership_labels",
    "slot_name",
    "slot_names",
    "slot_number",
]

KUBE_SYSTEM = "kube-system"
# The tenant's secret, and the secret for the nodes.
ADDITIONAL = "additional-pull-secret"
GLOBAL = "global-pull-secret"
# Name of the ServiceAccount, Role, RoleBinding and DaemonSet. Each Lease has a number at the end.
SYNCER = "global-pull-secret-syncer"
# Each node's entry names the version of the secret on the node.
STATUS = "global-pull-secret-status"

# On the global secret: its additional registries. Names, never a value.
ADDITIONAL_REGISTRIES = "hyperfleet.io/additional-registries"
# On the tenant's secret: why it is not merged.
PROBLEM = "hyperfleet.io/pull-secret-problem"

_SLOT = f"{SYNCER}-restart-"


def ownership_labels(cluster_id: str) -> dict[str, str]:
    """Return the labels that mark an object as ours and this cluster's."""
    return kubernetes_labels(cluster_id, None)


def slot_name(number: int) -> str:
    """Return the name of the Lease that a node holds while its kubelet restarts."""
    return f"{_SLOT}{number}"


def slot_names(count: int) -> str:
    """Return the names of the Leases for the syncer's ``SYNCER_LEASES``."""
    return ",".join(map(slot_name, range(count)))


def slot_number(name: str) -> int | None:
    """Return the slot number of a Lease, or None if it is not a slot."""
    number = name[len(_SLOT) :]
    return (
        int(number)
        if name.startswith(_SLOT) and number.isdecimal() and slot_name(int(number)) == name
        else None
    )
