# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Docker configs, and a directory that stands for a node."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd.manager import (
    SystemdError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import DockerConfig, load
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.result import Options
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.sync import Synchroniser
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.settings import (
    SyncerSettings,
    settings_from_environment,
)
from tests.node.fake_systemd import UNIT, FakeSystemd, JumpingClock
from tests.stand_ins.tcp_server import Server


def auth(text: str) -> dict[str, str]:
    """An entry whose password is the text."""
    return {"auth": base64.b64encode(f"robot:example-password-{text}".encode()).decode()}


def document(**registries: str) -> dict[str, Any]:
    """``quay_io="a"`` is an entry for quay.io."""
    return {"auths": {key.replace("_", "."): auth(text) for key, text in registries.items()}}


def config(**registries: str) -> DockerConfig:
    return load(document(**registries), allow_empty=True)


def syncer_settings(directory: Path, **environ: str) -> SyncerSettings:
    """Settings of a syncer whose kubelet has this directory, with these variables as well."""
    least = {"NODE_NAME": "node-1", "SYNCER_API": "http://127.0.0.1:1", "SYNCER_LEASES": "restart-0"}
    return settings_from_environment(
        {**least, "SYNCER_KUBELET_DIR": str(directory), "SYNCER_HEALTHZ": "", **environ}
    )


def refusal(name: str, detail: str = "") -> Callable[[], str]:
    """A step of a script: an error in a job's place."""

    def refuse() -> str:
        raise SystemdError(UNIT, name, detail)

    return refuse


class Place:
    """A directory with a config.json, and what is needed to bring it in sync."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "config.json"
        self.systemd = FakeSystemd()
        self.clock = JumpingClock()

    def sync(self, **options: Any) -> Synchroniser:
        return Synchroniser(str(self.path), Options(**{"healthz": "", **options}), self.systemd, self.clock)

    def put(self, content: Any) -> None:
        self.path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())

    def auths(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.path.read_bytes())["auths"]
        return found

    def beside(self) -> list[str]:
        return sorted(path.name for path in self.path.parent.iterdir())

    def ledger(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.path.parent / "config.json.hyperfleet").read_bytes())
        return found


class Answering(Server):
    """A ``healthz`` that answers each connection with ``answer``; nothing closes it."""

    def __init__(self, answer: bytes = b"") -> None:
        self.asked = b""
        self.answer = answer
        super().__init__(self._reply)
        self.url += "/healthz"

    def _reply(self, stream: socket.socket) -> None:
        self.asked = stream.recv(4096)
        stream.sendall(self.answer)
