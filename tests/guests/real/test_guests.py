# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cluster API's own manager and two guests: first delivery, rotation, an outage, pruning, adoption, removal."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import guest_cluster_pull_secret
from tests.guests.integration.world import rows
from tests.lab.cluster_api import ClusterApiLab, cluster_api_lab
from tests.lab.nodes.api import Api, Object
from tests.lab.supervisor import wait_until
from tests.support.docker_configs import KEY, TYPE, docker_config, encoded, held
from tests.support.kubernetes.running import run_task

pytestmark = pytest.mark.real("root", "go")

NAME = "crs-pull-secret"
SOURCE = "/api/v1/namespaces/kube-system/secrets/source-pull-secret"
DELIVERED = "/api/v1/namespaces/kube-system/secrets/pull-secret"
ABOUT = "/api/v1/namespaces/kube-system/configmaps/about"
MANIFESTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: about, namespace: kube-system}
data: {cluster: "{{ cluster }}"}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: open, namespace: kube-system}
spec: {podSelector: {}, ingress: [{}]}
---
apiVersion: v1
kind: Secret
metadata: {name: copy, namespace: kube-system}
data:
  key:
    valueFrom: {secretKeyRef: {namespace: kube-system, name: source-pull-secret, key: .dockerconfigjson}}
"""
# Namespace to Cluster. The second has another name, which nothing may take for the Cluster's.
GUESTS = {"guest-1": "guest-1", "second": "guest-2"}


class Story:
    """The lab, and one delivery to its guests."""

    def __init__(self, lab: ClusterApiLab, manifests: Path) -> None:
        self.lab = lab
        self.manifests = manifests
        manifests.write_text(MANIFESTS)
        self.host = Api(lab.host)
        with ThreadPoolExecutor() as pool:
            states = list(pool.map(lambda names: lab.add_guest(*names), GUESTS.items()))
        self.guests = {name: Api(state) for name, state in zip(GUESTS.values(), states, strict=True)}
        for namespace in GUESTS:
            self.select(namespace, selected=True)

    def put_source(self, document: Object) -> None:
        data = {KEY: encoded(json.dumps(document))}
        self.host.apply(
            SOURCE,
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "source-pull-secret"},
                "type": TYPE,
                "data": data,
            },
        )

    def select(self, namespace: str, *, selected: bool) -> None:
        labels = {"capi-pull-secret": "true" if selected else None}
        self.host.merge(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": labels}})

    def run(self, **more: Any) -> dict[str, Any]:
        params = {
            "kubernetes": {"kubeconfig": self.lab.host.kubeconfig},
            "source": {"kubernetes": {"namespace": "kube-system", "name": "source-pull-secret"}},
            "namespace_selector": "capi-pull-secret=true",
            "label_clusters": True,
            "objects": [str(self.manifests)],
            **more,
        }
        return run_task(guest_cluster_pull_secret, params)

    def wait(self, cluster: str, document: Object) -> None:
        """Wait until the guest has the docker config."""

        def is_delivered() -> bool:
            secret = self.guests[cluster].find(DELIVERED)
            return secret is not None and bool(held(secret) == document)

        wait_until(is_delivered, f"the pull secret of {cluster}")

    def about(self, cluster: str) -> Any:
        """The data of the further ConfigMap in a guest."""
        return (self.guests[cluster].find(ABOUT) or {}).get("data")

    def wait_for_states(self, **states: str) -> None:
        """Wait until a run, which changes nothing, reports these states of the Clusters."""

        def are_reported() -> bool:
            result = self.run()
            assert result["changed"] is False, result
            found = rows(result)
            return all(found[f"{space}/{name}"] == states[space] for space, name in GUESTS.items())

        wait_until(are_reported, f"the states {states}")

    def wait_for_warning(self, cluster: str, text: str) -> None:
        def is_reported() -> bool:
            row = next(row for row in self.run()["targets"] if row["id"].endswith(f"/{cluster}"))
            return any(text in warning for warning in row["warnings"])

        wait_until(is_reported, f"a warning about {cluster}")

    def objects(self, namespace: str) -> list[bool]:
        """Whether the ClusterResourceSet and its Secret exist."""
        base = "/apis/addons.cluster.x-k8s.io/v1beta2"
        return [
            self.host.find(f"{base}/namespaces/{namespace}/clusterresourcesets/{NAME}") is not None,
            self.host.find(f"/api/v1/namespaces/{namespace}/secrets/{NAME}") is not None,
        ]


def test_from_the_first_delivery_to_the_removal(tmp_path: Path) -> None:
    one, two, three = (docker_config(registry_example_com=text) for text in ("one", "two", "three"))
    with cluster_api_lab() as lab:
        story = Story(lab, tmp_path / "objects.yml")
        story.put_source(one)
        first = story.run()
        assert set(rows(first).values()) == {"waiting"}, first
        for cluster in GUESTS.values():
            story.wait(cluster, one)
        story.wait_for_states(**{"guest-1": "delivered", "second": "delivered"})

        # A guest is down while the source is rotated, and comes back.
        lab.stop_guest("guest-2")
        story.put_source(two)
        assert story.run()["changed"] is True
        story.wait("guest-1", two)
        story.wait_for_states(**{"guest-1": "delivered", "second": "waiting"})
        story.wait_for_warning("guest-2", "Cluster API could not apply it (")
        lab.start_guest("guest-2")
        story.wait("guest-2", two)
        story.wait_for_states(**{"guest-1": "delivered", "second": "delivered"})

        # Without the manager v1beta1 cannot be read, v1beta2 can, and nothing is applied.
        lab.stop_manager()
        story.put_source(three)
        assert story.run()["changed"] is True
        waiting = story.run()
        assert waiting["changed"] is False
        assert set(rows(waiting).values()) == {"waiting"}, waiting
        lab.start_manager()
        for cluster in GUESTS.values():
            story.wait(cluster, three)
        story.wait_for_states(**{"guest-1": "delivered", "second": "delivered"})

        story.select("second", selected=False)
        assert rows(story.run())["second/guest-2"] == "pruned"
        wait_until(lambda: story.objects("second") == [False, False], "the objects to be deleted")
        # What the guest has stays.
        story.wait("guest-2", three)

        _adopted(story, two)
        assert story.about("guest-2") == {"cluster": "guest-2"}
        story.guests["guest-1"].merge(ABOUT, {"data": {"cluster": "other"}})
        story.wait_for_warning("guest-1", "ConfigMap kube-system/about is not as it was delivered")
        story.guests["guest-1"].delete(DELIVERED)
        story.wait_for_warning("guest-1", "secrets/pull-secret is not as it was delivered")

        story.run(state="absent")
        wait_until(lambda: not any(any(story.objects(space)) for space in GUESTS), "the removal")
        story.wait("guest-2", two)
        _directly(story, three)


def _directly(story: Story, document: Object) -> None:
    """What ClusterResourceSets left is taken over, kept right without Cluster API, and removed."""
    direct = {"delivery": "direct", "label_clusters": False, "timeout": 3}
    story.lab.stop_manager()
    first = story.run(**direct)
    assert rows(first) == {"guest-1/guest-1": "delivered", "second/guest-2": "delivered"}, first
    assert story.run(**direct)["changed"] is False

    story.guests["guest-1"].delete(DELIVERED)
    story.guests["guest-2"].merge(DELIVERED, {"data": {KEY: encoded("{}")}})
    assert set(rows(story.run(**direct)).values()) == {"repaired"}
    story.guests["guest-1"].merge(ABOUT, {"data": {"cluster": "other"}})
    assert rows(story.run(**direct)) == {"guest-1/guest-1": "repaired", "second/guest-2": "delivered"}
    assert story.about("guest-1") == {"cluster": "guest-1"}

    story.lab.stop_guest("guest-2")
    story.put_source(document)
    assert rows(story.run(**direct)) == {"guest-1/guest-1": "delivered", "second/guest-2": "failed"}
    story.lab.start_guest("guest-2")
    assert set(rows(story.run(**direct)).values()) == {"delivered"}
    for cluster in GUESTS.values():
        story.wait(cluster, document)

    story.select("second", selected=False)
    assert rows(story.run(**direct))["second/guest-2"] == "pruned"
    assert story.guests["guest-2"].find(DELIVERED) is story.about("guest-2") is None
    story.run(**direct, state="absent")
    assert story.guests["guest-1"].find(DELIVERED) is None
    records = "/api/v1/namespaces/{0}/configmaps/" + NAME
    assert [story.host.find(records.format(space)) for space in GUESTS] == [None, None]


def _adopted(story: Story, document: Object) -> None:
    """What the guide to KubeNSync renders is refused, and taken over with ``adopt``."""
    for path, body in _rendered("second", "guest-2", docker_config(registry_example_com="kubensync")):
        story.host.apply(path, body)
    story.wait("guest-2", docker_config(registry_example_com="kubensync"))
    story.select("second", selected=True)
    story.put_source(document)
    refused = story.run()
    assert rows(refused)["second/guest-2"] == "failed"
    assert "has no label managed-by=hyperfleet" in refused["msg"]
    adopted = story.run(adopt=True)
    assert not adopted.get("failed"), adopted
    for cluster in GUESTS.values():
        story.wait(cluster, document)


def _rendered(namespace: str, cluster: str, document: Object) -> list[tuple[str, Object]]:
    manifest = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "pull-secret", "namespace": "kube-system"},
        "type": TYPE,
        "data": {KEY: encoded(json.dumps(document))},
    }
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": NAME},
        "type": "addons.cluster.x-k8s.io/resource-set",
        "stringData": {"manifests.yaml": f"---\n{json.dumps(manifest)}\n"},
    }
    resource_set = {
        "apiVersion": "addons.cluster.x-k8s.io/v1beta1",
        "kind": "ClusterResourceSet",
        "metadata": {"name": NAME},
        "spec": {
            "clusterSelector": {"matchLabels": {"cluster.x-k8s.io/cluster-name": cluster}},
            "resources": [{"kind": "Secret", "name": NAME}],
            "strategy": "Reconcile",
        },
    }
    sets = f"/apis/addons.cluster.x-k8s.io/v1beta1/namespaces/{namespace}/clusterresourcesets/{NAME}"
    return [(f"/api/v1/namespaces/{namespace}/secrets/{NAME}", secret), (sets, resource_set)]
