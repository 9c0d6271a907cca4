# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Custom resources on a real API server: what the CRDs accept, and runs as the Ansible Operator starts them."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching import custom_resources
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.custom_resources import CHANGED
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.custom_resources import KINDS
from tests.lab.nodes.api import Api, ApiError
from tests.lab.operator import CRDS, Controller, installed, kubectl, proxy, wait_until_served
from tests.lab.session import REAL, kubernetes
from tests.lab.supervisor import wait_until
from tests.stand_ins.kubernetes.hypershift import BASE, hosted_control_plane, serve_hosted_control_planes
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support import blocks
from tests.support.docker_configs import KEY, TYPE, auth, docker_config, encoded, held
from tests.support.nightly import some
from tests.support.secret_manager import PROJECT
from tests.tools.env import COLLECTIONS, ROOT

pytestmark = pytest.mark.real("go")

CLUSTER_API = {
    "cluster.x-k8s.io": ("Cluster",),
    "addons.cluster.x-k8s.io": ("ClusterResourceSet", "ClusterResourceSetBinding"),
}


class World:
    """A real API server with the controller's objects, behind the operator's proxy, and a Secret Manager.

    :param admin: a kubeconfig; ``account`` that of the controller's account.
    """

    def __init__(
        self, api: Api, controller: Controller, manager: SecretManagerLab, admin: Path, account: Path
    ) -> None:
        self.api, self.controller, self.manager = api, controller, manager
        self.admin, self.account, self.directory = admin, account, admin.parent / "runner"
        self.prefix = f"op{secrets.token_hex(3)}"
        self.namespaces: list[str] = []
        self.defined: list[str] = []
        self.log: list[str] = []
        self.home = self.namespace("home")
        self.put_source(self.home, "source", "one")

    def namespace(self, name: str) -> str:
        whole = f"{self.prefix}-{name}"
        self.api.create("/api/v1/namespaces", {"metadata": {"name": whole}})
        self.namespaces.append(whole)
        return whole

    def close(self) -> None:
        for namespace in self.namespaces:
            self.api.delete(f"/api/v1/namespaces/{namespace}")
        for name in self.defined:
            self.api.delete(f"{CRDS}/{name}")

    def request(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """As other worlds have it, for what is shared with them."""
        try:
            return (201, self.api.create(path, body)) if method == "POST" else (200, self.api.get(path))
        except ApiError as error:
            return error.code, None

    def define(self, group: str, kind: str) -> None:
        """Serve a kind of Cluster API, without its controllers and its schema."""
        plural = f"{kind.lower()}s"
        schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        version = {"name": "v1beta2", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        definition = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": plural},
                "versions": [version],
            },
        }
        self.api.apply(f"{CRDS}/{plural}.{group}", definition)
        self.defined.append(f"{plural}.{group}")
        wait_until_served(self.api, f"{plural}.{group}")

    def put_source(self, namespace: str, name: str, word: str) -> None:
        document = json.dumps(docker_config(registry_example_com=word))
        body = {"apiVersion": "v1", "kind": "Secret", "type": TYPE, "data": {KEY: encoded(document)}}
        path = f"/api/v1/namespaces/{namespace}/secrets/{name}"
        self.api.apply(path, {**body, "metadata": {"name": name, "namespace": namespace}})

    def source(self) -> dict[str, Any]:
        return self.api.get(f"/api/v1/namespaces/{self.home}/secrets/source")

    def cluster(self, name: str, **more: Any) -> dict[str, Any]:
        """The spec of a PullSecret, with a namespace for the management Secret."""
        cluster_id = f"{self.prefix}-{name}"
        return {
            "clusterId": cluster_id,
            "gcpProjectId": PROJECT,
            "managementNamespace": self.namespace(f"clusters-{name}"),
            "source": {"kubernetes": {"namespace": self.home, "name": "source"}},
            **more,
        }

    def create(self, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
        body = {
            "apiVersion": "pullsecret.hyperfleet.io/v1alpha1",
            "kind": kind,
            "metadata": {"name": name},
            "spec": spec,
        }
        return self.api.create(self.controller.path(kind, self.home), body)

    def get(self, kind: str, name: str) -> dict[str, Any] | None:
        return self.api.find(self.controller.path(kind, self.home, name))

    def annotations(self, kind: str, name: str) -> dict[str, str]:
        return ((self.get(kind, name) or {}).get("metadata") or {}).get("annotations") or {}

    @contextmanager
    def sidecar(self) -> Iterator[None]:
        """Run the second container of the controller's pod, until it has listed its custom resources."""
        process = subprocess.Popen(
            [sys.executable, "-m", custom_resources.__name__],
            env={**os.environ, "PYTHONPATH": str(COLLECTIONS), "KUBECONFIG": str(self.account)},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        try:
            for line in process.stderr:
                self.log.append(line)
                if "watching 1 secrets" in line:
                    break
            yield
        finally:
            process.terminate()
            self.log.append(process.communicate()[1])

    def condition(self, kind: str, name: str, condition: str = "Ready") -> tuple[str, str, str]:
        item = self.get(kind, name)
        assert item is not None
        (matching,) = [each for each in item["status"]["conditions"] if each["type"] == condition]
        return matching["status"], matching["reason"], matching["message"]

    def secret(self, spec: dict[str, Any]) -> dict[str, Any] | None:
        name = f"{spec['clusterId']}-pull-secret"
        return self.api.find(f"/api/v1/namespaces/{spec['managementNamespace']}/secrets/{name}")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Installed as the page says. The operator and its runs have the rights of the controller's account."""
    with ExitStack() as stack:
        server: Any = stack.enter_context(kubernetes(REAL))
        manager = stack.enter_context(SecretManagerLab())
        api, directory = Api(server), tmp_path_factory.mktemp("operator")
        admin = server.kubeconfig(directory / "admin")
        token = stack.enter_context(installed(api, admin))
        served = stack.enter_context(proxy(api, token, server.ca_file))
        controller = Controller(
            Api(server, token), served, directory, SECRET_MANAGER_EMULATOR_HOST=manager.grpc
        )
        made = World(api, controller, manager, admin, server.kubeconfig(directory / "account", token=token))
        stack.callback(made.close)
        yield made


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sourc": {}}, "unknown field"),
        ({"clusterId": None}, "spec.clusterId: Required value"),
        ({"labels": {"": "a"}}, "a key must not be empty"),
        ({"source": {"inline": "{}"}}, "unknown field"),
        ({"source": {"field": "a"}}, "exactly one of"),
        (
            {
                "source": {
                    "kubernetes": {"namespace": "a", "name": "b"},
                    "gcp": {"project": "a", "secret": "b"},
                }
            },
            "exactly",
        ),
        ({"layers": []}, "source excludes layers"),
        ({"replicationPolicy": "none"}, "Unsupported value"),
        ({"deletionPolicy": "Orphan"}, "Unsupported value"),
    ],
)
def test_a_wrong_spec_is_refused(world: World, change: dict[str, Any], message: str) -> None:
    spec = {**world.cluster(secrets.token_hex(3)), **change}
    body: dict[str, Any] = {"apiVersion": "pullsecret.hyperfleet.io/v1alpha1", "kind": "PullSecret"}
    body.update(
        metadata={"name": "wrong"}, spec={key: value for key, value in spec.items() if value is not None}
    )
    with pytest.raises(ApiError) as refusal:
        world.api.create(f"{world.controller.path('PullSecret', world.home)}?fieldValidation=Strict", body)
    assert message in str(refusal.value)


def test_the_life_of_a_pull_secret(world: World) -> None:
    spec = world.cluster("life", deletionPolicy="Delete")
    created = world.create("PullSecret", "life", spec)
    assert created["spec"]["deletionTimeout"] == 900
    first = world.controller.reconcile("PullSecret", world.home, "life")
    assert first.is_successful, first.output
    assert world.condition("PullSecret", "life") == ("True", "UpToDate", "up to date")
    assert world.condition("PullSecret", "life", "Degraded")[0] == "False"
    secret = world.secret(spec)
    assert secret is not None
    assert held(secret) == docker_config(registry_example_com="one")
    assert "ownerReferences" not in secret["metadata"]
    item = world.get("PullSecret", "life")
    assert item is not None
    (target,) = item["status"]["targets"]
    assert target == {"id": spec["clusterId"], "state": "current", "version": "1"}
    # A rotation.
    with world.sidecar():
        wait_until(lambda: CHANGED in world.annotations("PullSecret", "life"), "the first annotation")
        before = world.annotations("PullSecret", "life")[CHANGED]
        world.put_source(world.home, "source", "two")
        wait_until(
            lambda: world.annotations("PullSecret", "life")[CHANGED] != before, "the annotation", seconds=5
        )
    # A template is text.
    update = {"spec": {"clusterName": "{{ lookup('pipe', 'id') }}"}}
    world.api.merge(world.controller.path("PullSecret", world.home, "life"), update)
    second = world.controller.reconcile("PullSecret", world.home, "life")
    assert second.is_successful, second.output
    assert held(world.secret(spec) or {}) == docker_config(registry_example_com="two")
    assert "uid=" not in second.output
    assert "uid=" not in json.dumps([world.secret(spec), world.get("PullSecret", "life")])
    status = (world.get("PullSecret", "life") or {})["status"]
    assert status["observedGeneration"] == 2
    # The operator's own conditions are beside these.
    types = {each["type"]: each["status"] for each in status["conditions"]}
    assert types == {
        "Ready": "True",
        "Degraded": "False",
        "Running": "True",
        "Successful": "True",
        "Failure": "False",
    }
    world.api.delete(world.controller.path("PullSecret", world.home, "life"))
    gone = world.controller.reconcile("PullSecret", world.home, "life")
    assert gone.is_successful, gone.output
    assert world.get("PullSecret", "life") is None
    assert world.secret(spec) is None


def test_a_run_that_is_killed_is_completed_by_the_next(world: World) -> None:
    """Also if two are beside each other, as after the operator was killed."""
    spec = world.cluster("killed", deletionPolicy="Delete")
    world.create("PullSecret", "killed", spec)
    begun = len(world.manager.calls.matching())
    killed = world.controller.reconcile(
        "PullSecret", world.home, "killed", lambda: len(world.manager.calls.matching()) > begun + 1
    )
    assert not killed.has_stats
    assert world.secret(spec) is None
    with ThreadPoolExecutor(2) as pool:
        runs = list(
            pool.map(lambda _: world.controller.reconcile("PullSecret", world.home, "killed"), range(2))
        )
    assert all(run.is_successful for run in runs), [run.output for run in runs]
    assert world.condition("PullSecret", "killed")[0] == "True"
    assert held(world.secret(spec) or {}) == held(world.source())


def test_a_deletion_during_a_run(world: World) -> None:
    spec = world.cluster("overtaken", deletionPolicy="Delete")
    path = world.controller.path("PullSecret", world.home, "overtaken")
    world.create("PullSecret", "overtaken", spec)
    begun = len(world.manager.calls.matching())

    def metadata() -> dict[str, Any]:
        return dict((world.get("PullSecret", "overtaken") or {})["metadata"])

    def delete() -> bool:
        if len(world.manager.calls.matching()) > begun and "deletionTimestamp" not in metadata():
            world.api.delete(path)
        return False

    # This run knows nothing of it, and keeps its finalizer.
    assert world.controller.reconcile("PullSecret", world.home, "overtaken", delete).is_successful
    assert "deletionTimestamp" in metadata()
    assert world.secret(spec) is not None
    assert world.controller.reconcile("PullSecret", world.home, "overtaken").is_successful
    assert world.get("PullSecret", "overtaken") is None
    assert world.secret(spec) is None


def test_a_deletion_that_fails_keeps_the_object_for_its_time(world: World) -> None:
    spec = world.cluster("stuck", deletionPolicy="Delete")
    path = world.controller.path("PullSecret", world.home, "stuck")
    world.create("PullSecret", "stuck", spec)
    assert world.controller.reconcile("PullSecret", world.home, "stuck").is_successful
    world.manager.faults.add("DeleteSecret", code="PERMISSION_DENIED", times=None)
    world.api.delete(path)
    stays = world.controller.reconcile("PullSecret", world.home, "stuck")
    assert stays.has_stats, stays.output
    assert stays.failures, stays.output
    (message,) = stays.failures
    assert "stays, until this is deleted" in message
    assert "PERMISSION_DENIED" in message
    assert world.get("PullSecret", "stuck") is not None
    world.api.merge(path, {"spec": {"deletionTimeout": 0}})
    assert world.controller.reconcile("PullSecret", world.home, "stuck").is_successful
    assert world.get("PullSecret", "stuck") is None
    events = world.api.items(f"/api/v1/namespaces/{world.home}/events", fieldSelector="reason=LeftBehind")
    assert any("PERMISSION_DENIED" in event["message"] for event in events)
    world.manager.faults.clear()


@pytest.mark.parametrize("policy", some(["Delete", "Retain"]))
def test_an_object_with_an_invalid_spec_goes(world: World, policy: str) -> None:
    name = f"invalid-{policy.lower()}"
    spec = {**world.cluster(name), "gcpProjectId": "No Project!", "deletionPolicy": policy}
    world.create("PullSecret", name, spec)
    assert world.controller.reconcile("PullSecret", world.home, name).is_successful
    assert world.condition("PullSecret", name, "Degraded")[:2] == ("True", "Configuration")
    world.api.delete(world.controller.path("PullSecret", world.home, name))
    assert world.controller.reconcile("PullSecret", world.home, name).is_successful
    assert world.get("PullSecret", name) is None
    events = world.api.items(f"/api/v1/namespaces/{world.home}/events", fieldSelector="reason=LeftBehind")
    messages = [event["message"] for event in events if event["involvedObject"]["name"] == name]
    expected = "gcpProjectId: no such name can exist; what was there before is left"
    assert messages == ([expected] if policy == "Delete" else [])


def test_a_global_pull_secret_until_its_cluster_is_gone(world: World) -> None:
    serve_hosted_control_planes(world.request)
    plane = world.namespace("plane")
    name = f"{world.prefix}-hosted"
    world.api.create(f"{BASE}/namespaces/{plane}/hostedcontrolplanes", hosted_control_plane(name))
    for secret, key, text in (
        ("admin-kubeconfig", "kubeconfig", world.admin.read_text()),
        ("pull-secret", KEY, json.dumps(docker_config(quay_io="original"))),
    ):
        body = {"metadata": {"name": secret}, "data": {key: encoded(text)}}
        world.api.create(f"/api/v1/namespaces/{plane}/secrets", body)
    hosted = world.namespace("hosted")
    spec = {
        "clusterId": name,
        "controlPlaneNamespace": plane,
        "hostedNamespace": hosted,
        "syncerImage": "registry.example.com/syncer:1",
        "syncerNodeSelector": {"world": name},
        "deletionPolicy": "Delete",
    }
    world.create("GlobalPullSecret", "hosted", spec)
    first = world.controller.reconcile("GlobalPullSecret", world.home, "hosted")
    assert first.is_successful, first.output
    assert world.condition("GlobalPullSecret", "hosted")[0] == "True", world.condition(
        "GlobalPullSecret", "hosted"
    )
    world.api.delete(f"{BASE}/namespaces/{plane}/hostedcontrolplanes/{name}")
    world.api.delete(world.controller.path("GlobalPullSecret", world.home, "hosted"))
    gone = world.controller.reconcile("GlobalPullSecret", world.home, "hosted")
    assert gone.is_successful, gone.output
    assert world.get("GlobalPullSecret", "hosted") is None


def test_a_guest_pull_secret(world: World) -> None:
    for group, kinds in CLUSTER_API.items():
        for kind in kinds:
            world.define(group, kind)
    space = world.namespace("guests")
    world.api.merge(f"/api/v1/namespaces/{space}", {"metadata": {"labels": {"guests": world.prefix}}})
    cluster = {
        "apiVersion": "cluster.x-k8s.io/v1beta2",
        "kind": "Cluster",
        "metadata": {"name": "guest-1"},
        "spec": {},
    }
    world.api.create(f"/apis/cluster.x-k8s.io/v1beta2/namespaces/{space}/clusters", cluster)
    spec = {
        "source": {"kubernetes": {"namespace": world.home, "name": "source"}},
        "namespaceSelector": f"guests={world.prefix}",
        "labelClusters": True,
        "setName": world.prefix,
        "deletionPolicy": "Delete",
    }
    missing = {"source": {"kubernetes": {"namespace": world.home, "name": "missing"}}}
    world.create("GuestPullSecret", "guests", {**spec, **missing})
    # What stops the whole run is in the status, too.
    assert world.controller.reconcile("GuestPullSecret", world.home, "guests").is_successful
    status, reason, message = world.condition("GuestPullSecret", "guests", "Degraded")
    assert (status, reason) == ("True", "RunFailed")
    assert "missing" in message
    world.api.merge(world.controller.path("GuestPullSecret", world.home, "guests"), {"spec": spec})
    run = world.controller.reconcile("GuestPullSecret", world.home, "guests")
    assert run.is_successful, run.output
    # Nobody applies it here.
    assert world.condition("GuestPullSecret", "guests")[:2] == ("False", "Waiting")
    path = f"/api/v1/namespaces/{space}/secrets/{world.prefix}"
    assert world.api.find(path) is not None
    world.api.delete(world.controller.path("GuestPullSecret", world.home, "guests"))
    gone = world.controller.reconcile("GuestPullSecret", world.home, "guests")
    assert gone.is_successful, gone.output
    assert world.api.find(path) is None


@pytest.mark.nightly
def test_of_two_objects_for_a_cluster_the_older_one_has_it(world: World) -> None:
    spec = world.cluster("twice", deletionPolicy="Delete")
    world.create("PullSecret", "older", spec)
    assert world.controller.reconcile("PullSecret", world.home, "older").is_successful
    time.sleep(1.1)
    cluster = {key: value for key, value in spec.items() if key != "deletionPolicy"}
    good = world.cluster("good")
    fleet = {"clusters": [cluster, good], "deletionPolicy": "Delete"}
    world.create("PullSecretFleet", "younger", fleet)
    # One wrong cluster costs a row, not the fleet.
    run = world.controller.reconcile("PullSecretFleet", world.home, "younger")
    assert run.is_successful, run.output
    status, reason, message = world.condition("PullSecretFleet", "younger", "Degraded")
    assert (status, reason) == ("True", "Conflict")
    assert f"PullSecret {world.home}/older already keeps the cluster" in message
    item = world.get("PullSecretFleet", "younger") or {}
    assert item["status"]["summary"] == {"total": 2, "changed": 1, "failed": 1}
    assert item["status"]["nextAttempt"] > item["metadata"]["creationTimestamp"]
    assert world.secret(good) is not None
    events = world.api.items(f"/api/v1/namespaces/{world.home}/events", fieldSelector="reason=Degraded")
    assert "younger" in [event["involvedObject"]["name"] for event in events]
    # Its deletion leaves what is the other one's.
    world.api.delete(world.controller.path("PullSecretFleet", world.home, "younger"))
    assert world.controller.reconcile("PullSecretFleet", world.home, "younger").is_successful
    assert world.get("PullSecretFleet", "younger") is None
    assert world.secret(good) is None
    assert world.secret(spec) is not None


@pytest.mark.nightly
def test_the_commands_of_the_page(world: World, tmp_path: Path) -> None:
    """But for those of the image, and the wait for a pod."""
    for namespace in ("hyperfleet-system", "clusters-cls-123"):
        world.api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    world.put_source("hyperfleet-system", "cls-123-pull-secret", "page")
    (tmp_path / "extensions").symlink_to(ROOT / "extensions")
    applied, page = [], blocks.blocks(blocks.PAGES / "controller.rst")
    for block in page:
        if block.kind == "file":
            (tmp_path / block.marker).write_text(block.text)
        for line in block.text.replace("\\\n", "").splitlines() if block.language == "shell" else ():
            command, *words = shlex.split(line)
            if command != "kubectl" or "rollout" in words:
                continue
            if "wait" in words:
                run = world.controller.reconcile("PullSecret", "hyperfleet-system", "cls-123")
                assert run.is_successful, run.output
            if "patch" in words:
                world.api.delete(world.controller.path("PullSecret", "hyperfleet-system", "cls-123"))
            applied.append(kubectl(world.admin, *words, cwd=tmp_path))
    assert "condition met" in applied[2]
    assert world.api.find(world.controller.path("PullSecret", "hyperfleet-system", "cls-123")) is None
    for file in (
        "pull-secret.yml",
        "pull-secret-fleet.yml",
        "global-pull-secret.yml",
        "guest-pull-secret.yml",
    ):
        assert "created" in kubectl(world.admin, "apply", "-f", file, cwd=tmp_path)
    kubectl(world.admin, "apply", "-k", str(ROOT / "extensions" / "operator" / "config" / "samples"))
    explained = kubectl(world.admin, "explain", "pullsecret.spec.source.kubernetes.namespace")
    assert "Namespace of the Secret." in explained


def test_everything_that_a_run_reads_is_in_the_blacklist(world: World) -> None:
    """After all others."""
    assert "secrets" in world.controller.proxy.read
    for watch in world.controller.watches.values():
        listed = {
            f"{each['kind'].lower()}s{'.' if each['group'] else ''}{each['group']}"
            for each in watch["blacklist"]
        }
        assert world.controller.proxy.read <= listed


def test_no_value_is_anywhere(world: World) -> None:
    """After all others: in what runs left, also those that were killed or failed, and in objects and Events."""
    shown = [path.read_bytes() for path in world.directory.rglob("*") if path.is_file()]
    assert any(b"operator_checked" in content or b"Check the object" in content for content in shown)
    for kind in KINDS.values():
        shown.append(json.dumps(world.api.items(world.controller.path(kind.name, world.home))).encode())
    shown.append(json.dumps(world.api.items(f"/api/v1/namespaces/{world.home}/events")).encode())
    shown.append("".join(world.log).encode())
    for word in ("one", "two", "page", "original"):
        for form in (auth(word), encoded(json.dumps(docker_config(registry_example_com=word)))):
            assert not [content for content in shown if form.encode() in content]
