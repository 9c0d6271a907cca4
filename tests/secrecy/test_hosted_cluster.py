# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosted clusters: a run shows no form of either secret, or of a kubeconfig from a Secret.

This includes the messages for the tenant in the hosted cluster.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from tests.secrecy.documents import INVALID
from tests.secrecy.watcher import Recording, Watcher
from tests.secrecy.world import as_lines, one_task
from tests.stand_ins.client import ask
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.kubernetes.hypershift import BASE, hosted_control_plane
from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.support.nightly import some
from tests.support.secrecy.canary import Canary
from tests.support.secrecy.needles import Evidence, Needles

_MODULE = "hosted_cluster_pull_secret"
_DIGITS = 48
_FEW = ["truncated", "bad base64", "user and password in the registry"]


class World:
    """A management cluster that is also the hosted clusters; each of them has two namespaces."""

    def __init__(self, lab: KubernetesLab, watcher: Watcher) -> None:
        self.lab, self.watcher = lab, watcher
        login = Canary.make("the kubeconfig's token")
        self.canaries = [dataclasses.replace(login, extra=(lab.admin_token,))]
        self.kubeconfig = lab.kubeconfig(watcher.inputs / "kubeconfig")
        self.targets: list[dict[str, Any]] = []

    def canary(self, name: str) -> Canary:
        self.canaries.append(Canary.make(name))
        return self.canaries[-1]

    def post(self, path: str, body: dict[str, Any]) -> None:
        assert ask(self.lab.url, "POST", path, body, token=self.lab.admin_token)[0] < 300

    def put(self, namespace: str, name: str, key: str, data: bytes) -> None:
        store = self.lab.store
        with store.lock:
            if store.find("secrets", namespace, name):
                store.remove(RESOURCES["secrets"], namespace, name)
        body = {"metadata": {"name": name}, "data": {key: base64.b64encode(data).decode()}}
        self.post(f"/api/v1/namespaces/{namespace}/secrets", body)

    def cluster(self, original: bytes, additional: bytes) -> dict[str, Any]:
        """Create a hosted cluster with these two secrets; return its target."""
        name = f"cls-{len(self.targets)}"
        for namespace in (f"clusters-{name}", f"hosted-{name}"):
            self.post("/api/v1/namespaces", {"metadata": {"name": namespace}})
        self.post(f"{BASE}/namespaces/clusters-{name}/hostedcontrolplanes", hosted_control_plane(name))
        login = self.kubeconfig.read_bytes()
        self.put(f"clusters-{name}", "admin-kubeconfig", "kubeconfig", login)
        self.put(f"clusters-{name}", "pull-secret", ".dockerconfigjson", original)
        self.put(f"hosted-{name}", "additional-pull-secret", ".dockerconfigjson", additional)
        self.targets.append(
            {
                "cluster_id": name,
                "control_plane_namespace": f"clusters-{name}",
                "hosted_namespace": f"hosted-{name}",
                "management_kubeconfig": str(self.kubeconfig),
                "syncer_image": "registry.example.com/syncer:1",
                "rollout_timeout": 0,
            }
        )
        return self.targets[-1]

    def told(self) -> Iterator[Evidence]:
        """Yield everything in the cluster that users without access to Secrets can read."""
        store = self.lab.store
        for plural, resource in RESOURCES.items():
            for entry in store.entries(resource, None):
                seen = {
                    name: part for name, part in entry.obj.items() if plural != "secrets" or name != "data"
                }
                yield Evidence("object", plural, json.dumps(seen, ensure_ascii=False).encode())
        for call in self.lab.calls.matching():
            yield Evidence("API server log", call.verb, f"{call.path}?{call.query}".encode())

    def leaks(self, recording: Recording) -> list[Any]:
        return Needles(self.canaries).leaks([*recording.evidence, *self.told()])


@pytest.fixture
def world(watcher: Watcher) -> Iterator[World]:
    with KubernetesLab(admin_token=secrets.token_hex(_DIGITS)) as lab:
        yield World(lab, watcher)


@pytest.mark.parametrize("module_process", some([False, True]), ids=["ansible's process", "a module's"])
@pytest.mark.parametrize("invalid", some([_FEW, list(INVALID)]), ids=["few", "all"])
def test_hosted_clusters_show_nothing_of_their_secrets(
    world: World, watcher: Watcher, invalid: list[str], module_process: bool
) -> None:
    """Runs that merge, rotate, meet invalid documents and corrected ones, or an invalid kubeconfig, and remove."""
    first = [world.canary(f"additional {number}") for number in range(2)]
    for canary in first:
        world.cluster(world.canary("original").text.encode(), canary.text.encode())
    original = world.canary("original beside an invalid one").text.encode()
    for what in invalid:
        world.cluster(original, INVALID[what](world.canary(f"additional: {what}"))[: 700 << 10])
    for what in _FEW:
        world.cluster(INVALID[what](world.canary(f"original: {what}")), first[0].text.encode())
    broken = world.canary("in the place of a kubeconfig")
    wrong = world.cluster(first[0].text.encode(), first[1].text.encode())
    world.put(wrong["control_plane_namespace"], "admin-kubeconfig", "kubeconfig", broken.text.encode())
    options = {"targets": "{{ wanted }}", "timeout": 10, "retry": {"tries": 1}}
    variables = {"wanted": world.targets, "one": world.targets[2]}
    tasks = [
        one_task("check", _MODULE, options, check_mode=True),
        one_task("create", _MODULE, options, register="registered"),
        one_task("again", _MODULE, options),
        one_task("one", _MODULE, {**options, "targets": ["{{ one }}"]}),
        one_task("remove", _MODULE, {**options, "state": "absent"}),
        {"name": "registered", "ansible.builtin.debug": {"var": "registered"}},
    ]
    recording = watcher.play(tasks, variables, options=["-vvvv", "--diff"], module_process=module_process)
    results = recording.results
    changed = {name: results[name].get("changed") for name in ("check", "create", "again", "remove")}
    assert changed == {"check": True, "create": True, "again": False, "remove": True}, results["create"]
    assert len(results["create"]["failed_targets"]) == 4
    problems = [target.get("additional") for target in results["create"]["targets"]]
    assert problems.count("invalid") > len(invalid) // 2
    assert any(evidence.name == "events" for evidence in world.told())
    leaks = world.leaks(recording)
    assert leaks == [], as_lines(leaks)
