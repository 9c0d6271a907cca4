# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A hosted cluster, as its options describe it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["HostedCluster", "SecretKeyReference", "SyncerSpec"]


@dataclass(frozen=True)
class SecretKeyReference:
    """A key of a Secret."""

    namespace: str
    name: str
    key: str


@dataclass(frozen=True)
class SyncerSpec:
    """How to run the pods that copy the secret to the nodes.

    :param max_restarting: how many kubelets may restart at once: a number, or ``10%`` of the nodes.
    :param health_window: seconds that a kubelet must stay healthy after its restart.
    """

    image: str
    image_pull_secrets: Sequence[str] = ()
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: Sequence[Mapping[str, Any]] = ({"operator": "Exists"},)
    priority_class: str | None = None
    host_network: bool = True
    selinux_type: str | None = None
    resources: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    max_restarting: str = "10%"
    restart: str = "on_change"
    health_window: float = 12.0
    healthz: str = ""
    unit: str = "kubelet.service"
    kubelet_dir: str = "/var/lib/kubelet"


@dataclass(frozen=True)
class HostedCluster:
    """Where the two secrets are, how they are merged, and how the result is copied to the nodes.

    :param plane: name of the HostedControlPlane; None is the only one in the namespace.
    :param original: the original pull secret in the management cluster; None is the HostedControlPlane's.
    :param kubeconfig_secret: None is the one in the HostedControlPlane's status.
    :param syncer: None if nothing is deployed (state ``absent``).
    :param namespace: in the hosted cluster.
    :param remove: what to do without an additional secret: remove all our objects, or keep the original.
    :param rollout_timeout: seconds to wait for the nodes.
    """

    id: str
    control_plane_namespace: str | None = None
    plane: str | None = None
    original: SecretKeyReference | None = None
    management_context: str | None = None
    management_kubeconfig: str | None = None
    hosted_context: str | None = None
    hosted_kubeconfig: str | None = None
    kubeconfig_secret: SecretKeyReference | None = None
    namespace: str = "kube-system"
    present: bool = True
    precedence: str = "additional"
    policy: Mapping[str, str] = field(default_factory=dict)
    drop: Sequence[str] = ()
    remove: bool = True
    adopt: bool = False
    syncer: SyncerSpec | None = None
    wait: bool = False
    rollout_timeout: float = 60.0

    @property
    def reached_directly(self) -> bool:
        """Whether the hosted cluster's API is known without reading the management cluster."""
        return bool(self.hosted_context or self.hosted_kubeconfig)
