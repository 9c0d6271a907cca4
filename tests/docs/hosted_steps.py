# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the hosted clusters' examples: control planes, what the tenants add, nodes that report."""

from __future__ import annotations

import json
from typing import Any

from tests.docs.world import World, auths, config
from tests.stand_ins.kubeconfig import Cluster, kubeconfig_of, write_kubeconfig
from tests.stand_ins.kubernetes.hypershift import hosted_control_plane
from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.stand_ins.kubernetes.store import Event
from tests.support.kubernetes.world import encoded
from tests.support.processes import Finished

ONE, TWO = "cls-123", "cls-456"
IMAGE = "registry.example.com/hyperfleet/syncer:1.0.0"
NODES = ("node-1", "node-2")
_NAMESPACE, _GLOBAL = "kube-system", "global-pull-secret"
_SYNCER, _STATUS = "global-pull-secret-syncer", "global-pull-secret-status"
_ORIGINAL = {"quay_io": "original", "cloud_openshift_com": "original"}
_ADDITIONAL = {"quay_io": "additional", "registry_example_com": "additional"}
# By who wins in quay.io, which both have.
_MERGED = {
    "additional": auths(**{**_ORIGINAL, **_ADDITIONAL}),
    "original": auths(**{**_ADDITIONAL, **_ORIGINAL}),
}
_KEEP = {
    "name": "Keep",
    "hyperfleet.pull_secret.hosted_cluster_pull_secret": {
        "targets": "{{ clusters | hyperfleet.pull_secret.hosted_targets }}"
    },
    "register": "done",
    "failed_when": "done.targets is not defined",
}


# hosted_cluster_pull_secret


def one_hosted_cluster(world: World) -> None:
    _hosted_cluster(world, ONE, "mgmt-1")


def kept(world: World, done: Finished) -> None:
    (target,) = done.result["targets"]
    assert (target["changed"], target["additional"]) == (True, "merged")
    assert target["rollout"].items() >= {"nodes": 2, "in_sync": 0, "pending": 2}.items()
    assert target["conflicts"]
    _assert_deployed(world, ONE, _MERGED["additional"])
    # The one who may read that Secret is the syncer.
    for kind in ("serviceaccounts", "roles", "rolebindings"):
        assert world.hosted[ONE].store.find(kind, _NAMESPACE, _SYNCER) is not None
    assert world.placed(_NAMESPACE, _GLOBAL) is None


def second_hosted_cluster(world: World) -> None:
    _hosted_cluster(world, TWO, "mgmt-2")


def both_kept(world: World, done: Finished) -> None:
    assert [target["changed"] for target in done.result["targets"]] == [False, True]
    assert done.result["targets"][1]["registries"]["quay.io"] == "original"
    _assert_deployed(world, ONE, _MERGED["additional"])
    _assert_deployed(world, TWO, _MERGED["original"])


def no_hosted_control_plane(world: World) -> None:
    """What the control plane said is somewhere else, the original is a new one, and the nodes follow."""
    world.management["mgmt-1"].store.remove(RESOURCES["namespaces"], "", f"clusters-{ONE}")
    world.namespace("pull-secrets")
    world.put_secret("pull-secrets", f"{ONE}-pull-secret", config(cloud_openshift_com="rotated"))
    hosted = world.hosted[ONE]
    cluster = Cluster("hosted", hosted.url, hosted.admin_token)
    write_kubeconfig(world.path(f"/etc/kubeconfigs/{ONE}"), [cluster])
    hosted.store.watchers.append(lambda event: _follow(world, event))


def rolled_out(world: World, done: Finished) -> None:
    (target,) = done.result["targets"]
    assert target["changed"]
    assert target["rollout"].items() >= {"nodes": 2, "in_sync": 2, "pending": 0, "failed": 0}.items()
    _assert_deployed(world, ONE, auths(cloud_openshift_com="rotated", **_ADDITIONAL))


# hosted_targets


def hosted_clusters(world: World) -> None:
    """Two that are there, and one with a key that nobody knows."""
    _two(world)
    world.variables["clusters"].append({"cluster_id": "cls-789", "namespace": "clusters-cls-789"})
    world.variables["image"] = IMAGE


def all_kept(world: World, done: Finished) -> None:
    assert done.result["summary"] == {"total": 2, "changed": 2, "failed": 0}
    assert [target["id"] for target in done.result["targets"]] == [ONE, TWO]
    for identity in (ONE, TWO):
        _assert_deployed(world, identity, _MERGED["additional"])


# hosted_cluster_report


def one_of_two_failed(world: World) -> None:
    """The module has run, and cls-456 has no control plane."""
    _two(world, syncer_image=IMAGE)
    world.management["mgmt-2"].store.remove(RESOURCES["hostedcontrolplanes"], f"clusters-{TWO}", TWO)
    done = world.run(_KEEP)
    assert done.code == 0, done.output


def reported(world: World, done: Finished) -> None:
    assert done.result["summary"] == {"total": 2, "changed": 1, "failed": 1}
    one, two = done.result["clusters"]
    assert (one["cluster"], one["additional"], one["nodes"]) == (ONE, "merged", "0 of 2")
    assert (two["cluster"], two["failed"], two["kind"]) == (TWO, True, "not_found")
    assert f"{TWO} failed: " in done.stdout
    assert "2 clusters: 1 changed, 1 failed" in done.stdout
    _assert_deployed(world, ONE, _MERGED["additional"])
    assert world.secret(_NAMESPACE, _GLOBAL, TWO) is None


def ended(world: World, done: Finished) -> None:
    assert done.tasks[-1].status == "failed"
    assert f"1 of 2 clusters failed: {TWO}: " in done.result["msg"]


def _two(world: World, **more: Any) -> None:
    """Hosted clusters in two management clusters, and the variable that lists them."""
    contexts = {ONE: "mgmt-1", TWO: "mgmt-2"}
    for identity, context in contexts.items():
        _hosted_cluster(world, identity, context)
    world.variables["clusters"] = [
        {
            "cluster_id": identity,
            "control_plane_namespace": f"clusters-{identity}",
            "management_context": context,
            **more,
        }
        for identity, context in contexts.items()
    ]


def _hosted_cluster(world: World, identity: str, context: str) -> None:
    """What HyperShift makes in the management cluster, and a tenant's secret in front of two nodes."""
    management, hosted, namespace = world.management[context], world.hosted[identity], f"clusters-{identity}"
    world.namespace(namespace, context)
    world.put_secret(namespace, "pull-secret", config(**_ORIGINAL), context)
    kubeconfig = kubeconfig_of(Cluster("hosted", hosted.url, hosted.admin_token))
    data = {"kubeconfig": encoded(json.dumps(kubeconfig))}
    management.store.create(
        RESOURCES["secrets"],
        {"metadata": {"namespace": namespace, "name": "admin-kubeconfig"}, "type": "Opaque", "data": data},
    )
    plane = hosted_control_plane(identity)
    plane["metadata"]["namespace"] = namespace
    management.store.create(RESOURCES["hostedcontrolplanes"], plane)
    world.put_secret(_NAMESPACE, "additional-pull-secret", config(**_ADDITIONAL), identity)
    for node in NODES:
        hosted.store.create(RESOURCES["nodes"], {"metadata": {"name": node}})


def _assert_deployed(world: World, identity: str, expected: dict[str, Any]) -> None:
    """The hosted cluster has that global secret, and a syncer that brings it to the nodes."""
    assert world.placed(_NAMESPACE, _GLOBAL, identity) == expected
    syncer = world.hosted[identity].store.find("daemonsets", _NAMESPACE, _SYNCER)
    assert syncer is not None
    containers = syncer["spec"]["template"]["spec"]["containers"]
    assert [container["image"] for container in containers] == [IMAGE]


def _follow(world: World, event: Event) -> None:
    """What the syncers on the nodes of cls-123 do: they report the global secret that they have written."""
    if (event.plural, event.new.obj["metadata"]["name"]) != ("secrets", _GLOBAL):
        return
    store = world.hosted[ONE].store
    status = store.find("configmaps", _NAMESPACE, _STATUS)
    assert status is not None
    report = {"resourceVersion": str(event.version), "state": "in-sync", "message": ""}
    data = {node: json.dumps(report) for node in NODES}
    store.replace(RESOURCES["configmaps"], {**status, "data": data})
