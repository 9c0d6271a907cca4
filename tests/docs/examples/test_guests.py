# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the guest clusters' module: one namespace with the label, and one without."""

from __future__ import annotations

import pytest

from tests.docs.examples.world import World, config
from tests.stand_ins.kubernetes.resources import RESOURCES

pytestmark = pytest.mark.nightly

NAMESPACE, NAME = "capi-cluster-1", "crs-pull-secret"


def test_modules_guest_cluster_pull_secret(world: World) -> None:
    store = world.clusters["mgmt-1"].store
    for namespace, labels in ((NAMESPACE, {"capi-pull-secret": "true"}), ("other", {})):
        store.create(RESOURCES["namespaces"], {"metadata": {"name": namespace, "labels": labels}})
        metadata = {"name": "cluster-1", "namespace": namespace}
        store.create(RESOURCES["clusters"], {"metadata": metadata, "spec": {}})
    world.put_secret("kube-system", "source-pull-secret", config(registry_example_com="guests"))
    done = world.example("Deliver the host's pull secret to all guests whose namespaces have the label")
    (guest,) = done.result["targets"]
    assert (guest["id"], guest["state"]) == (f"{NAMESPACE}/cluster-1", "waiting")
    assert list(guest["registries"]) == ["registry.example.com"]
    cluster = store.find("clusters", NAMESPACE, "cluster-1")
    assert cluster is not None
    assert cluster["metadata"]["labels"] == {"cluster.x-k8s.io/cluster-name": "cluster-1"}
    assert store.find("clusterresourcesets", NAMESPACE, NAME) is not None

    done = world.example("Remove the delivery from the host")
    assert [guest["state"] for guest in done.result["targets"]] == ["pruned"]
    assert store.find("clusterresourcesets", NAMESPACE, NAME) is None
    assert world.secret(NAMESPACE, NAME) is None
