# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the guest clusters' module: one namespace with the label, and one without."""

from __future__ import annotations

import json

import pytest

from tests.docs.examples.world import World, config
from tests.stand_ins.kubeconfig import Cluster, kubeconfig_of
from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.support.docker_configs import encoded

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
    (row,) = done.result["targets"]
    assert (row["id"], row["state"]) == (f"{NAMESPACE}/cluster-1", "waiting")
    assert list(row["registries"]) == ["registry.example.com"]
    cluster = store.find("clusters", NAMESPACE, "cluster-1")
    assert cluster is not None
    assert cluster["metadata"]["labels"] == {"cluster.x-k8s.io/cluster-name": "cluster-1"}
    assert store.find("clusterresourcesets", NAMESPACE, NAME) is not None

    done = world.example("Remove the delivery from the host")
    assert [row["state"] for row in done.result["targets"]] == ["pruned"]
    assert store.find("clusterresourcesets", NAMESPACE, NAME) is None
    assert world.secret(NAMESPACE, NAME) is None

    guest = world.clusters["mgmt-2"]
    kubeconfig = json.dumps(kubeconfig_of(Cluster("guest", guest.url, guest.admin_token)))
    metadata = {"name": "cluster-1-kubeconfig", "namespace": NAMESPACE}
    store.create(RESOURCES["secrets"], {"metadata": metadata, "data": {"value": encoded(kubeconfig)}})
    guest.store.create(RESOURCES["namespaces"], {"metadata": {"name": "apps", "labels": {"team": "example"}}})
    done = world.example(
        "Keep it right in the guests themselves, also for the default service account of a team's namespaces"
    )
    assert [row["state"] for row in done.result["targets"]] == ["delivered"]
    for namespace in ("kube-system", "apps"):
        assert guest.store.find("secrets", namespace, "pull-secret") is not None
        found = guest.store.find("serviceaccounts", namespace, "default")
        assert found is not None
        assert found["imagePullSecrets"] == [{"name": "pull-secret"}]
