# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the guest clusters' module: one namespace with the label, and one without."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.examples.world import World, config, started
from tests.stand_ins.client import ask
from tests.stand_ins.kubeconfig import Cluster, kubeconfig_of
from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.support import blocks
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

    world.put_secret("kube-system", "cloud-credentials", config(quay_io="cloud"))
    world.write("guest-objects.yml", _objects().replace("key: token", "key: .dockerconfigjson"))
    done = world.example("Deliver further objects, such as a Secret whose values the host has")
    assert [row["state"] for row in done.result["targets"]] == ["waiting"]
    world.run({"hyperfleet.pull_secret.guest_cluster_pull_secret": {"state": "absent"}})

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


def _blocks() -> list[blocks.Block]:
    return blocks.blocks(blocks.PAGES / "guest_clusters.rst")


def _objects() -> str:
    return next(block.text for block in _blocks() if block.marker == "guest-objects.yml")


class Page:
    """Runs the page's commands; what stands for kubectl writes into the stand-in."""

    def __init__(self, world: World) -> None:
        self.world, self.host = world, world.clusters["mgmt-1"]
        self.runs: list[tuple[str, int, str]] = []

    def ansible_playbook(self, playbook: str, *flags: str) -> None:
        finished = self.world.ansible.playbook(playbook, flags=flags)
        self.runs.append((" ".join(flags), finished.code, finished.output))

    def kubectl(self, *words: str) -> None:
        if words[:2] == ("label", "namespace"):
            key, _equals, value = words[3].partition("=")
            body = {"metadata": {"labels": {key: value}}}
            path = f"/api/v1/namespaces/{words[2]}"
            assert ask(self.host.url, "PATCH", path, body, token=self.host.admin_token)[0] == 200
        else:
            assert words == ("delete", "managedresource", "capi-pull-secret")
            for resource in ("secrets", "clusterresourcesets"):
                self.host.store.remove(RESOURCES[resource], NAMESPACE, NAME)

    def ansible_rulebook(self, *words: str) -> None:
        """It runs for ever: ``tests/guests/real`` runs it."""
        expected = "--rulebook hyperfleet.pull_secret.guest_cluster -i inventory --vars guests.yml"
        assert shlex.join(words) == expected

    def kubensync(self) -> None:
        """What KubeNSync rendered in its time."""
        metadata = {"name": NAME, "namespace": NAMESPACE}
        for resource in ("secrets", "clusterresourcesets"):
            self.host.store.create(RESOURCES[resource], {"metadata": dict(metadata)})


def test_page_guest_clusters(tmp_path: Path) -> None:
    with started(tmp_path) as world:
        _run_page(world)


def _run_page(world: World) -> None:
    page = Page(world)
    commands: dict[str, Callable[..., None]] = {
        "ansible-playbook": page.ansible_playbook,
        "ansible-rulebook": page.ansible_rulebook,
        "kubectl": page.kubectl,
    }
    world.clusters["mgmt-1"].store.create_namespace(NAMESPACE)
    metadata = {"name": "cluster-1", "namespace": NAMESPACE}
    page.host.store.create(RESOURCES["clusters"], {"metadata": metadata, "spec": {}})
    world.put_secret("kube-system", "source-pull-secret", config(registry_example_com="guests"))
    token = {
        "metadata": {"name": "cloud-credentials", "namespace": "kube-system"},
        "data": {"token": encoded("t")},
    }
    page.host.store.create(RESOURCES["secrets"], token)
    for block in _blocks():
        if block.kind == "file":
            world.write(block.marker, block.text)
        for line in block.text.splitlines() if block.language == "shell" else ():
            name, *words = shlex.split(line)
            if words[-1] == "--check":
                page.kubensync()
            commands[name](*words)
    assert [(flags, code) for flags, code, _output in page.runs] == [
        ("-e @guests.yml --check --diff", 0),
        ("-e @guests.yml", 0),
        ("-e @guests.yml --diff", 0),
        ("-e guest_cluster_state=absent", 0),
        # KubeNSync's objects are refused.
        ("-e @guests.yml --check", 2),
        ("-e @guests.yml -e guest_cluster_adopt=true", 0),
    ]
    outputs = {flags: output for flags, _code, output in page.runs}
    table = next(block.text for block in _blocks() if block.text.startswith("GUEST "))
    assert table in outputs["-e @guests.yml"]
    assert "updated secret" in outputs["-e @guests.yml --diff"]
    assert f"{NAMESPACE}/cluster-1 failed: " in outputs["-e @guests.yml --check"]
