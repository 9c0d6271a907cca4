# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The wanted objects of the syncer in the hosted cluster. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...places.kubernetes_secret.compare import ExactMapping, Quantity
from ...places.kubernetes_secret.owned_objects import DesiredObject
from .cluster import HostedCluster, SyncerSpec
from .names import GLOBAL, STATUS, SYNCER, ownership_labels, slot_name, slot_names

__all__ = ["account_objects", "daemon_set", "slots_of"]

_SLOTS = "SYNCER_LEASES"
_RBAC = "rbac.authorization.k8s.io"
# The syncer uses 19-20 MiB. There is no limit, because a syncer that is killed between write and restart does
# harm.
_REQUESTS = {"requests": {"cpu": "5m", "memory": "24Mi"}}


def account_objects(cluster: HostedCluster, slots: int) -> list[DesiredObject]:
    """Return the syncer's account, its rights, the ConfigMap for reports, and ``slots`` Leases, in the order
    of creation.
    """
    namespace = cluster.namespace
    leases = [slot_name(number) for number in range(slots)]
    rules = [
        _rule("", "secrets", [GLOBAL], ["get", "list", "watch"]),
        _rule("", "configmaps", [STATUS], ["get", "patch"]),
        _rule("coordination.k8s.io", "leases", leases, ["get", "update"]),
    ]
    binding = {
        "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": SYNCER},
        "subjects": [{"kind": "ServiceAccount", "name": SYNCER, "namespace": namespace}],
    }
    return [
        _wanted(cluster, "serviceaccounts", SYNCER),
        _wanted(cluster, "roles", SYNCER, {"rules": rules}),
        _wanted(cluster, "rolebindings", SYNCER, binding, fixed=["roleRef"]),
        # Both are useless here, and either would keep syncers from reporting.
        _wanted(cluster, "configmaps", STATUS, {"immutable": None, "binaryData": None}),
        *(_wanted(cluster, "leases", name, initial={"spec": {}}) for name in leases),
    ]


def daemon_set(cluster: HostedCluster, syncer: SyncerSpec, slots: int) -> DesiredObject:
    """Return the DaemonSet: one pod per node, with uid 0 and no capability, which is enough for D-Bus and the
    kubelet's directory.
    """
    # The DaemonSet's selector matches it, so other labels do not matter.
    pod_labels = {"name": SYNCER}
    pod = {
        "serviceAccountName": SYNCER,
        "automountServiceAccountToken": True,
        "enableServiceLinks": False,
        # On SIGTERM, a rollback that has begun is finished.
        "terminationGracePeriodSeconds": 120,
        # The kubelet's healthz listens on the node's loopback.
        "hostNetwork": True if syncer.host_network else None,
        "priorityClassName": syncer.priority_class,
        "nodeSelector": ExactMapping(syncer.node_selector) or None,
        "tolerations": [dict(toleration) for toleration in syncer.tolerations] or None,
        "imagePullSecrets": [{"name": name} for name in syncer.image_pull_secrets] or None,
        "securityContext": {
            "runAsUser": 0,
            "seccompProfile": {"type": "RuntimeDefault"},
            "seLinuxOptions": {"type": syncer.selinux_type} if syncer.selinux_type else None,
        },
        "containers": [_container(cluster, syncer, slots)],
        "volumes": [
            {"name": "kubelet", "hostPath": {"path": syncer.kubelet_dir, "type": "Directory"}},
            {"name": "dbus", "hostPath": {"path": "/run/dbus", "type": "Directory"}},
        ],
    }
    spec = {
        "selector": {"matchLabels": ExactMapping(pod_labels)},
        # A new syncer restarts no kubelet, so many may be replaced at once.
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%"}},
        "template": {"metadata": {"labels": pod_labels}, "spec": pod},
    }
    return _wanted(cluster, "daemonsets", SYNCER, {"spec": spec}, fixed=["spec.selector"])


def _container(cluster: HostedCluster, syncer: SyncerSpec, slots: int) -> dict[str, Any]:
    environment = {
        "SYNCER_NAMESPACE": cluster.namespace,
        "SYNCER_SECRET": GLOBAL,
        "SYNCER_STATUS": STATUS,
        _SLOTS: slot_names(slots),
        "SYNCER_RESTART": syncer.restart,
        "SYNCER_KUBELET_DIR": syncer.kubelet_dir,
        "SYNCER_UNIT": syncer.unit,
        "SYNCER_HEALTHZ": syncer.healthz,
        "SYNCER_HEALTH_WINDOW": f"{syncer.health_window:g}",
    }
    resources = {
        kind: ExactMapping({name: Quantity(amount) for name, amount in amounts.items()})
        for kind, amounts in (syncer.resources or _REQUESTS).items()
    }
    return {
        "name": "syncer",
        "image": syncer.image,
        "env": [
            {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            *({"name": name, "value": value} for name, value in environment.items()),
        ],
        "resources": ExactMapping(resources),
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "kubelet", "mountPath": syncer.kubelet_dir},
            {"name": "dbus", "mountPath": "/run/dbus", "readOnly": True},
        ],
    }


def slots_of(there: Mapping[str, Any]) -> int:
    """Return how many slots a DaemonSet's pods know, or 0 if ``daemon_set`` did not write it."""
    pod = ((there.get("spec") or {}).get("template") or {}).get("spec") or {}
    for variable in (pod.get("containers") or [{}])[0].get("env") or ():
        if variable.get("name") == _SLOTS:
            names = str(variable.get("value") or "")
            count = names.count(",") + 1
            return count if names == slot_names(count) else 0
    return 0


def _rule(group: str, resource: str, names: list[str], verbs: list[str]) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": [resource], "resourceNames": names, "verbs": verbs}


def _wanted(
    cluster: HostedCluster,
    kind: str,
    name: str,
    fields: Mapping[str, Any] | None = None,
    *,
    fixed: Sequence[str] = (),
    initial: Mapping[str, Any] | None = None,
) -> DesiredObject:
    metadata = {"name": name, "namespace": cluster.namespace, "labels": ownership_labels(cluster.id)}
    return DesiredObject(kind, name, {"metadata": metadata, **(fields or {})}, fixed, initial)
