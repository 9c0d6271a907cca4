# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A hosted cluster's API server (the stand-in), and syncers of nodes that are directories."""

from __future__ import annotations

import functools
import json
import os
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.backoff import Backoff
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.intervals import (
    Intervals,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.log import JsonLog
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.node import Node
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.program import (
    SyncerProgram,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.settings import (
    SyncerSettings,
)
from tests.lab.supervisor import wait_until
from tests.node.fake_systemd import FakeSystemd, QuickClock
from tests.node.unit.support import syncer_settings
from tests.stand_ins.client import ask
from tests.stand_ins.kubernetes.lab import KubernetesLab
from tests.support.docker_configs import KEY, TYPE, encoded

NAMESPACE = "kube-system"
SECRET = "global-pull-secret"
STATUS = "global-pull-secret-status"
SECRETS = f"/api/v1/namespaces/{NAMESPACE}/secrets"
CONFIG_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
# With short pauses: some states of a syncer last only milliseconds.
eventually = functools.partial(wait_until, pause=0.005)


def document(password: str = "example-password", *registries: str) -> bytes:
    auth = encoded(f"robot:{password}")
    return json.dumps({"auths": {name: {"auth": auth} for name in registries or ("quay.io",)}}).encode()


class Cluster:
    """The objects that the controller makes, in the stand-in."""

    def __init__(self, lab: KubernetesLab) -> None:
        self.lab = lab
        self.leases: tuple[str, ...] = ()
        self.add_slot()
        self._call("POST", CONFIG_MAPS, {"metadata": {"name": STATUS}})

    def add_slot(self) -> None:
        self.leases += (f"restart-{len(self.leases)}",)
        self._call("POST", LEASES, {"metadata": {"name": self.leases[-1]}, "spec": {}})

    def put(self, content: bytes | None) -> str:
        """Write the Secret; return its version."""
        data, kind = {}, "Opaque"
        if content is None:
            # The API server wants the key for the usual type.
            self.delete()
        else:
            data, kind = {KEY: encoded(content)}, TYPE
        found = self._call("PATCH", f"{SECRETS}/{SECRET}", {"data": data})
        if found is None:
            found = self._call("POST", SECRETS, {"metadata": {"name": SECRET}, "type": kind, "data": data})
        return str(found["metadata"]["resourceVersion"])

    def delete(self) -> None:
        self._call("DELETE", f"{SECRETS}/{SECRET}")

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        """The answer, or None for an object that does not exist.

        Over HTTP: a watch that just begins may miss what is written into the store from here.
        """
        status, found = ask(self.lab.url, method, path, body, token=self.lab.admin_token)
        assert status < 300 or status == 404, found
        return found if status < 300 else None

    def _find(self, plural: str, name: str) -> dict[str, Any]:
        """The object, without a call that a test would count."""
        with self.lab.store.lock:
            return self.lab.store.find(plural, NAMESPACE, name) or {}

    def statuses(self) -> dict[str, Any]:
        found = self._find("configmaps", STATUS).get("data", {})
        return {node: json.loads(value) for node, value in found.items()}

    def status(self, node: str = "node-1") -> dict[str, Any]:
        found: dict[str, Any] = self.statuses().get(node, {})
        return found

    def say(self, node: str, value: Mapping[str, str] | None) -> None:
        """Report this as another node's syncer does; None removes its report."""
        said = None if value is None else json.dumps(dict(value))
        self._call("PATCH", f"{CONFIG_MAPS}/{STATUS}", {"data": {node: said}})

    def hold(self, node: str, seconds: int) -> None:
        """Take the first slot for a node that never renews it."""
        spec = {"holderIdentity": node, "leaseDurationSeconds": seconds}
        self._call("PATCH", f"{LEASES}/{self.leases[0]}", {"spec": spec})

    def renewed(self) -> str:
        return self._lease(0, "renewTime")

    def holder(self, number: int = 0) -> str:
        return self._lease(number, "holderIdentity")

    def _lease(self, number: int, field: str) -> str:
        spec = self._find("leases", self.leases[number])["spec"]
        return str(spec.get(field) or "")

    def wait(self, state: str, version: str, node: str = "node-1") -> str:
        """Wait until the node reports this state of this version; return its message."""

        def is_reported() -> bool:
            found = self.status(node)
            return (found.get("state"), found.get("resourceVersion")) == (state, version)

        eventually(is_reported, f"{node} is {state} at {version}")
        return str(self.status(node)["message"])


class NodeUnderTest:
    """A directory for ``/var/lib/kubelet``, a kubelet, and a syncer in a thread."""

    def __init__(self, cluster: Cluster, directory: Path, name: str = "node-1", **environ: str) -> None:
        self.cluster = cluster
        self.name = name
        self.directory = directory / name
        self.directory.mkdir()
        self.path = self.directory / "config.json"
        self.kubelet = FakeSystemd()
        self.account = directory / f"{name}-account"
        self.account.mkdir()
        self.token(cluster.lab.admin_token)
        self.environ = {
            "NODE_NAME": name,
            "SYNCER_API": cluster.lab.url,
            "SYNCER_LEASES": ",".join(cluster.leases),
            "SYNCER_ACCOUNT_DIR": str(self.account),
            "SYNCER_HEALTH_WINDOW": "1",
            "SYNCER_RECHECK": "0.1",
            **environ,
        }
        self._log = directory / f"{name}.log"
        self._syncer: SyncerProgram | None = None
        self.is_stopping = False

    def token(self, token: str) -> None:
        (self.account / "token").write_text(token)

    def start(self) -> NodeUnderTest:
        settings = syncer_settings(self.directory, **self.environ)
        handle = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        pace = Intervals(settings)
        pace.slot = pace.held = pace.ask = pace.retry = pace.status = pace.watch = Backoff(0.02, 0.05)
        pace.back = Backoff(0.2, 0.4)
        self._syncer = SyncerProgram(settings, JsonLog(handle), self._node(settings), pace)
        self._code = ThreadPoolExecutor(1).submit(self._syncer.run)
        return self

    def _node(self, settings: SyncerSettings) -> Node:
        return Node(settings, lambda: self.kubelet, QuickClock())

    def stop(self) -> int | None:
        """End the syncer, if it was started; its exit code."""
        self.is_stopping = True
        if self._syncer is None:
            return None
        self._syncer.loop.stop()
        return self._code.result(60)

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is under way, and what was needed for it has been let go."""
        return self._syncer is not None and not self._syncer.loop._is_awake

    @property
    def log(self) -> list[dict[str, Any]]:
        text = self._log.read_text() if self._log.exists() else ""
        return [json.loads(line) for line in text.splitlines()]

    def logged(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.log if line["event"] == event]

    def auths(self) -> dict[str, Any]:
        """The entries of the file that kubelet reads."""
        found = json.loads(self.path.read_bytes()) if self.path.exists() else {"auths": {}}
        return dict(found["auths"])


def blocked(node: NodeUnderTest) -> threading.Event:
    """Let kubelet's restart take until the returned event is set."""
    go_on = threading.Event()

    def waits(_number: int) -> str:
        assert go_on.wait(60)
        return "done"

    node.kubelet.on_restart = waits
    return go_on
