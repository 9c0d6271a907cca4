# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Syncers of some nodes and their API server, in a time that jumps from one thing to do to the next."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd.manager import Systemd
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.store import Store
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer import loop, restarts
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.api import PodApi
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.intervals import (
    Intervals,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.leases import (
    RestartSlots,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.log import JsonLog
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.node import Node
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.status import NodeStatus
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.watch import SecretState
from tests.node.fake_systemd import FakeSystemd, JumpingClock
from tests.node.syncer.world import Cluster, document
from tests.node.unit.support import syncer_settings

MINUTE = 60.0
HOUR = 60 * MINUTE

# So many steps without a pause are an endless loop.
_MANY = 1000


def _no_room(*_args: object, **_options: object) -> None:
    raise PullSecretError("no space left on device")


def full(monkeypatch: pytest.MonkeyPatch, node: SyncedNode) -> None:
    """Let every write on this node fail."""
    monkeypatch.setattr(node._loop._node, "write", _no_room)


def full_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let writes be noted in the ledger, and let the replacement of the file fail."""
    monkeypatch.setattr(Store, "replace", _no_room)


def picky(node: SyncedNode) -> Callable[[int], str]:
    """A kubelet that fails with the password ``example-bad``."""
    return lambda _number: "failed" if node.password == "example-bad" else "done"


class _Api(PodApi):
    """The client of all nodes; it keeps what they report."""

    def __init__(self, cluster: Cluster, directory: Path) -> None:
        (directory / "token").write_text(cluster.lab.admin_token)
        super().__init__(
            "127.0.0.1", int(cluster.lab.url.rpartition(":")[2]), tls=False, directory=str(directory)
        )
        self.said: list[tuple[str, str, str]] = []
        """The node, the Secret's version and the state of each report."""

    def call(self, method: str, path: str, body: Any = None, *args: Any, **types: Any) -> dict[str, Any]:
        answer = super().call(method, path, body, *args, **types)
        if method == "PATCH":
            for node, text in body["data"].items():
                entry = json.loads(text)
                self.said.append((node, entry["resourceVersion"], entry["state"]))
        return answer


class _NodesClock(JumpingClock):
    """While kubelet is restarted and watched it runs ahead of the others' time."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self.time = 0.0

    def monotonic(self) -> float:
        return self._fleet.now + self.time


class SyncedNode:
    """A directory, a kubelet, and a syncer. ``runs``: when each of its restarts began, and when it ended."""

    def __init__(self, fleet: Fleet, directory: Path, name: str) -> None:
        directory.mkdir()
        self.name = name
        self.path = directory / "config.json"
        self.kubelet = FakeSystemd()
        self.bus_is_away = False
        self.clock = _NodesClock(fleet)
        self.runs: list[tuple[float, float]] = []
        self._fleet = fleet
        leases = ",".join(fleet.cluster.leases)
        self._settings = syncer_settings(directory, NODE_NAME=name, SYNCER_LEASES=leases)
        self.start()

    def start(self) -> None:
        """Start a new syncer, which knows nothing of the previous one."""
        settings, api, clock = self._settings, self._fleet.api, self._fleet.monotonic
        pace = Intervals(settings)
        slots = RestartSlots(api, settings.namespace, settings.leases, self.name, clock=clock)
        place = (settings.namespace, settings.status, self.name)
        status = NodeStatus(api, *place, clock=clock, backoff=pace.status)
        node = Node(settings, self._open, self.clock)
        log = JsonLog(os.open(self.path.with_name("log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        self._loop = loop.SyncLoop(settings, node, slots, status, log, rest=lambda: None, pace=pace)
        self._result: tuple[str, Any] | None = None

    def _open(self) -> Systemd:
        if self.bus_is_away:
            raise PullSecretError("D-Bus cannot be reached")
        return self.kubelet

    def fails(self, error: Exception) -> None:
        """Raise an unexpected error in the node's loop."""
        self._fleet.acting = self
        self._loop._on_error(error)

    def restart(self, run: Callable[[], None]) -> None:
        """Run this in place of the thread. The result arrives when the time of the restart is over."""
        began, self.clock.time = self._fleet.now, 0.0
        run()
        self._result = self._loop._inbox.get_nowait()
        self.runs.append((began, began + self.clock.time))

    @property
    def due_at(self) -> float:
        at = self._fleet.now + self._loop._patience()
        return at if self._result is None else min(at, self.runs[-1][1])

    def step(self) -> None:
        if self._result is not None and self._fleet.now >= self.runs[-1][1]:
            result, self._result, self.clock.time = self._result, None, 0.0
            self._loop._step(*result)
        else:
            self._loop._step("", None)

    def deliver(self, *secrets: SecretState | None) -> None:
        """Deliver these states of the Secret while the loop does something else."""
        self._fleet.acting = self
        for secret in secrets:
            self._loop.deliver(secret)
        for _secret in secrets:
            self._loop._step(*self._loop._inbox.get_nowait())

    @property
    def status(self) -> dict[str, Any]:
        return self._fleet.cluster.status(self.name)

    @property
    def password(self) -> str:
        auth = json.loads(self.path.read_bytes())["auths"]["quay.io"]["auth"]
        return base64.b64decode(auth).decode().partition(":")[2]

    @property
    def pauses(self) -> list[float]:
        """The seconds between its restarts."""
        return [later[0] - earlier[1] for earlier, later in zip(self.runs, self.runs[1:], strict=False)]


class Fleet:
    """Nodes with one slot."""

    def __init__(self, cluster: Cluster, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.cluster = cluster
        self.api = _Api(cluster, directory)
        self.nodes: list[SyncedNode] = []
        self.acting: SyncedNode | None = None
        self._directory = directory
        self._version = 0
        monkeypatch.setattr(loop, "time", self)
        monkeypatch.setattr(restarts, "time", self)
        monkeypatch.setattr(restarts, "threading", SimpleNamespace(Thread=self._thread))

    def monotonic(self) -> float:
        return self.now

    def _thread(self, *, target: Callable[[], None], name: str, daemon: bool) -> Any:
        node = self.acting
        assert node is not None
        return SimpleNamespace(start=lambda: node.restart(target))

    def node(self, on_restart: Callable[[int], str] = lambda _number: "done") -> SyncedNode:
        name = f"node-{len(self.nodes) + 1}"
        self.nodes.append(SyncedNode(self, self._directory / name, name))
        self.nodes[-1].kubelet.on_restart = on_restart
        return self.nodes[-1]

    def waiting_node(self, seconds: float = MINUTE) -> SyncedNode:
        """A node with a new file, whose kubelet could not be restarted for so long."""
        node = self.node()
        self.settle(node, "in-sync", self.put(document("example-good")))
        node.bus_is_away = True
        self.put(document("example-new"))
        self.run(seconds)
        return node

    def held_nodes(self) -> list[SyncedNode]:
        """Two nodes that are held, because a third one failed with the current Secret."""
        nodes = [self.node() for _number in range(3)]
        for node in nodes:
            node.kubelet.on_restart = picky(node)
        version = self.put(document("example-good"))
        for node in nodes:
            self.settle(node, "in-sync", version, within=HOUR)
        self.put(document("example-bad"))
        self.run(2 * HOUR)
        assert sorted(node.status["state"] for node in nodes) == ["failed", "held", "held"]
        return [node for node in nodes if node.status["state"] == "held"]

    def put(self, content: bytes) -> str:
        """Deliver a new version of the Secret to all nodes; return the version."""
        self._version += 1
        for node in self.nodes:
            node.deliver(SecretState(str(self._version), content))
        return str(self._version)

    def run(self, seconds: float, until: Callable[[], object] = lambda: False) -> None:
        """Let so many seconds pass, or fewer if ``until`` is true earlier."""
        end, steps = self.now + seconds, 0
        while not until():
            node = min(self.nodes, key=lambda one: one.due_at)
            at = node.due_at
            if at > end:
                self.now = end
                return
            steps = 0 if at > self.now else steps + 1
            assert steps < _MANY, "something is done again and again without a pause"
            self.now, self.acting = max(at, self.now), node
            node.step()

    def settle(self, node: SyncedNode, state: str, version: str, within: float = 10 * MINUTE) -> None:
        """Run until the node reports this state of this version."""

        def is_reported() -> bool:
            return (node.status.get("state"), node.status.get("resourceVersion")) == (state, version)

        self.run(within, is_reported)
        assert is_reported(), f"{node.name} is {state} at {version}, but {node.status}"
