# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The file is complete at every moment, and killed writers leave at most one leftover."""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime import atomic_file
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import dockerconfig_merge
from tests.support.docker_configs import docker_config
from tests.support.kubernetes.running import run_task

# Fork, because a new interpreter would spend its short life on imports.
FORK = multiprocessing.get_context("fork")
# Large enough that writing takes a while.
CONFIGS = [
    docker_config(**{f"r{n}_example_com": f"{text}-{n}" for n in range(300)}) for text in ("one", "two")
]
SMALL = docker_config(quay_io="small")
KILLS = 8


def write(dest: Path, config: Any) -> dict[str, Any]:
    return run_task(dockerconfig_merge, {"dest": str(dest), "source": {"inline": config}})


def write_for_ever(dest: str) -> None:
    # Collecting the parent's gRPC objects in a child that was forked ends it by a signal.
    gc.freeze()
    while True:
        for config in CONFIGS:
            write(Path(dest), config)


def start(*arguments: Any) -> ForkProcess:
    process = FORK.Process(target=arguments[0], args=arguments[1:], daemon=True)
    process.start()
    return process


def kill(process: ForkProcess) -> None:
    process.kill()
    process.join()


def leftovers(dest: Path) -> list[str]:
    return [name for name in os.listdir(dest.parent) if name != dest.name]


def read_until(dest: Path, end: float) -> int:
    """Read in a loop; each time the file must hold one of the two documents."""
    count = 0
    while time.monotonic() < end:
        assert json.loads(dest.read_bytes()) in CONFIGS
        count += 1
    return count


def read_until_written(dest: Path, before: int) -> int:
    """Read until a writer has written once. There is no fixed duration: the machine may be busy."""
    count, end = 0, time.monotonic() + 60
    while dest.stat().st_mtime_ns == before:
        assert time.monotonic() < end, "the writer did not write within 60 s"
        count += read_until(dest, time.monotonic() + 0.01)
    return count


def test_killed_at_any_moment_the_file_is_whole(tmp_path: Path) -> None:
    dest = tmp_path / "config.json"
    write(dest, CONFIGS[0])
    chance = random.Random(7)
    reads = 0
    for _number in range(KILLS):
        before = dest.stat().st_mtime_ns
        writer = start(write_for_ever, str(dest))
        reads += read_until_written(dest, before)
        reads += read_until(dest, time.monotonic() + chance.uniform(0.0, 0.1))
        kill(writer)
        assert json.loads(dest.read_bytes()) in CONFIGS
        assert len(leftovers(dest)) <= 1, "every writer uses the same temporary name"
    assert reads > KILLS
    assert "failed" not in write(dest, SMALL)
    assert json.loads(dest.read_bytes()) == SMALL
    assert leftovers(dest) == []


def test_two_writers_at_once(tmp_path: Path) -> None:
    dest = tmp_path / "config.json"
    write(dest, CONFIGS[0])
    writers = [start(write_for_ever, str(dest)) for _number in range(3)]
    try:
        read_until(dest, time.monotonic() + 1.0)
        assert all(writer.is_alive() for writer in writers)
    finally:
        for writer in writers:
            kill(writer)
    assert "failed" not in write(dest, SMALL)
    assert leftovers(dest) == []


def stop_before_the_rename(dest: str, ready: Any, go: Any = None) -> None:
    rename = os.replace

    def wait(source: str, destination: str) -> None:
        ready.set()
        if go is None:
            signal.pause()  # the test kills this process here
        go.wait(60)
        rename(source, destination)

    atomic_file.os.replace = wait  # type: ignore[attr-defined]
    write(Path(dest), CONFIGS[1])


def test_a_second_writer_waits_for_the_first(tmp_path: Path) -> None:
    dest = tmp_path / "config.json"
    write(dest, CONFIGS[0])
    ready, go = FORK.Event(), FORK.Event()
    first = start(stop_before_the_rename, str(dest), ready, go)
    second: ForkProcess | None = None
    try:
        assert ready.wait(60)
        second = start(write, dest, SMALL)
        second.join(0.5)
        assert second.is_alive(), (
            "the second writer must wait: the first is about to rename its temporary file"
        )
        assert json.loads(dest.read_bytes()) == CONFIGS[0]
        go.set()
        for writer in (first, second):
            writer.join(60)
            assert writer.exitcode == 0
    finally:
        kill(first)
        if second is not None:
            kill(second)
    assert json.loads(dest.read_bytes()) == SMALL
    assert leftovers(dest) == []


@contextmanager
def stopped_writer(directory: Path) -> Iterator[Path]:
    """A file whose second writer is stopped just before the rename, and killed at the end."""
    dest = directory / "config.json"
    write(dest, CONFIGS[0])
    ready = FORK.Event()
    writer = start(stop_before_the_rename, str(dest), ready)
    try:
        assert ready.wait(60)
        yield dest
    finally:
        kill(writer)


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A file whose second writer was killed just before the rename."""
    with stopped_writer(tmp_path) as dest:
        pass
    assert len(leftovers(dest)) == 1
    assert json.loads(dest.read_bytes()) == CONFIGS[0]
    return dest


def test_a_leftover_is_for_its_owner_only(killed: Path) -> None:
    (name,) = leftovers(killed)
    assert (killed.parent / name).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("config", [CONFIGS[0], CONFIGS[1], SMALL], ids=["same", "other", "shorter"])
def test_the_next_run_clears_a_leftover(killed: Path, config: Any) -> None:
    assert "failed" not in write(killed, config)
    assert leftovers(killed) == []
    assert json.loads(killed.read_bytes()) == config


def test_removing_the_file_removes_a_leftover(killed: Path) -> None:
    run_task(dockerconfig_merge, {"dest": str(killed), "state": "absent"})
    assert os.listdir(killed.parent) == []


def test_a_writer_at_work_is_not_disturbed(tmp_path: Path) -> None:
    with stopped_writer(tmp_path) as dest:
        write(dest, CONFIGS[0])  # no change: the module only looks for leftovers
        assert len(leftovers(dest)) == 1


def test_a_lock_that_is_never_released_ends_with_the_targets_time(tmp_path: Path) -> None:
    with stopped_writer(tmp_path) as dest:
        parameters = {"dest": str(dest), "source": {"inline": SMALL}, "timeout": 0.2}
        (target,) = run_task(dockerconfig_merge, parameters)["targets"]
    assert target["kind"] == "timeout"
    assert target["msg"] == (
        f"file:{dest} cannot be written: another process held its lock file for longer than timeout (0.2 s)"
    )
    assert json.loads(dest.read_text()) == CONFIGS[0]


def test_a_file_that_others_may_read_is_not_written_to(tmp_path: Path) -> None:
    """Another user could have created it to read what is written to it."""
    dest = tmp_path / "config.json"
    trap = tmp_path / ".config.json.pull-secret-new"
    trap.touch(mode=0o666)
    trap.chmod(0o666)
    with trap.open("rb") as watching:
        assert "failed" not in write(dest, SMALL)
        assert watching.read() == b""
    assert dest.stat().st_mode & 0o777 == 0o600
    assert leftovers(dest) == []


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    dest, other = tmp_path / "config.json", tmp_path / "other"
    other.write_text("kept")
    (tmp_path / ".config.json.pull-secret-new").symlink_to(other)
    assert "failed" in write(dest, SMALL)
    assert other.read_text() == "kept"
    assert not dest.exists()
