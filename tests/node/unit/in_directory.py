# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stories of ``story.py`` on a directory; small, since a process of its own imports it and forks."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd.manager import UnitState
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import DockerConfig
from tests.node.unit.story import BAD, LATE, NEW, OLD, Stepping, Story, kill_at_every_step
from tests.node.unit.support import JumpingClock, config

# How often a kubelet that dies later is seen up: by the process that restarts it, and then once.
_SEEN_UP = 2


class Kubelet(Stepping):
    """Outlives the processes that restart it: its state is in a file."""

    def __init__(self, path: Path, config_path: Path) -> None:
        self._path = path
        self._config = config_path
        self.before_step: Callable[[], None] = lambda: None
        self._load("done")

    def _load(self, job: str) -> str:
        content = self._config.read_text() if self._config.exists() else ""
        job = "failed" if "bad.example" in content else job
        count = self._known["count"] + 1 if self._path.exists() else 1
        self._save(count=count, content=content, job=job, seen=0)
        return job

    def _save(self, **known: Any) -> None:
        self._path.write_text(json.dumps(known))

    @property
    def _known(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._path.read_text())
        return found

    def start(self) -> str:
        return str(self._known["count"])

    def started_with(self) -> bytes:
        return str(self._known["content"]).encode()

    def state(self, unit: str) -> UnitState:
        known = self._known
        active, sub = ("active", "running") if known["job"] == "done" else ("failed", "failed")
        if "late.example" in known["content"]:
            self._save(**{**known, "seen": known["seen"] + 1})
            if known["seen"] >= _SEEN_UP:
                active, sub = "activating", "auto-restart"
        return UnitState("loaded", active, sub, "success", f"{known['count']:032x}", 0, True, "notify")

    def reset_failed(self, unit: str) -> None:
        pass

    def restart(self, unit: str, timeout: float) -> str:
        self.before_step()
        job = self._load("done")
        self.before_step()
        return job


class InDirectory(Story):
    """The node is a directory, another one for each step."""

    def __init__(self, directory: Path, way: str, old: Any, earlier: Sequence[DockerConfig | None]) -> None:
        super().__init__(way, old, earlier)
        self.clock = JumpingClock()
        self._directory = directory
        self._round = 0

    def prepare(self) -> None:
        self._round += 1
        place = self._directory / str(self._round)
        (place / "node").mkdir(parents=True)
        self.path = place / "node" / "config.json"
        if self.old is not None:
            self.path.write_text(json.dumps(self.old, indent=1))
        self.kubelet = Kubelet(place / "kubelet.json", self.path)


# What is in the file at first, what has been brought in sync then, what is wanted, and how that ends.
STORIES: dict[str, tuple[Any, list[DockerConfig | None], DockerConfig | None, str]] = {
    "made": (None, [], NEW, "in-sync"),
    "merged into what others wrote": (OLD, [], NEW, "in-sync"),
    "rotated": (OLD, [config(quay_io="older", docker_io="older")], NEW, "in-sync"),
    "taken out": (OLD, [NEW], None, "in-sync"),
    "removed": (None, [NEW], None, "in-sync"),
    "rolled back": (OLD, [], BAD, "held"),
    "rolled back to absence": (None, [], BAD, "held"),
    "rolled back after a while": (OLD, [], LATE, "held"),
}


def kill(directory: Path, way: str, story: str) -> int:
    """Kill the work of a story at every step; how many it has."""
    old, earlier, desired, state = STORIES[story]
    return kill_at_every_step(InDirectory(directory, way, old, earlier), desired, state)
