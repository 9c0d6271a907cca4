# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kill -9 before each call of the node's work that changes files or kubelet, one after the other.

Small, since a process of its own imports it and forks.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd.manager import (
    Systemd,
    UnitState,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import DockerConfig
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.result import Options
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.sync import Synchroniser
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.node import Node
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.clock import Clock
from tests.node.fake_systemd import UNIT, FakeSystemd, JumpingClock
from tests.node.unit.support import config, document, syncer_settings

OS_CALLS = (
    "open", "close", "write", "ftruncate", "fchmod", "fchown", "fsync", "replace", "unlink", "setxattr",
)  # fmt: skip
_MOST = 2000

OLD = {**document(ecr_example="theirs", quay_io="displaced"), "HttpHeaders": {"a": 7}, "credsStore": "x"}
NEW = config(quay_io="new", ghcr_io="new")
BAD = config(bad_example="new")
LATE = config(late_example="new")
# How often a kubelet that dies later is seen up: by the process that restarts it, and then once.
_SEEN_UP = 2

# The file at first, what is then brought in sync, what is wanted, and the state in which that ends.
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


class Stepping(Systemd):
    """Calls ``before_step`` before each of its steps; ``started_with`` has what kubelet was started with."""

    before_step: Callable[[], None]
    started_with: Path


class Kubelet(FakeSystemd, Stepping):
    """Outlives the processes that restart it: its state is in a file.

    It fails on ``bad.example``, and on ``late.example`` a while after its start.
    """

    def __init__(self, directory: Path, path: Path) -> None:
        super().__init__()
        self.before_step = lambda: None
        self.started_with = directory / "started-with"
        self._path = path
        self._state = directory / "kubelet.json"
        self.started_with.write_bytes(self._content())
        self._save()

    def _content(self) -> bytes:
        return self._path.read_bytes() if self._path.exists() else b""

    def _save(self) -> None:
        self._state.write_text(json.dumps([self.count, self.now, self.later]))

    def _load(self) -> None:
        self.count, now, later = json.loads(self._state.read_text())
        self.now, self.later = UnitState(*now), [UnitState(*state) for state in later]

    def state(self, unit: str) -> UnitState:
        self._load()
        found = super().state(unit)
        self._save()
        return found

    def restart(self, unit: str, timeout: float) -> str:
        self.before_step()
        self._load()
        content = self._content()
        self.started_with.write_bytes(content)
        self.script = ["failed" if b"bad.example" in content else "done"]
        job = super().restart(unit, timeout)
        dead = self.now._replace(active="activating", sub="auto-restart")
        self.later = [*[self.now] * _SEEN_UP, dead] if b"late.example" in content else []
        self._save()
        self.before_step()
        return job


@dataclass
class Story:
    """Work of the ``module``, ``role`` or ``syncer`` that is killed at a step, each time in an emptied directory.

    ``new_kubelet`` makes what is restarted each time. ``old`` is in the file at first, and ``earlier`` has been
    brought in sync then.
    """

    way: str
    path: Path
    new_kubelet: Callable[[], Stepping]
    clock: Clock
    old: Any = None
    earlier: Sequence[DockerConfig | None] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def begin(self) -> None:
        for left in self.path.parent.iterdir():
            left.unlink()
        if self.old is not None:
            self.path.write_text(json.dumps(self.old, indent=1))
        self.kubelet = self.new_kubelet()
        for desired in self.earlier:
            self.run(desired)

    def run(self, desired: DockerConfig | None) -> str:
        """Do the work; return the state in which it ends."""
        ways = {"module": self._at_once, "role": self._by_the_role, "syncer": self._by_the_syncer}
        try:
            return ways[self.way](desired)
        finally:
            self.kubelet.close()

    def _sync(self, **options: Any) -> Synchroniser:
        given = Options(**{"healthz": "", "attempts": 2, **self.options, **options})
        return Synchroniser(str(self.path), given, self.kubelet, self.clock)

    def _at_once(self, desired: DockerConfig | None) -> str:
        return self._sync().apply(desired).state

    def _by_the_role(self, desired: DockerConfig | None) -> str:
        """The write, the two handlers and the rescue."""
        written = self._sync(restart="deferred").apply(desired)
        well = written.state not in ("failed", "held")
        if well and written.needed:
            settled = self._sync(rollback=False, window=0.0).settle()
            well = settled.state != "failed"
            if settled.state == "pending":
                well = bool(self._sync().verify().healthy)
        if not well and written.needed:
            self._sync().roll_back()
        return "in-sync" if well else "held" if written.state == "held" else "failed"

    def _by_the_syncer(self, desired: DockerConfig | None) -> str:
        """The write, and in the slot the restart; no backup is kept."""
        assert desired is not None, "it never takes out what it wrote"
        window = str(self.options.get("window", 12))
        settings = syncer_settings(self.path.parent, SYNCER_HEALTH_WINDOW=window)
        node = Node(settings, lambda: self.kubelet, self.clock)
        written = node.write(desired.canonical())
        ended = node.restart(lambda: False) if written.restart else written
        # What failed before is only written to be taken back.
        is_held = written.failed or ended.only_back
        assert ended.finished or is_held
        return "held" if is_held else "failed" if ended.failed else "in-sync"

    def content(self) -> bytes | None:
        return self.path.read_bytes() if self.path.exists() else None

    def beside(self) -> list[str]:
        return sorted(path.name for path in self.path.parent.iterdir())

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
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, -signal.SIGKILL)
        return code != 0

    def _kill_at(self, step: int) -> None:
        """Count the steps from now on, and kill this process, a child, before this one."""
        steps, write = itertools.count(1), os.write

        def before_step() -> None:
            if next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)

        def counted(call: Callable[..., Any]) -> Callable[..., Any]:
            def counting(*args: Any, **kwargs: Any) -> Any:
                before_step()
                return call(*args, **kwargs)

            return counting

        def write_a_part(handle: int, data: Any) -> int:
            """The disk takes as much of a write as it likes."""
            return write(handle, data[: max(1, len(data) // 2)])

        for name in OS_CALLS:
            setattr(os, name, counted(write_a_part if name == "write" else getattr(os, name)))
        fcntl.flock = counted(fcntl.flock)
        self.kubelet.before_step = before_step


def kill(directory: Path, way: str, name: str) -> int:
    """Kill the work of one of the ``STORIES`` at every step, with a file for kubelet; return how many it has."""
    old, earlier, desired, state = STORIES[name]
    path = directory / "node" / "config.json"
    path.parent.mkdir()
    clock = JumpingClock()
    story = Story(way, path, lambda: Kubelet(directory, path), clock, old, earlier)
    return kill_at_every_step(story, desired, state)


def kill_at_every_step(story: Story, desired: DockerConfig | None, state: str) -> int:
    """Kill the work at each of its steps, and run it again to this state; return how many steps it has."""
    # The contents before and after a run that is not killed.
    story.begin()
    before = story.content()
    story.run(desired)
    after = story.content()
    beside = story.beside()
    allowed = [_meaning(before), _meaning(after)]
    if desired in (BAD, LATE):
        # On its way there; then it is taken back, byte for byte.
        assert after == before
        allowed.append(_with(desired, story.old))

    for step in range(1, _MOST):
        story.begin()
        if not story.killed(desired, step):
            return step
        there = story.content()
        assert there != b"", f"empty after step {step}"
        assert _meaning(there) in allowed, f"neither old nor new after step {step}"
        for _run in range(2):
            ended = story.run(desired)
            if desired not in (BAD, LATE):
                break
        assert ended == state, f"after step {step}"
        assert story.content() == after, f"after step {step}"
        assert story.kubelet.started_with.read_bytes() == (after or b""), f"kubelet after step {step}"
        assert story.beside() == beside, f"after step {step}"
        ledger = story.path.parent / "config.json.hyperfleet"
        assert not ledger.exists() or json.loads(ledger.read_bytes())["pending"] is None
        start = story.kubelet.state(UNIT).invocation
        assert story.run(desired) == state
        assert story.kubelet.state(UNIT).invocation == start, f"restarted for nothing after step {step}"
    raise AssertionError("the work has no end")


def _meaning(data: bytes | None) -> Any:
    """Whole, as JSON: what others wrote need not be a docker config by our rules."""
    return None if data is None else json.loads(data)


def _with(desired: DockerConfig, old: Any) -> Any:
    auths = {**(old or {"auths": {}})["auths"], **json.loads(desired.canonical())["auths"]}
    beside = {"credsStore": "x"} if old else {}
    return {**beside, "auths": auths}
