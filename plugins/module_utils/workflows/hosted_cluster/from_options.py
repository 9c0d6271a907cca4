# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Builds a ``HostedCluster`` from a target's options, and checks rules that the API servers would check too
late.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...dockerconfig.display import display
from ...model.errors import ConfigurationError
from ...model.naming import KUBERNETES_NAME, KUBERNETES_NAMESPACE, check_cluster_id, registries
from ...model.syncer_limits import MOST_SLOTS, is_healthz, is_unit
from .cluster import HostedCluster, SecretKeyReference, SyncerSpec
from .names import KUBE_SYSTEM
from .pod_rules import checked_directory, checked_node_selector, checked_resources, checked_tolerations

__all__ = ["build_cluster"]

_SHARE = re.compile(r"(100|[1-9]?[0-9])%\Z|[1-9][0-9]{0,3}\Z")
_IMAGE = re.compile(r"[A-Za-z0-9][\w.:/@-]{0,510}\Z", re.ASCII)
# The key that a reference without a key means.
_KEYS = {"original": ".dockerconfigjson", "hosted_kubeconfig_secret": "kubeconfig"}
_LAYERS = ("original", "additional")


def build_cluster(wanted: Mapping[str, Any]) -> HostedCluster:
    """Return the hosted cluster that a target's options describe.

    :raises ConfigurationError: names the invalid option.
    """
    if not wanted.get("cluster_id"):
        raise ConfigurationError("cluster_id is missing")
    cluster_id = check_cluster_id(wanted["cluster_id"])
    present = wanted["state"] == "present"
    control_plane = _name(wanted, "control_plane_namespace", KUBERNETES_NAMESPACE)
    original = _reference(wanted, "original", control_plane)
    kubeconfig = _reference(wanted, "hosted_kubeconfig_secret", control_plane)
    direct = wanted.get("hosted_context") or wanted.get("hosted_kubeconfig")
    if direct and kubeconfig:
        raise ConfigurationError(
            "hosted_kubeconfig_secret cannot be combined with hosted_context or hosted_kubeconfig"
        )
    if control_plane is None and not ((original or not present) and (direct or kubeconfig)):
        raise ConfigurationError(
            "control_plane_namespace is missing; set it to the namespace of the HostedControlPlane, from which "
            "the task finds the original pull secret and the hosted cluster's kubeconfig"
        )
    policy = registries(wanted.get("policy"))
    for position, (registry, layer) in enumerate(policy.items()):
        if layer not in _LAYERS:
            raise ConfigurationError(
                f"policy of {display(registry, position)} must be original or additional"
            )
    timeout = _seconds(wanted, "rollout_timeout", 60.0)
    return HostedCluster(
        id=cluster_id,
        control_plane_namespace=control_plane,
        plane=_name(wanted, "hosted_control_plane", KUBERNETES_NAME),
        original=original,
        management_context=wanted.get("management_context"),
        management_kubeconfig=wanted.get("management_kubeconfig"),
        hosted_context=wanted.get("hosted_context"),
        hosted_kubeconfig=wanted.get("hosted_kubeconfig"),
        kubeconfig_secret=kubeconfig,
        namespace=_name(wanted, "hosted_namespace", KUBERNETES_NAMESPACE) or KUBE_SYSTEM,
        present=present,
        precedence=wanted["precedence"],
        policy=policy,
        drop=tuple(wanted.get("drop") or ()),
        remove=not present or (wanted.get("when_additional_is_gone") or "remove") == "remove",
        adopt=bool(wanted.get("adopt")),
        syncer=_syncer(wanted) if present or wanted.get("syncer_image") else None,
        wait=bool(wanted.get("wait")),
        rollout_timeout=timeout,
    )


def _syncer(wanted: Mapping[str, Any]) -> SyncerSpec:
    image = wanted.get("syncer_image")
    if not image:
        raise ConfigurationError(
            "syncer_image is missing: the image of the pods that bring the secret to the nodes"
        )
    if not _IMAGE.match(image):
        raise ConfigurationError("syncer_image must be an image's name")
    share = str(wanted.get("max_restarting") or "10%")
    if not _SHARE.match(share):
        raise ConfigurationError("max_restarting must be a number of nodes above 0, or a share such as 10%")
    if not share.endswith("%") and int(share) > MOST_SLOTS:
        raise ConfigurationError(f"max_restarting must be at most {MOST_SLOTS} nodes")
    unit = wanted.get("kubelet_unit") or "kubelet.service"
    if not is_unit(unit):
        raise ConfigurationError("kubelet_unit must be the name of a service, such as kubelet.service")
    healthz = "http://127.0.0.1:10248/healthz" if wanted.get("healthz") is None else wanted["healthz"]
    if healthz == "none":
        # An empty variable counts as not set.
        healthz = ""
    if healthz and not is_healthz(healthz):
        raise ConfigurationError(
            "healthz must be an address on the node's own loopback, http://127.0.0.1:PORT/PATH"
        )
    network = wanted.get("syncer_host_network")
    # A removal does not depend on how it was deployed.
    if healthz and network is False and wanted.get("state") != "absent":
        raise ConfigurationError(
            "syncer_host_network: false also requires healthz: none, because such pods cannot reach the node's "
            "loopback"
        )
    priority = _name(wanted, "syncer_priority_class", KUBERNETES_NAME)
    return SyncerSpec(
        image=image,
        image_pull_secrets=_names("syncer_image_pull_secrets", wanted.get("syncer_image_pull_secrets")),
        node_selector=checked_node_selector(wanted.get("syncer_node_selector")),
        tolerations=checked_tolerations(wanted.get("syncer_tolerations")),
        priority_class=priority,
        host_network=True if network is None else bool(network),
        selinux_type=_name(wanted, "syncer_selinux_type", re.compile(r"[a-z][a-z0-9_.]{0,63}\Z")),
        resources=checked_resources(wanted.get("syncer_resources")),
        max_restarting=share,
        restart=wanted.get("restart") or "on_change",
        health_window=_seconds(wanted, "health_window", 12.0),
        healthz=healthz,
        unit=unit,
        kubelet_dir=checked_directory(wanted.get("kubelet_dir") or "/var/lib/kubelet"),
    )


def _reference(wanted: Mapping[str, Any], option: str, namespace: str | None) -> SecretKeyReference | None:
    given = wanted.get(option)
    if not given:
        return None
    within = given.get("namespace") or namespace
    if not within:
        raise ConfigurationError(f"{option}.namespace is missing")
    for name, text, shape in (
        ("namespace", within, KUBERNETES_NAMESPACE),
        ("name", given.get("name") or "", KUBERNETES_NAME),
    ):
        if not shape.match(text):
            raise ConfigurationError(f"{option}.{name} is not a valid name")
    wanted_key = given.get("key") or _KEYS[option]
    if not re.match(r"[-._a-zA-Z0-9]{1,253}\Z", wanted_key):
        raise ConfigurationError(f"{option}.key is not a valid key of a Secret")
    return SecretKeyReference(within, given["name"], wanted_key)


def _name(wanted: Mapping[str, Any], option: str, shape: re.Pattern[str]) -> str | None:
    text = wanted.get(option)
    if text and not shape.match(text):
        raise ConfigurationError(f"{option} is not a valid name")
    return text or None


def _names(option: str, given: Sequence[str] | None) -> tuple[str, ...]:
    for index, text in enumerate(given or ()):
        if not KUBERNETES_NAME.match(text):
            raise ConfigurationError(f"{option}[{index}] is not a valid name")
    return tuple(given or ())


def _seconds(wanted: Mapping[str, Any], option: str, default: float) -> float:
    value = wanted.get(option)
    return default if value is None else float(value)
