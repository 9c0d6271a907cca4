# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kill -9 before each call of the node's work that changes files or kubelet, one after the other.

Small, since a process of its own imports it and forks.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
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
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.settings import (
    settings_from_environment,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.clock import Clock
from tests.node.fake_systemd import JumpingClock
from tests.node.unit.support import config, document

OS_CALLS = (
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

OLD = {**document(ecr_example="theirs", quay_io="displaced"), "HttpHeaders": {"a": 7}, "credsStore": "x"}
NEW = config(quay_io="new", ghcr_io="new")
BAD = config(bad_example="new")
LATE = config(late_example="new")
# How often a kubelet that dies later is seen up: by the process that restarts it, and then once.
_SEEN_UP = 2

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


class Stepping(Systemd):
    """A systemd, and a kubelet that fails on ``bad.example``, and a while later on ``late.example``."""

    before_step: Callable[[], None]

    def start(self) -> str:
        """Which start of kubelet this is: another word after each."""
        raise NotImplementedError

    def started_with(self) -> bytes:
        """The file as it was at that; nothing where there was none."""
        raise NotImplementedError


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


class Story:
    """Work of the ``module``, ``role`` or ``syncer`` that is killed at a step, each time in an emptied directory.

    ``kubelet`` makes what is restarted each time. ``old`` is in the file at first, and ``earlier`` has been brought
    in sync then.
    """

    def __init__(
        self,
        way: str,
        path: Path,
        kubelet: Callable[[], Stepping],
        clock: Clock,
        old: Any = None,
        earlier: Sequence[DockerConfig | None] = (),
        **options: Any,
    ) -> None:
        self._way = {"module": self._at_once, "role": self._by_the_role, "syncer": self._by_the_syncer}[way]
        self.path = path
        self._new_kubelet = kubelet
        self._clock = clock
        self.old = old
        self._earlier = earlier
        self._options = {"healthz": "", "attempts": 2, **options}

    def begin(self) -> None:
        for left in self.path.parent.iterdir():
            left.unlink()
        if self.old is not None:
            self.path.write_text(json.dumps(self.old, indent=1))
        self.kubelet = self._new_kubelet()
        for desired in self._earlier:
            self.run(desired)

    def run(self, desired: DockerConfig | None) -> str:
        """Do the work; the state it ends in."""
        try:
            return self._way(desired)
        finally:
            self.kubelet.close()

    def _sync(self, **options: Any) -> Synchroniser:
        given = Options(**{**self._options, **options})
        return Synchroniser(str(self.path), given, self.kubelet, self._clock)

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
        environ = {
            "NODE_NAME": "node-1",
            "SYNCER_API": "http://127.0.0.1:1",
            "SYNCER_LEASES": "restart-0",
            "SYNCER_KUBELET_DIR": str(self.path.parent),
            "SYNCER_HEALTHZ": "",
            "SYNCER_HEALTH_WINDOW": str(self._options.get("window", 12)),
        }
        node = Node(settings_from_environment(environ), lambda: self.kubelet, self._clock)
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

        for name in OS_CALLS:
            setattr(os, name, write_in_parts if name == "write" else counted(getattr(os, name)))
        fcntl.flock = counted(fcntl.flock)
        self.kubelet.before_step = before_step


def kill(directory: Path, way: str, name: str) -> int:
    """Kill the work of one of the ``STORIES`` at every step, with a file for kubelet; how many it has."""
    old, earlier, desired, state = STORIES[name]
    path = directory / "node" / "config.json"
    path.parent.mkdir()
    clock = JumpingClock()
    story = Story(way, path, lambda: Kubelet(directory / "kubelet.json", path), clock, old, earlier)
    return kill_at_every_step(story, desired, state)


def kill_at_every_step(story: Story, desired: DockerConfig | None, state: str) -> int:
    """Kill the work at each of its steps, and run it again to this state; how many steps it has."""
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
        assert story.kubelet.started_with() == (after or b""), f"kubelet after step {step}"
        assert story.beside() == beside, f"after step {step}"
        ledger = story.path.parent / "config.json.hyperfleet"
        assert not ledger.exists() or json.loads(ledger.read_bytes())["pending"] is None
        start = story.kubelet.start()
        assert story.run(desired) == state
        assert story.kubelet.start() == start, f"restarted for nothing after step {step}"
    raise AssertionError("the work has no end")


def _meaning(data: bytes | None) -> Any:
    """Whole, as JSON: what others wrote need not be a docker config by our rules."""
    return None if data is None else json.loads(data)


def _with(desired: DockerConfig, old: Any) -> Any:
    auths = {**(old or {"auths": {}})["auths"], **json.loads(desired.canonical())["auths"]}
    beside = {"credsStore": "x"} if old else {}
    return {**beside, "auths": auths}
