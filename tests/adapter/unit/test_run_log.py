# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a run's worker finds out that its caller is gone, and when it prints."""

from __future__ import annotations

import os
import pty
import subprocess
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils import run_log
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.run_log import Caller, Output, RunLog

_LOGGING = SimpleNamespace(level="info", format="json")
_LIMIT = 60


@pytest.mark.parametrize(("by", "there"), [(1, True), (2, False), (None, True)])
def test_a_caller_that_cannot_be_checked_counts_as_present(
    monkeypatch: pytest.MonkeyPatch, by: int | None, there: bool
) -> None:
    """If no file can be opened (None), the run continues."""
    monkeypatch.setattr(run_log, "_parent", lambda _pid: 1)
    caller = Caller("a-run")
    monkeypatch.setattr(run_log, "_parent", lambda _pid: by)
    assert caller.is_there() is there


class Playbook:
    """A process in the place of ansible-playbook, and the pipe to which it prints."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, reader: int, writer: int) -> None:
        self.reader, self._writer = reader, writer
        self._process = subprocess.Popen(["sleep", "600"], stdout=writer)
        monkeypatch.setattr(run_log, "playbook_pid", lambda: self._process.pid)
        self.caller = Caller(None)

    def fill(self) -> None:
        os.set_blocking(self._writer, False)
        try:
            while os.write(self._writer, b"x" * 1024):
                pass
        except BlockingIOError:
            os.set_blocking(self._writer, True)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._writer)
        os.close(self.reader)


@pytest.fixture(params=["pipe", "terminal"])
def playbook(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Playbook]:
    reader, writer = os.pipe() if request.param == "pipe" else pty.openpty()
    made = Playbook(monkeypatch, reader, writer)
    yield made
    made.end()


def test_an_output_is_ready_full_or_closed(playbook: Playbook) -> None:
    found = playbook.caller.output()
    assert found is Output.READY
    while found is Output.READY:
        # A terminal processes its input a moment later, and then has room again.
        playbook.fill()
        found = playbook.caller.output()
    assert found is Output.FULL
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, playbook.reader)
    os.close(nothing)
    assert playbook.caller.output() is Output.CLOSED


def test_an_output_that_cannot_be_checked_counts_as_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_log, "playbook_pid", lambda: 2**22 + 1)
    assert Caller(None).output() is Output.READY


class Reader:
    """Stands in for a :class:`Caller`, and records what is printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, now: Output, *, there: bool = True) -> None:
        self.messages: list[str] = []
        self.now, self.there = now, there
        self.asked = threading.Event()
        monkeypatch.setattr(run_log, "_display", SimpleNamespace(display=self.messages.append))
        monkeypatch.setattr(run_log, "render", lambda entry, **_how: entry["message"])

    def is_there(self) -> bool:
        return self.there

    def output(self) -> Output:
        self.asked.set()
        return self.now

    def log(self, *messages: str) -> RunLog:
        log = RunLog(cast("Caller", self))
        for message in messages:
            log.add({"message": message}, _LOGGING)
        return log


def test_nothing_is_printed_while_the_output_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader(monkeypatch, Output.FULL)
    numbers = [str(number) for number in range(200)]
    log = reader.log(*numbers)
    assert reader.asked.wait(_LIMIT)
    assert reader.messages == []
    reader.now = Output.READY
    log.close()
    assert "\n".join(reader.messages).split("\n") == numbers
    assert not log.is_lost()


def test_a_message_is_a_hundred_entries_and_a_quarter_of_a_pipe_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = Reader(monkeypatch, Output.READY)
    sizes = [10] * 300 + [7000] * 9 + [90000, 10]
    reader.log(*("x" * size for size in sizes)).close()
    printed = [[len(line) for line in message.split("\n")] for message in reader.messages]
    assert max(map(len, printed)) <= 100
    assert all(sum(lines) <= 16 * 1024 or len(lines) == 1 for lines in printed)
    assert [size for lines in printed for size in lines] == sizes


@pytest.mark.parametrize(("now", "there"), [(Output.CLOSED, True), (Output.READY, False)])
def test_nothing_is_printed_without_a_reader(
    monkeypatch: pytest.MonkeyPatch, now: Output, there: bool
) -> None:
    reader = Reader(monkeypatch, now, there=there)
    log = reader.log("one")
    log.close()
    assert reader.messages == []
    assert not log.is_lost(), "the log must not count as lost"


def test_the_last_entries_are_lost_if_the_reader_left_behind_them(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = Reader(monkeypatch, Output.READY)
    log = reader.log("one")
    log.close()
    assert reader.messages == ["one"]
    assert not log.is_lost()
    reader.now = Output.CLOSED
    assert log.is_lost()
