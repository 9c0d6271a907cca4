# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work of ``hosted_cluster_pull_secret``: the global pull secret of one hosted cluster per target."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from ..model.limits import Limits
from ..model.naming import kubernetes_secret_address, shown_name
from ..model.shown import shown
from ..workflows.hosted_cluster.cluster import HostedCluster
from ..workflows.hosted_cluster.from_options import build_cluster
from ..workflows.hosted_cluster.names import GLOBAL, KUBE_SYSTEM
from ..workflows.hosted_cluster.sync import HostedClusters
from ..workflows.run import Run, Work
from ..workflows.targets import Wanted, build_targets

__all__ = ["build_target", "full_place", "run", "target_options", "targets_elsewhere", "targets_of"]


def target_options() -> dict[str, Any]:
    """The options of one target."""
    return dict(
        id={"type": "str"},
        state={"type": "str", "choices": ["present", "absent"]},
        cluster_id={"type": "str"},
        control_plane_namespace={"type": "str"},
        hosted_control_plane={"type": "str"},
        original=_reference(),
        management_context={"type": "str"},
        management_kubeconfig={"type": "path"},
        hosted_context={"type": "str"},
        hosted_kubeconfig={"type": "path"},
        hosted_kubeconfig_secret=_reference(),
        hosted_namespace={"type": "str"},
        precedence={"type": "str", "choices": ["additional", "original"]},
        policy={"type": "dict"},
        drop={"type": "list", "elements": "str"},
        when_additional_is_gone={"type": "str", "choices": ["remove", "revert"]},
        adopt={"type": "bool"},
        syncer_image={"type": "str"},
        syncer_image_pull_secrets={"type": "list", "elements": "str", "no_log": False},
        syncer_node_selector={"type": "dict"},
        syncer_tolerations={
            "type": "list",
            "elements": "dict",
            "options": {
                "key": {"type": "str", "no_log": False},
                "operator": {"type": "str", "choices": ["Exists", "Equal"]},
                "value": {"type": "str"},
                "effect": {"type": "str", "choices": ["NoSchedule", "PreferNoSchedule", "NoExecute"]},
                "toleration_seconds": {"type": "int"},
            },
        },
        syncer_priority_class={"type": "str"},
        syncer_host_network={"type": "bool"},
        syncer_selinux_type={"type": "str"},
        syncer_resources={"type": "dict"},
        max_restarting={"type": "str"},
        restart={"type": "str", "choices": ["on_change", "never"]},
        health_window={"type": "float"},
        healthz={"type": "str"},
        kubelet_unit={"type": "str"},
        kubelet_dir={"type": "path"},
        wait={"type": "bool"},
        rollout_timeout={"type": "float"},
    )


def _reference() -> dict[str, Any]:
    """Return a reference to a Secret, or None."""
    return {
        "type": "dict",
        "no_log": False,
        "options": {
            "namespace": {"type": "str"},
            "name": {"type": "str", "required": True},
            "key": {"type": "str", "no_log": False},
        },
    }


_LIMITS = Limits(target_options())


def build_target(wanted: Mapping[str, Any]) -> HostedCluster:
    """Return the target that the options describe.

    :raises ConfigurationError: names the invalid option.
    """
    _LIMITS.check(wanted)
    return build_cluster(wanted)


def targets_of(params: Mapping[str, Any]) -> list[Wanted[HostedCluster]]:
    """Return the task's targets.

    :raises ConfigurationError: two have the same id, or are the same hosted cluster.
    """
    return build_targets(params, list(target_options()), build_target, full_place)


# Called on another machine than the one that does the work: names are the same everywhere.
targets_elsewhere = targets_of


def run(
    params: Mapping[str, Any], *, check_mode: bool, diff: bool, stop: threading.Event | None = None
) -> dict[str, Any]:
    """Handle all targets, and return the module's result."""
    shared = Run(params, "hosted-cluster", check_mode=check_mode, diff=diff, stop=stop)
    clusters = HostedClusters(shared.settings, shared.kubernetes, dry_run=check_mode)

    def work(cluster: HostedCluster, current: Work) -> None:
        clusters.handle(cluster, current.outcome, current.deadline, current.seen)

    return shared.over(targets_of(params), _place, work)


def full_place(cluster: HostedCluster) -> str:
    """Return the name by which two targets are the same: they would undo each other's work."""
    if cluster.reached_directly:
        way = [cluster.hosted_kubeconfig, cluster.hosted_context]
    else:
        way = [cluster.management_kubeconfig, cluster.management_context, cluster.control_plane_namespace]
        secret = cluster.kubeconfig_secret
        way += [secret.namespace, secret.name, secret.key] if secret else [cluster.plane]
    return ":".join(part for part in [*way, cluster.namespace, GLOBAL] if part)


def _place(wanted: Wanted[HostedCluster]) -> str:
    options = wanted.options
    context = options.get("hosted_context")
    cluster = shown(context) if context else shown_name("cluster_id", options.get("cluster_id"))
    namespace = shown_name("namespace", options.get("hosted_namespace") or KUBE_SYSTEM)
    return f"{cluster}:{kubernetes_secret_address(namespace, GLOBAL)}"
