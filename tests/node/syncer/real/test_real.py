# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The syncer with a real API server and exactly the rights of the DaemonSet's service account."""

from __future__ import annotations

import base64
import json
import os
import ssl
import threading
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes_secret.compare import (
    without_empty_values,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes_secret.owned_objects import (
    KINDS,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.api import (
    MERGE_PATCH,
    METADATA_ONLY,
    PodApi,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.intervals import (
    Intervals,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.log import JsonLog
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.node import Node
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.program import (
    SyncerProgram,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.settings import (
    settings_from_environment,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster.cluster import (
    HostedCluster,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster.desired import (
    account_objects,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster.names import (
    SYNCER,
    slot_name,
)
from tests.lab.session import REAL, KubernetesEnv, kubernetes
from tests.node.fake_systemd import FakeSystemd, QuickClock
from tests.node.syncer.world import document, eventually
from tests.stand_ins.client import ask

pytestmark = pytest.mark.real("go")

SLOT = slot_name(0)


class Server:
    """A namespace of the real API server with the objects that the controller creates, made as admin."""

    def __init__(self, env: KubernetesEnv) -> None:
        url = urlsplit(env.url)
        assert url.hostname is not None
        self.host, self.port = url.hostname, int(url.port or 443)
        self.ca = Path(env.ca_file or "").read_bytes()
        self._token = env.token
        self.namespace = f"syncer-{uuid.uuid4().hex[:8]}"
        core = f"/api/v1/namespaces/{self.namespace}"
        self.core = core
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})
        # Made as the module makes them, including the rights.
        for wanted in account_objects(HostedCluster("cls-1", namespace=self.namespace), 1):
            version, kind = KINDS[wanted.kind]
            group = f"/apis/{version}" if "/" in version else f"/api/{version}"
            body = {
                "apiVersion": version,
                "kind": kind,
                **(without_empty_values(wanted.body) or {}),
                **(wanted.initial or {}),
            }
            self.call("POST", f"{group}/namespaces/{self.namespace}/{wanted.kind}", body)

    def call(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        trust = ssl.create_default_context(cadata=self.ca.decode())
        status, found = ask(
            f"https://{self.host}:{self.port}", method, path, body, token=self._token, ca=trust
        )
        assert status < 300, found
        return dict(found)

    def token(self) -> str:
        answer = self.call("POST", f"{self.core}/serviceaccounts/{SYNCER}/token", {"spec": {}})
        return str(answer["status"]["token"])

    def put(self, content: bytes) -> str:
        data = {"data": {".dockerconfigjson": base64.b64encode(content).decode()}}
        made = {**named("global-pull-secret"), "type": "kubernetes.io/dockerconfigjson", **data}
        try:
            found = self.call("PATCH", f"{self.core}/secrets/global-pull-secret", data)
        except AssertionError:
            found = self.call("POST", f"{self.core}/secrets", made)
        return str(found["metadata"]["resourceVersion"])

    def status(self) -> dict[str, Any]:
        found = self.call("GET", f"{self.core}/configmaps/global-pull-secret-status")
        return json.loads(found.get("data", {}).get("node-1", "{}"))  # type: ignore[no-any-return]

    def wait(self, state: str, version: str) -> None:
        def said() -> bool:
            found = self.status()
            return (found.get("state"), found.get("resourceVersion")) == (state, version)

        eventually(said, f"{state} at {version}, but {self.status()}")

    def lease(self) -> dict[str, Any]:
        path = f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases/{SLOT}"
        found: dict[str, Any] = self.call("GET", path)["spec"]
        return found


def named(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}}


@pytest.fixture
def server() -> Iterator[Server]:
    with ExitStack() as stack:
        made = Server(stack.enter_context(kubernetes(REAL)))
        stack.callback(made.call, "DELETE", f"/api/v1/namespaces/{made.namespace}")
        yield made


def test_a_report_is_answered_without_the_other_nodes_reports(server: Server, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(server.token())
    (tmp_path / "ca.crt").write_bytes(server.ca)
    api = PodApi(server.host, server.port, tls=True, directory=str(tmp_path))
    path, body = f"{server.core}/configmaps/global-pull-secret-status", {"data": {"node-1": "x"}}
    answers = [api.call("PATCH", path, body, MERGE_PATCH, accept=METADATA_ONLY) for _time in range(2)]
    assert [answer["kind"] for answer in answers] == ["PartialObjectMetadata"] * 2
    assert all("data" not in answer for answer in answers)
    versions = {answer["metadata"]["resourceVersion"] for answer in answers}
    assert len(versions) == 1, "the same status must not be written twice"


def test_with_its_own_rights_only(server: Server, tmp_path: Path) -> None:
    account, directory = tmp_path / "account", tmp_path / "kubelet"
    account.mkdir()
    directory.mkdir()
    (account / "token").write_text(server.token())
    (account / "ca.crt").write_bytes(server.ca)
    settings = settings_from_environment(
        {
            "NODE_NAME": "node-1",
            "KUBERNETES_SERVICE_HOST": server.host,
            "KUBERNETES_SERVICE_PORT": str(server.port),
            "SYNCER_NAMESPACE": server.namespace,
            "SYNCER_LEASES": SLOT,
            "SYNCER_KUBELET_DIR": str(directory),
            "SYNCER_ACCOUNT_DIR": str(account),
            "SYNCER_HEALTHZ": "",
            "SYNCER_HEALTH_WINDOW": "1",
        }
    )
    kubelet = FakeSystemd()
    handle = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT, 0o600)
    node = Node(settings, lambda: kubelet, QuickClock())
    syncer = SyncerProgram(settings, JsonLog(handle), node, Intervals(settings))
    thread = threading.Thread(target=syncer.run)
    thread.start()
    try:
        server.wait("pending", "")
        for number in range(3):
            version = server.put(document(f"example-{number}"))
            server.wait("in-sync", version)
            held = json.loads((directory / "config.json").read_bytes())["auths"]["quay.io"]["auth"]
            assert held == json.loads(document(f"example-{number}"))["auths"]["quay.io"]["auth"]
        assert kubelet.restarts == 3
        spec = eventually(
            lambda: spec if not (spec := server.lease()).get("holderIdentity") else None, "given back"
        )
        assert spec["leaseTransitions"] == 3
        version = server.put(b'{"auths":{"quay.io":{"auth":"bm8gY29sb24="}}}')
        server.wait("failed", version)
        server.call("DELETE", f"{server.core}/secrets/global-pull-secret")
        version = server.put(document("example-anew"))
        server.wait("in-sync", version)
        assert "Forbidden" not in (tmp_path / "log").read_text()
    finally:
        syncer.loop.stop()
        thread.join(60)
    assert not thread.is_alive()
