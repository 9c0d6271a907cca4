# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hostile API servers beside one that works: their cost is bounded, and other clusters are not affected."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching import api as api_module
from tests.secret_events.integration.process import memory
from tests.support.nightly import some
from tests.support.relay import Listener
from tests.support.secret_events.api_server import CANARY, ApiServer
from tests.support.secret_events.source import entry, running, token_file
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("no_secret_anywhere")

NAME = ("kube-system", "additional-pull-secret")
MIB = 1024 * 1024
Answer = Callable[[str, asyncio.StreamWriter], Coroutine[Any, Any, None]]


def table(version: str = "5", rows: str = "[]") -> bytes:
    return (f'{{"kind": "Table", "metadata": {{"resourceVersion": "{version}"}}, "rows": {rows}}}').encode()


def event(kind: str, version: str) -> bytes:
    return b'{"type": "%s", "object": %s}\n' % (kind.encode(), table(version))


class Hostile(Listener):
    """Sends each request its given answer, and counts the requests by verb."""

    def __init__(self, answer: Answer) -> None:
        self.requests = {"list": 0, "watch": 0}
        self.watched_at: list[float] = []
        self._answer = answer

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            path = (await reader.readuntil(b"\r\n\r\n")).decode().split()[1]
            verb = "watch" if "watch=1" in path else "list"
            self.requests[verb] += 1
            if verb == "watch":
                self.watched_at.append(time.monotonic())
            await self._answer(verb, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


def begin(writer: asyncio.StreamWriter, **headers: str) -> None:
    lines = [f"HTTP/1.1 200 {CANARY}", "Content-Type: application/json", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode())


def sends(content: bytes, **headers: str) -> Answer:
    async def answer(unused: str, writer: asyncio.StreamWriter) -> None:
        begin(writer, **headers)
        writer.write(content)
        await writer.drain()

    return answer


@cache
def many_spaces() -> bytes:
    packer, part = zlib.compressobj(), b" " * MIB
    return b"".join(packer.compress(part) for _number in range(200)) + packer.flush()


async def packed(verb: str, writer: asyncio.StreamWriter) -> None:
    await sends(many_spaces(), Content_Encoding="deflate")(verb, writer)


def watched(*lines: bytes, endless: bool = False, pause: float | None = None) -> Answer:
    """A list, then watches that send these lines, forever if ``endless``."""

    async def answer(verb: str, writer: asyncio.StreamWriter) -> None:
        begin(writer)
        if verb == "list":
            writer.write(table())
            return
        while True:
            for line in lines:
                writer.write(line)
            await writer.drain()
            if not endless:
                return
            if pause is not None:
                await asyncio.sleep(pause)  # one chunk at a time

    return answer


async def endless_list(unused: str, writer: asyncio.StreamWriter) -> None:
    begin(writer)
    writer.write(b'{"kind": "Table", "rows": [')
    while True:
        writer.write(b'"' + CANARY.encode() * 4096 + b'",')
        await writer.drain()


GARBAGE: dict[str, Answer] = {
    "no HTTP": sends(b"", X="\r\n\r\n" + CANARY),
    "no JSON": sends(CANARY.encode()),
    "deep JSON": sends(b"[" * 200_000),
    "a list": sends(b"[]"),
    "a number": sends(b"1"),
    "another object": sends(b'{"kind": "Table", "metadata": "' + CANARY.encode() + b'"}'),
    "a version that is a text": sends(table(CANARY + " and more")),
    "a long version": sends(table("1" * 1000)),
    "endless": endless_list,
    "packed": packed,
    "a watch of garbage": watched(CANARY.encode() + b"\n"),
    "a watch of lists": watched(b"[]\n"),
    "a watch of other events": watched(event("CANARY", "6")),
    "a watch of an error without a code": watched(b'{"type": "ERROR", "object": "x"}\n'),
    "a line without an end": watched(b"x" * 65536, endless=True),
}


@asynccontextmanager
async def beside(hostile: Answer, token: str) -> AsyncIterator[tuple[Hostile, ApiServer, Any]]:
    async with ApiServer() as good, Hostile(hostile) as bad:
        entries = [entry("bad", bad.url, token), entry("good", good.url, token)]
        async with running(entries) as source:
            await until(lambda: good.watches == 1)
            yield bad, good, source


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_costs_little_and_is_not_quoted(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        before = memory()
        async with beside(GARBAGE[name], token_file(tmp_path)) as (bad, good, source):
            await source.until(lambda it: any(problem[0] == "bad" for problem in it.problems))
            for _number in range(3):
                version = str(good.change(*NAME))
                await source.until(lambda it, version=version: ("good", version) in names(it))
            assert sum(bad.requests.values()) <= 8
            assert CANARY not in json.dumps(source.events)
        assert memory() - before < 64 * 1024

    asyncio.run(scenario())
    assert "internal error" not in caplog.text


async def flooding_head(unused: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-Example: " + CANARY.encode() * 100 + b"\r\n")
        await writer.drain()


async def dripping_head(unused: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX-Example: ")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.1)  # no read of the client waits long


async def informational_heads(unused: str, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" * 10)
        await writer.drain()
        await asyncio.sleep(0.01)  # fast, but the client still gets other work done


@pytest.mark.parametrize("verb", ["list", "watch"])
@pytest.mark.parametrize("hostile", [flooding_head, dripping_head, informational_heads])
@pytest.mark.nightly
def test_a_head_without_an_end_is_given_up(
    hostile: Answer, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_module, "_BEGUN", 1)
    monkeypatch.setattr(api_module, "_CALL", 1)

    async def answer(asked: str, writer: asyncio.StreamWriter) -> None:
        if asked == verb:
            await hostile(asked, writer)
        begin(writer)
        writer.write(table())

    async def scenario() -> None:
        before = memory()
        async with beside(answer, token_file(tmp_path)) as (_bad, good, source):
            await source.until(lambda it: any(problem[0] == "bad" for problem in it.problems))
            version = str(good.change(*NAME))
            await source.until(lambda it: ("good", version) in names(it))
        assert memory() - before < 64 * 1024

    asyncio.run(scenario())


def test_a_storm_of_410_is_slowed_down(tmp_path: Path) -> None:
    gone = b'{"type": "ERROR", "object": {"code": 410}}\n'

    async def scenario() -> None:
        # Events come before each error, so that each watch seems to work.
        storm = watched(event("MODIFIED", "6"), event("BOOKMARK", "7"), gone)
        async with beside(storm, token_file(tmp_path)) as (bad, good, source):
            async with asyncio.timeout(60):
                while len(bad.watched_at) < 8:
                    await asyncio.sleep(0.01)
            # The first five come at once. Then the pauses begin, with at least 0.25 s and 0.5 s.
            assert bad.watched_at[7] - bad.watched_at[5] >= 0.75
            version = str(good.change(*NAME))
            await source.until(lambda it: ("good", "ADDED", version) in it.changes)
            # A bookmark is no change.
            assert ("bad", "7") not in names(source)

    asyncio.run(scenario())


def test_endless_events_leave_time_for_others_and_are_made_into_few(tmp_path: Path) -> None:
    async def scenario() -> None:
        lines = [event("MODIFIED", str(number)) for number in range(1000, 2000)]
        before = memory()
        async with beside(watched(*lines, endless=True), token_file(tmp_path)) as (_bad, good, source):
            begun = time.monotonic()
            seen = len(source.events)
            for _number in range(5):
                version = str(good.change(*NAME))
                await source.until(lambda it, version=version: ("good", version) in names(it))
            # Each of five waits for the batch delay of 0.05 s, and each batch has one event.
            took = time.monotonic() - begun
            assert len(source.events) - seen <= 2 + 2 * took / 0.05
        assert memory() - before < 64 * 1024

    asyncio.run(scenario())


def names(source: Any) -> set[tuple[str, str]]:
    return {(cluster, version) for cluster, _kind, version in source.changes}


def test_a_hundred_changes_a_second_are_few_events_and_the_last_one_counts(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with ApiServer() as server:
            one = entry("cls-1", server.url, token_file(tmp_path))
            async with running([one], batch={"delay": 1}) as source:
                await until(lambda: server.watches == 1)
                begun = time.monotonic()
                for _number in range(200):
                    version = str(server.change(*NAME))
                    await asyncio.sleep(0.01)  # a limited rate of events
                await source.until(lambda it: it.changes[-1:] == [("cls-1", "MODIFIED", version)])
                assert len(source.changes) <= 4 + time.monotonic() - begun

    asyncio.run(scenario())


@pytest.mark.parametrize("verb", some(["list", "watch"]))
@pytest.mark.nightly
def test_many_that_never_answer_hold_up_nobody(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_module, "_AT_ONCE", 4)
    monkeypatch.setattr(api_module, "_BEGUN", 3)
    monkeypatch.setattr(api_module, "_CALL", 3)

    attempts: list[str] = []

    async def never(asked: str, writer: asyncio.StreamWriter) -> None:
        if asked == verb:
            attempts.append(asked)
            await asyncio.Event().wait()
        begin(writer)
        writer.write(table())

    async def scenario() -> None:
        async with ApiServer() as good, Hostile(never) as bad:
            token = token_file(tmp_path)
            entries = [entry(f"bad-{number}", bad.url, token, f"ns-{number}") for number in range(40)]
            async with running([*entries, entry("good", good.url, token)]) as source:
                await source.until(lambda it: len({problem[0] for problem in it.problems}) > 4)
                await until(lambda: good.watches == 1)
                good.drop()
                await until(lambda: good.watches == 0)
                begun = len(attempts)
                await until(lambda: good.watches == 1)
                assert len(attempts) - begun < 40, "it must not wait for a round of all others' attempts"

    asyncio.run(scenario())
