# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kill -9 before each step of the node's work, one after the other until none is left.

A step is a call that changes files or kubelet.  A process of its own is really killed at step 1, 2, 3 … of
the same work; after each, the file is the old one or the new one, whole, and the next run ends as if nothing
had been.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils import atomic_file
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import DockerConfig
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet import (
    sync as kubelet_sync,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.sync import (
    Options,
    Synchroniser,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.systemd import (
    Systemd,
    UnitState,
)
from tests.unit.kubelet.support import JumpingClock, config, document

_OS_CALLS = (
    "open",
    "close",
    "write",
    "ftruncate",
    "fchmod",
    "fchown",
    "fsync",
    "replace",
    "unlink",
    "setxattr",
)
_MOST = 2000

# What neither changes a file nor a kubelet.
_HARMLESS = {
    "environ", "fspath", "fstat", "geteuid", "getegid", "getxattr", "lstat", "path", "read", "stat",
    "strerror", "urandom",
}  # fmt: skip

OLD = {**document(ecr_example="theirs", quay_io="displaced"), "HttpHeaders": {"a": 7, "b": "x"}}
NEW = config(quay_io="new", ghcr_io="new")
BAD = config(bad_example="new")


class Kubelet(Systemd):
    """Outlives the processes that restart it: its state is in a file.  Fails on ``bad.example``."""

    def __init__(self, path: Path, config_path: Path) -> None:
        self._path = path
        self._config = config_path
        self.before_step: Callable[[], None] = lambda: None
        if not path.exists():
            self._load("done")

    def _load(self, job: str) -> str:
        content = self._config.read_text() if self._config.exists() else ""
        job = "failed" if "bad.example" in content else job
        count = self.known["count"] + 1 if self._path.exists() else 1
        self._path.write_text(json.dumps({"count": count, "content": content, "job": job}))
        return job

    @property
    def known(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._path.read_text())
        return found

    def state(self, unit: str) -> UnitState:
        known = self.known
        active, sub = ("active", "running") if known["job"] == "done" else ("failed", "failed")
        return UnitState("loaded", active, sub, "success", f"{known['count']:032x}", 0, True, "notify")

    def reset_failed(self, unit: str) -> None:
        pass

    def restart(self, unit: str, timeout: float) -> str:
        self.before_step()
        job = self._load("done")
        self.before_step()
        return job


class Story:
    """Work that is killed at a step, in a directory that is made anew for each step."""

    def __init__(
        self, directory: Path, old: bytes | None, earlier: list[DockerConfig | None], by_role: bool = False
    ) -> None:
        self.run = self._by_the_role if by_role else self._at_once
        self._directory = directory
        self._old = old
        self._earlier = earlier
        self._round = 0

    def begin(self) -> None:
        self._round += 1
        place = self._directory / str(self._round)
        (place / "node").mkdir(parents=True)
        self.path = place / "node" / "config.json"
        if self._old is not None:
            self.path.write_bytes(self._old)
        self.kubelet = Kubelet(place / "kubelet.json", self.path)
        for desired in self._earlier:
            self.run(desired)

    def _sync(self, **options: Any) -> Synchroniser:
        given = Options(**{"healthz": "", "attempts": 2, **options})
        return Synchroniser(str(self.path), given, self.kubelet, JumpingClock())

    def _at_once(self, desired: DockerConfig | None) -> str:
        return self._sync().apply(desired).state

    def _by_the_role(self, desired: DockerConfig | None) -> str:
        """The write, the two handlers and the rescue."""
        written = self._sync(restart="deferred").apply(desired)
        well = written.state not in ("failed", "held")
        if well and written.needed:
            settled = self._sync(rollback=False, window=0.0).settle()
            well = settled.state == "in-sync" and bool(self._sync().verify().healthy)
        if not well and written.needed:
            self._sync().roll_back()
        return "in-sync" if well else "held" if written.state == "held" else "failed"

    def content(self) -> bytes | None:
        return self.path.read_bytes() if self.path.exists() else None

    def killed(self, desired: DockerConfig | None, step: int) -> bool:
        """Do the work in a process that is killed before its ``step``-th step; False if it has fewer."""
        child = os.fork()
        if child == 0:
            try:
                self._kill_at(step)
                self.run(desired)
                os._exit(0)
            except BaseException as error:  # noqa: BLE001 - pytest must not go on in the child
                print(f"step {step}: {error!r}", file=sys.stderr, flush=True)
                os._exit(1)
        _pid, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL
            return True
        assert os.WEXITSTATUS(status) == 0
        return False

    def _kill_at(self, step: int) -> None:
        """Only in the child."""
        left = [step]

        def before_step() -> None:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

        def counted(call: Callable[..., Any]) -> Callable[..., Any]:
            def counting(*args: Any, **kwargs: Any) -> Any:
                before_step()
                return call(*args, **kwargs)

            return counting

        write = os.write

        def write_in_parts(handle: int, data: Any) -> int:
            # The disk takes as much of a write as it likes.
            before_step()
            return write(handle, data[: max(1, len(data) // 2)])

        for name in _OS_CALLS:
            setattr(os, name, write_in_parts if name == "write" else counted(getattr(os, name)))
        fcntl.flock = counted(fcntl.flock)
        self.kubelet.before_step = before_step


def _meaning(data: bytes | None) -> Any:
    """Whole, as JSON: what others wrote need not be a docker config by our rules."""
    return None if data is None else json.loads(data)


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
    assert used <= set(_OS_CALLS) | _HARMLESS
    assert set(_OS_CALLS) <= used


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
    ("by_role", "old", "earlier", "desired", "state"),
    [
        *(pytest.param(False, *story.values, id=story.id) for story in _STORIES),
        # Its steps come in another order only where there is something to merge, or to roll back.
        *(
            pytest.param(True, *story.values, id=f"{story.id}, by the role")
            for story in _STORIES
            if story.values[0] is not None and not story.values[1]
        ),
    ],
)
def test_every_step(
    directory: Path,
    by_role: bool,
    old: Any,
    earlier: list[DockerConfig | None],
    desired: DockerConfig | None,
    state: str,
) -> None:
    data = None if old is None else json.dumps(old, indent=1).encode()
    # What becomes of it when nobody is killed.
    whole = Story(directory / "whole", data, earlier, by_role)
    whole.begin()
    before = whole.content()
    whole.run(desired)
    after = whole.content()
    beside = sorted(path.name for path in whole.path.parent.iterdir())
    allowed = [_meaning(before), _meaning(after)]
    if desired is BAD:
        # On its way there; then it is taken back, byte for byte.
        assert after == before
        allowed.append(_meaning(_with_bad(old)))

    story = Story(directory / "killed", data, earlier, by_role)
    for step in range(1, _MOST):
        story.begin()
        if not story.killed(desired, step):
            break
        there = story.content()
        assert there != b"", f"empty after step {step}"
        assert _meaning(there) in allowed, f"neither old nor new after step {step}"
        for _run in range(2):
            ended = story.run(desired)
            if desired is not BAD:
                break
        assert ended == state, f"after step {step}"
        assert story.content() == after, f"after step {step}"
        assert story.kubelet.known["content"].encode() == (after or b""), f"kubelet after step {step}"
        assert sorted(path.name for path in story.path.parent.iterdir()) == beside, f"after step {step}"
        ledger = story.path.parent / "config.json.hyperfleet"
        assert not ledger.exists() or json.loads(ledger.read_bytes())["pending"] is None
        restarts = story.kubelet.known["count"]
        assert story.run(desired) == state
        assert story.kubelet.known["count"] == restarts
    else:
        raise AssertionError("the work has no end")
    assert step > 30, "the steps were not seen"


def _with_bad(old: Any) -> bytes:
    auths = {**(old or {"auths": {}})["auths"], **document(bad_example="new")["auths"]}
    beside = {"HttpHeaders": {"b": "x"}} if old else {}
    return json.dumps({**beside, "auths": auths}).encode()
