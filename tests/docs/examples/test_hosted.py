# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the hosted clusters' plugins: control planes, what the tenants add, nodes that report."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.docs.examples.world import World, auths, config
from tests.stand_ins.kubeconfig import Cluster, kubeconfig_of, write_kubeconfig
from tests.stand_ins.kubernetes.hypershift import hosted_control_plane
from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.stand_ins.kubernetes.store import Event
from tests.support.docker_configs import encoded

ONE, TWO = "cls-123", "cls-456"
CONTEXTS = {ONE: "mgmt-1", TWO: "mgmt-2"}
IMAGE = "registry.example.com/hyperfleet/syncer:1.0.0"
NODES = ("node-1", "node-2")
NAMESPACE, GLOBAL = "kube-system", "global-pull-secret"
SYNCER, STATUS = "global-pull-secret-syncer", "global-pull-secret-status"
ORIGINAL = {"quay_io": "original", "cloud_openshift_com": "original"}
ADDITIONAL = {"quay_io": "additional", "registry_example_com": "additional"}
# What is deployed when the additional one wins in quay.io, which both have.
MERGED = auths(**{**ORIGINAL, **ADDITIONAL})

pytestmark = pytest.mark.nightly


def make_hosted_cluster(world: World, identity: str) -> None:
    """What HyperShift makes in the management cluster, and a tenant's secret in front of two nodes."""
    context, namespace = CONTEXTS[identity], f"clusters-{identity}"
    management, hosted = world.clusters[context].store, world.clusters[identity]
    world.namespace(namespace, context)
    world.put_secret(namespace, "pull-secret", config(**ORIGINAL), context)
    kubeconfig = kubeconfig_of(Cluster("hosted", hosted.url, hosted.admin_token))
    data = {"kubeconfig": encoded(json.dumps(kubeconfig))}
    metadata = {"namespace": namespace, "name": "admin-kubeconfig"}
    management.create(RESOURCES["secrets"], {"metadata": metadata, "type": "Opaque", "data": data})
    plane = hosted_control_plane(identity)
    plane["metadata"]["namespace"] = namespace
    management.create(RESOURCES["hostedcontrolplanes"], plane)
    world.put_secret(NAMESPACE, "additional-pull-secret", config(**ADDITIONAL), identity)
    for node in NODES:
        hosted.store.create(RESOURCES["nodes"], {"metadata": {"name": node}})


def list_hosted_clusters(world: World, **more: Any) -> None:
    """Make hosted clusters in two management clusters, and the variable that lists them."""
    world.variables["clusters"] = []
    for identity, context in CONTEXTS.items():
        make_hosted_cluster(world, identity)
        namespace = f"clusters-{identity}"
        listed = {"cluster_id": identity, "control_plane_namespace": namespace, "management_context": context}
        world.variables["clusters"].append({**listed, **more})


def assert_deployed(world: World, identity: str, expected: dict[str, Any]) -> None:
    """The hosted cluster has that global secret, and a syncer that brings it to the nodes."""
    assert world.placed(NAMESPACE, GLOBAL, identity) == expected
    syncer = world.clusters[identity].store.find("daemonsets", NAMESPACE, SYNCER)
    assert syncer is not None
    containers = syncer["spec"]["template"]["spec"]["containers"]
    assert [container["image"] for container in containers] == [IMAGE]


def test_modules_hosted_cluster_pull_secret(world: World) -> None:
    make_hosted_cluster(world, ONE)
    done = world.example("Keep the global pull secret of a hosted cluster")
    (target,) = done.result["targets"]
    assert (target["changed"], target["additional"]) == (True, "merged")
    assert target["rollout"].items() >= {"nodes": 2, "in_sync": 0, "pending": 2}.items()
    assert target["conflicts"]
    assert_deployed(world, ONE, MERGED)
    # The one who may read that Secret is the syncer.
    for kind in ("serviceaccounts", "roles", "rolebindings"):
        assert world.clusters[ONE].store.find(kind, NAMESPACE, SYNCER) is not None
    assert world.secret(NAMESPACE, GLOBAL) is None

    make_hosted_cluster(world, TWO)
    done = world.example("Two hosted clusters in one task, the original winning in one of them")
    assert [target["changed"] for target in done.result["targets"]] == [False, True]
    assert done.result["targets"][1]["registries"]["quay.io"] == "original"
    assert_deployed(world, ONE, MERGED)
    assert_deployed(world, TWO, auths(**{**ADDITIONAL, **ORIGINAL}))

    # What the control plane said is somewhere else, the original is a new one, and the nodes follow.
    world.clusters["mgmt-1"].store.remove(RESOURCES["namespaces"], "", f"clusters-{ONE}")
    world.namespace("pull-secrets")
    world.put_secret("pull-secrets", f"{ONE}-pull-secret", config(cloud_openshift_com="rotated"))
    hosted = world.clusters[ONE]
    cluster = Cluster("hosted", hosted.url, hosted.admin_token)
    write_kubeconfig(world.path(f"/etc/kubeconfigs/{ONE}"), [cluster])

    def follow(event: Event) -> None:
        """The syncers on the nodes report the global secret that they have written."""
        if (event.plural, event.new.obj["metadata"]["name"]) == ("secrets", GLOBAL):
            status = hosted.store.find("configmaps", NAMESPACE, STATUS)
            assert status is not None
            report = {"resourceVersion": str(event.version), "state": "in-sync", "message": ""}
            data = {node: json.dumps(report) for node in NODES}
            hosted.store.replace(RESOURCES["configmaps"], {**status, "data": data})

    hosted.store.watchers.append(follow)
    done = world.example("Name the secrets where there is no HostedControlPlane, and wait for the nodes")
    (target,) = done.result["targets"]
    assert target["changed"]
    assert target["rollout"].items() >= {"nodes": 2, "in_sync": 2, "pending": 0, "failed": 0}.items()
    assert_deployed(world, ONE, auths(cloud_openshift_com="rotated", **ADDITIONAL))


def test_filter_hosted_targets(world: World) -> None:
    """Two that are there, and one with an unknown key."""
    list_hosted_clusters(world)
    world.variables["clusters"].append({"cluster_id": "cls-789", "namespace": "clusters-cls-789"})
    world.variables["image"] = IMAGE
    done = world.example("Merge the global pull secrets of all hosted clusters")
    assert done.result["summary"] == {"total": 2, "changed": 2, "failed": 0}
    assert [target["id"] for target in done.result["targets"]] == [ONE, TWO]
    for identity in (ONE, TWO):
        assert_deployed(world, identity, MERGED)


def test_modules_hosted_cluster_report(world: World) -> None:
    """The module has run, and cls-456 has no control plane."""
    list_hosted_clusters(world, syncer_image=IMAGE)
    world.clusters["mgmt-2"].store.remove(RESOURCES["hostedcontrolplanes"], f"clusters-{TWO}", TWO)
    targets = {"targets": "{{ clusters | hyperfleet.pull_secret.hosted_targets }}"}
    keep = {"name": "Keep", "hyperfleet.pull_secret.hosted_cluster_pull_secret": targets}
    assert world.run({**keep, "register": "done", "failed_when": "'targets' not in done"}).code == 0

    done = world.example("Report the result of every hosted cluster")
    assert done.result["summary"] == {"total": 2, "changed": 1, "failed": 1}
    one, two = done.result["clusters"]
    assert (one["cluster"], one["additional"], one["nodes"]) == (ONE, "merged", "0 of 2")
    assert (two["cluster"], two["failed"], two["kind"]) == (TWO, True, "not_found")
    assert f"{TWO} failed: " in done.stdout
    assert "2 clusters: 1 changed, 1 failed" in done.stdout
    assert_deployed(world, ONE, MERGED)
    assert world.secret(NAMESPACE, GLOBAL, TWO) is None

    done = world.example("End with one result for all clusters", code=2)
    assert done.tasks[-1].status == "failed"
    assert f"1 of 2 clusters failed: {TWO}: " in done.result["msg"]
