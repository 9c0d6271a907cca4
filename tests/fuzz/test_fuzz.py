# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Run the short form of ``make fuzz``, and check that a fuzz run finds planted defects."""

from __future__ import annotations

import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.inputs import KINDS, ROOT, Input
from tests.fuzz.surfaces import missing, surfaces
from tests.fuzz.trying import Verdict, sandbox, tried
from tests.lab.supervisor import is_running, wait_until
from tests.support.nightly import some
from tests.support.secrecy.canary import Canary

# A fixed random seed: a failure comes from a change of the code, not from other inputs.
_SEED, _INPUTS = "short", 40
_CANARY = Canary.make("planted", random.Random(7))


@pytest.fixture
def root() -> Iterator[Path]:
    with sandbox() as made:
        yield made


def _verdict(root: Path, run: Callable[[Any], Any], seconds: float = 60.0, **data: Any) -> Verdict:
    given = Input("module/planted", "planted", data)
    ((_number, _given, verdict),) = tried([(1, given)], root, _CANARY, {"planted": run}, seconds=seconds)
    return verdict


def _fork_and(work: Callable[[], Any]) -> None:
    if os.fork() == 0:
        work()
        os._exit(0)
    os.wait()


def _spin() -> None:
    while True:
        pass


def _internal(_data: Any) -> Any:
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import safely

    return safely(lambda: {"x": int("x")})


_PLANTED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "an exception": ("traceback", lambda _data: int("x")),
    "a process that dies": ("traceback", lambda _data: os.kill(os.getpid(), signal.SIGTERM)),
    "an exit": ("traceback", lambda _data: os._exit(3)),
    "a module that dies": (
        "traceback",
        lambda _data: print('{"msg": "MODULE FAILURE: ansible_collections/hyperfleet/pull_secret/x.py"}'),
    ),
    "an exception in Ansible's own task of our role": (
        "done",
        lambda _data: print(
            "\nTASK [hyperfleet.pull_secret.x : Validating arguments against arg spec 'main']\n"
            "Unexpected failure during module execution: division by zero"
        ),
    ),
    "an exception in Ansible's worker": (
        "traceback",
        lambda _data: _fork_and(
            lambda: os.write(2, b"Unexpected failure during module execution: hyperfleet.pull_secret.x\n")
        ),
    ),
    "our own report of a defect": ("internal error", _internal),
    "a password in a result": ("canary", lambda _data: {"msg": _CANARY.entries[1].password}),
    "a password in base64": ("canary", lambda _data: print(f"x{_CANARY.entries[0].auth}")),
    "a password of the input": ("canary", lambda _data: os.environ["PULL_SECRET"]),
    "a password on stderr": ("canary", lambda _data: os.write(2, _CANARY.entries[2].token.encode())),
    "a password that a callback sees": (
        "canary",
        lambda _data: Path(os.environ["CANARY_RECORD"]).write_text(_CANARY.entries[0].password),
    ),
    "a write elsewhere": ("escape", lambda _data: _written("/tmp/pull-secret-fuzz-escaped")),
    "a result": ("done", lambda _data: {"changed": True}),
    "a failure": ("refused", lambda _data: {"failed": True, "msg": "no such option"}),
}


def _written(path: str) -> str:
    try:
        Path(path).write_text("x")
    except OSError:
        return "refused by the guard"
    return "written"


@pytest.mark.parametrize("planted", _PLANTED)
def test_a_planted_defect_is_found(root: Path, planted: str) -> None:
    kind, run = _PLANTED[planted]
    verdict = _verdict(root, run)
    assert verdict.kind == kind, verdict
    assert not Path("/tmp/pull-secret-fuzz-escaped").exists()


@pytest.mark.parametrize("wait", some([lambda: threading.Event().wait(), lambda: time.sleep(3600), _spin]))
def test_a_hang_is_found_and_ended_with_its_children(root: Path, wait: Callable[[], Any]) -> None:
    mark = root / "child"

    def run(_data: Any) -> None:
        if os.fork() == 0:
            mark.write_text(str(os.getpid()))
        wait()

    assert _verdict(root, run, seconds=3.0).kind == "hang"
    child = int(mark.read_text())
    wait_until(lambda: not is_running(child), "the end of the child of an input that hung")


@pytest.mark.parametrize("address", ["192.0.2.1", "169.254.169.254"])
def test_nothing_leaves_the_machine(root: Path, address: str) -> None:
    def run(_data: Any) -> str:
        with socket.socket() as stream:
            try:
                stream.connect((address, 80))
            except ConnectionRefusedError as error:
                return str(error)
        return "connected"

    assert _verdict(root, run).says == "'[Errno 111] off this machine'"


def test_everything_is_tried() -> None:
    """Every new plugin, role, playbook or rulebook needs working options in bases.py."""
    assert missing() == []
    assert {one.name.partition("/")[0] for one in surfaces()} == set(KINDS)


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
    # Use this checkout of the collection, not one that ANSIBLE_* variables point to.
    return subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.nightly
def test_right_options_get_through() -> None:
    """The inputs replace single options of these: if these were refused, only the first check would run."""
    ran = _run("--seed", _SEED, "--right")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.nightly
def test_a_short_run_finds_nothing() -> None:
    ran = _run("--seed", _SEED, "--inputs", str(_INPUTS))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    total = re.search(
        rf"^all: +{_INPUTS} inputs, (\d+) done, (\d+) refused, .*; seed {_SEED}", ran.stdout, re.MULTILINE
    )
    assert total, ran.stdout
    # If the first check refused every input, the run would show nothing.
    assert int(total[1]) >= _INPUTS // 10, ran.stdout
    assert int(total[1]) + int(total[2]) == _INPUTS, ran.stdout
