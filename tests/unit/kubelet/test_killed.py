# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kill -9 before each step of the node's work, each way of doing it, with a kubelet that is a file.

On a real node: ``tests/integration/node/test_killed.py``.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils import atomic_file
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import DockerConfig
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet import (
    sync as kubelet_sync,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.systemd import UnitState
from tests.unit.kubelet.story import BAD, NEW, OLD, OS_CALLS, Stepping, Story, kill_at_every_step
from tests.unit.kubelet.support import JumpingClock, config

# What neither changes a file nor a kubelet.
_HARMLESS = {
    "environ", "fspath", "fstat", "geteuid", "getegid", "getxattr", "lstat", "path", "read", "stat",
    "strerror", "urandom",
}  # fmt: skip


class Kubelet(Stepping):
    """Outlives the processes that restart it: its state is in a file.  Fails on ``bad.example``."""

    def __init__(self, path: Path, config_path: Path) -> None:
        self._path = path
        self._config = config_path
        self.before_step: Callable[[], None] = lambda: None
        self._load("done")

    def _load(self, job: str) -> str:
        content = self._config.read_text() if self._config.exists() else ""
        job = "failed" if "bad.example" in content else job
        count = self._known["count"] + 1 if self._path.exists() else 1
        self._path.write_text(json.dumps({"count": count, "content": content, "job": job}))
        return job

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


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """In memory where that can be had: it is synced to disk thousands of times."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as made:
        yield Path(made)


def test_no_step_is_overlooked() -> None:
    """Whatever of ``os`` the node's code calls is a step, or known to change nothing."""
    package = Path(kubelet_sync.__file__).parent
    used = set()
    for path in [Path(atomic_file.__file__), *package.glob("*.py")]:
        text = path.read_text()
        used |= set(re.findall(r"\bos\.([a-z]+)\b", text))
        assert not re.search(r"\bopen\(", text.replace("os.open(", "").replace("_open(", "")), path
        assert "shutil" not in text
    assert used <= set(OS_CALLS) | _HARMLESS
    assert set(OS_CALLS) <= used


_STORIES = [
    pytest.param(None, [], NEW, "in-sync", id="made"),
    pytest.param(OLD, [], NEW, "in-sync", id="merged into what others wrote"),
    pytest.param(OLD, [config(quay_io="older", docker_io="older")], NEW, "in-sync", id="rotated"),
    pytest.param(OLD, [NEW], None, "in-sync", id="taken out"),
    pytest.param(None, [NEW], None, "in-sync", id="removed"),
    pytest.param(OLD, [], BAD, "held", id="rolled back"),
    pytest.param(None, [], BAD, "held", id="rolled back to absence"),
]


@pytest.mark.parametrize(
    ("way", "old", "earlier", "desired", "state"),
    [
        *(pytest.param("module", *story.values, id=story.id) for story in _STORIES),
        # Its steps come in another order only where there is something to merge, or to roll back.
        *(
            pytest.param("role", *story.values, id=f"{story.id}, by the role")
            for story in _STORIES
            if story.values[0] is not None and not story.values[1]
        ),
        # Never takes out what it wrote.
        *(
            pytest.param("syncer", *story.values, id=f"{story.id}, by the syncer")
            for story in _STORIES
            if story.values[2] is not None
        ),
    ],
)
def test_every_step(
    directory: Path,
    way: str,
    old: Any,
    earlier: list[DockerConfig | None],
    desired: DockerConfig | None,
    state: str,
) -> None:
    steps = kill_at_every_step(InDirectory(directory, way, old, earlier), desired, state)
    assert steps > 30, "the steps were not seen"
