# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source with a webhook: its HTTP answers, and what it does with runs that end, die or never start."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import logging
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving import playbook_runs, receiver
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers import webhook as broker
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.cloud_events import LARGEST
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.http_limits import ConnectionLimiter
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.requeue import Requeue
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.run_directories import RunDirectory
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.support.adapter_events.engine import Engine, reported, write_result
from tests.support.adapter_events.source import cloud_event
from tests.support.adapter_events.webhook import Poster, webhook
from tests.support.waiting import until

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_events_are_collected_into_a_batch_for_one_run(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with webhook(tmp_path, Engine(lambda number: "end" if number else "hold")) as (engine, post):
            # The others arrive during a run, so they are in one batch, however slow the machine is.
            assert await post(cloud_event("cls-0")) == 202
            await engine.until(lambda engine: bool(engine.at_work))
            assert await post(cloud_event("cls-1", traceparent=TRACE)) == 202
            assert await post(cloud_event("cls-2"), content_type="application/cloudevents+json") == 202
            assert await post(b'{"id": "cls-3"}', ce_type="cluster.create", ce_id="1") == 202
            assert await post(cloud_event("cls-1")) == 202
            engine.go.set()
            await engine.until(lambda engine: engine.ended == 2)
            assert engine.batches == [["cls-0"], ["cls-1", "cls-2", "cls-3"]]
            assert engine.events[1]["traceparents"] == {"cls-1": TRACE}
            # The source deletes a run's directory when the run has ended.
            await until(lambda: not Path(engine.events[1]["run"]).exists())
        assert not list((tmp_path / "runs").iterdir())

    asyncio.run(scenario())


def test_garbage_is_taken_and_blocks_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def scenario() -> None:
        async with webhook(tmp_path) as (engine, post):
            for body in (b"", b"[", b'{"data": {"id": "../x"}}', b'"s3cret-garbage"'):
                assert await post(body) == 202
            assert await post(b" " * (LARGEST + 1)) == 413
            assert await post(cloud_event("cls-1")) == 202
            await engine.until(lambda engine: engine.ended == 1)
            assert engine.clusters == ["cls-1"]
            assert engine.told.words.count("too_large") == 1

    asyncio.run(scenario())
    assert caplog.text.count("an unusable message was acknowledged") >= 4
    assert caplog.text.count("an unusable message was refused: too_large") == 1
    assert "s3cret-garbage" not in caplog.text


def test_a_message_full_of_garbage_is_one_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with webhook(tmp_path) as (_engine, post):
            caplog.clear()
            assert await post(b"[" + b"7," * 999 + b"{}]") == 202

    asyncio.run(scenario())
    said = [line for line in caplog.messages if "an unusable message" in line]
    assert said == ["an unusable message was acknowledged: not_an_event, no_data"]


def test_only_requests_with_the_token_are_accepted(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first-token\n")

    async def scenario() -> None:
        async with webhook(tmp_path, broker={"tokenFile": str(token)}) as (engine, post):
            assert await post(cloud_event("cls-1")) == 401
            assert await post(cloud_event("cls-1"), authorization="Bearer other") == 401
            assert await post(cloud_event("cls-2"), authorization="Bearer first-token") == 202
            token.write_text("second-token-longer\n")
            assert await post(cloud_event("cls-3"), authorization="Bearer first-token") == 401
            assert await post(cloud_event("cls-4"), authorization="Bearer second-token-longer") == 202
            await engine.until(lambda engine: len(engine.clusters) == 2)
            assert engine.clusters == ["cls-2", "cls-4"]

    asyncio.run(scenario())


def test_above_prefetch_requests_are_refused_until_the_run_has_ended(tmp_path: Path) -> None:
    async def scenario() -> None:
        engine = Engine(lambda _number: "hold")
        async with webhook(tmp_path, engine, {"prefetch": 3}) as (_engine, post):
            assert [await post(cloud_event(f"cls-{one}")) for one in range(4)] == [202, 202, 202, 503]
            engine.go.set()
            await engine.until(
                lambda engine: len(engine.clusters) == 3 and engine.ended == len(engine.batches)
            )
            await until(lambda: not engine.at_work)
            async with asyncio.timeout(60):
                while (answer := await post(cloud_event("cls-3"))) != 202:
                    assert answer == 503
                    await asyncio.sleep(0.05)

    asyncio.run(scenario())


async def send(post: Poster, head: str, length: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Send the head of a request, without the body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(post.url.split(":")[2].split("/")[0]))
    writer.write(
        f"POST /events HTTP/1.1\r\nHost: x\r\n{head}Content-Length: {length}\r\n\r\n".encode("ascii")
    )
    await writer.drain()
    return reader, writer


async def answer(reader: asyncio.StreamReader) -> int:
    async with asyncio.timeout(60):
        return int((await reader.readline()).split()[1])


@pytest.mark.parametrize("expect", ["", "Expect: 100-continue\r\n"])
def test_a_request_is_refused_by_its_head(tmp_path: Path, expect: str) -> None:
    """The test sends no body: a server that waited for the body would not answer."""
    (tmp_path / "token").write_text("the-token")
    allowed = f"Authorization: Bearer the-token\r\n{expect}"

    async def scenario() -> None:
        engine = Engine(lambda _number: "hold")
        token = {"tokenFile": str(tmp_path / "token"), "prefetch": 1}
        async with webhook(tmp_path, engine, token) as (_engine, post):
            writers = []
            for head, length, code in (
                (expect, LARGEST + 1, 401),
                (f"Authorization: Bearer other\r\n{expect}", 10, 401),
                (allowed, LARGEST + 1, 413),
            ):
                reader, writer = await send(post, head, length)
                assert await answer(reader) == code
                writers.append(writer)
            assert engine.told.words == ["too_large"]
            assert await post(cloud_event("cls-1"), authorization="Bearer the-token") == 202
            reader, writer = await send(post, allowed, 10)
            assert await answer(reader) == 503
            for one in (*writers, writer):
                one.close()
            engine.go.set()
            await engine.until(lambda engine: engine.ended == 1)

    asyncio.run(scenario())


def test_a_request_counts_against_prefetch_while_its_body_arrives(tmp_path: Path) -> None:
    """Otherwise any number of bodies could be in memory at the same time."""

    async def scenario() -> None:
        async with webhook(tmp_path, broker={"prefetch": 2}) as (engine, post):
            body = cloud_event("cls-1")
            (reader, writer), (_other, gone) = [await send(post, "", len(body)) for _number in range(2)]

            async def refused() -> bool:
                return await post(cloud_event("cls-2")) == 503

            while not await refused():
                await asyncio.sleep(0.02)
            # A closed connection frees its slot.
            gone.close()
            while await refused():
                await asyncio.sleep(0.02)
            writer.write(body)
            assert await answer(reader) == 202
            writer.close()
            await engine.until(lambda engine: {"cls-1", "cls-2"} <= set(engine.clusters))

    asyncio.run(scenario())


def test_an_invalid_request_is_not_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A token with a character that no header may contain is still a secret."""
    (tmp_path / "token").write_text("the-token")
    broken = "Authorization: Bearer the-token\x01\r\n"
    squeezed = "Authorization: Bearer the-token\r\nContent-Encoding: gzip\r\n"

    async def scenario() -> None:
        async with webhook(tmp_path, broker={"tokenFile": str(tmp_path / "token")}) as (_engine, post):
            for head in (broken, squeezed):
                reader, writer = await send(post, head, 9)
                writer.write(b"the-token")
                assert await answer(reader) == 400
                await reader.read()
                writer.close()

    asyncio.run(scenario())
    assert "BadHttpMessage" in caplog.text
    assert "the-token" not in caplog.text
    assert "Traceback" not in caplog.text


def test_silent_connections_do_not_block_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "ConnectionLimiter", partial(ConnectionLimiter, most=3, head=4.0))

    async def scenario() -> None:
        async with webhook(tmp_path) as (engine, post):
            host, port = post.url.split("/")[2].split(":")
            idle = [await asyncio.open_connection(host, int(port)) for _number in range(6)]
            for _reader, writer in idle:
                writer.write(b"POST /events HTTP/1.1\r\n")
            with pytest.raises(aiohttp.ClientConnectionError):
                await post(cloud_event("cls-1"))
            async with asyncio.timeout(60):
                for reader, writer in idle:
                    with contextlib.suppress(ConnectionError):
                        await reader.read()
                    writer.close()
            assert await post(cloud_event("cls-1")) == 202
            await engine.until(lambda engine: engine.clusters == ["cls-1"])

    asyncio.run(scenario())


def test_a_list_of_thousands_is_taken_whole(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with webhook(tmp_path) as (engine, post):
            body = json.dumps([{"data": {"id": f"cls-{number}"}} for number in range(2500)]).encode()
            assert await post(body) == 202
            await engine.until(lambda engine: len(engine.clusters) == 2500)
            assert engine.told.events == 2500
            assert [len(batch) for batch in engine.batches] == [1000, 1000, 500]
            await until(lambda: engine.told.done["success"] == 1)

    asyncio.run(scenario())


def test_a_cluster_that_a_stopped_run_did_not_begin_is_in_the_next_run(tmp_path: Path) -> None:
    """The source keeps the cluster's message until a run has handled the cluster."""

    async def scenario() -> None:
        engine = Engine()

        def play(number: int) -> str:
            engine.go.clear()
            return "end" if number == 1 else "hold"

        def rows(cluster: str) -> dict[str, Any]:
            if cluster == "cls-2" and len(engine.batches) == 2:
                return {**reported(cluster), "outcome": "failed", "kind": "stopped", "again": 2.0}
            return reported(cluster)

        engine.play, engine.rows = play, rows
        async with webhook(tmp_path, engine, batch={"size": 2}) as (_engine, post):
            # Both events arrive during a run, so they are in one batch, however slow the machine is.
            assert await post(cloud_event("cls-0")) == 202
            await engine.until(lambda engine: bool(engine.at_work))
            assert [await post(cloud_event(f"cls-{one}")) for one in (1, 2)] == [202, 202]
            engine.go.set()
            await engine.until(lambda engine: engine.at_work == {"cls-2"} and len(engine.batches) == 3)
            # The message of cls-2 is not acknowledged yet: its run did not begin it.
            await until(lambda: engine.told.done == {"success": 2})
            engine.go.set()
            await engine.until(lambda engine: engine.ended == 3)
            assert engine.batches == [["cls-0"], ["cls-1", "cls-2"], ["cls-2"]]
            await until(lambda: engine.told.done == {"success": 3})

    asyncio.run(scenario())


def test_while_a_run_is_at_work_events_are_collected_for_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = looks_for_results(monkeypatch)

    async def scenario() -> None:
        engine = Engine(lambda number: "hold" if number == 0 else "end")
        async with webhook(tmp_path, engine, batch={"size": 3, "window": 0.05}) as (_engine, post):
            await post(cloud_event("cls-1"))
            await engine.until(lambda engine: bool(engine.at_work))
            for one in (1, 2, 1, 3, 1, 4, 5):
                await post(cloud_event(f"cls-{one}"))
            # The source polls once a window. More than one full batch waits, and still only one run is active.
            before = len(looks)
            await until(lambda: len(looks) > before + 4)
            assert engine.batches == [["cls-1"]]
            engine.go.set()
            await engine.until(lambda engine: engine.ended == 3)
            assert engine.batches == [["cls-1"], ["cls-1", "cls-2", "cls-3"], ["cls-4", "cls-5"]]

    asyncio.run(scenario())


def looks_for_results(monkeypatch: pytest.MonkeyPatch) -> list[RunDirectory]:
    """Record the directories in which the source looks for a result, in order."""
    looks: list[RunDirectory] = []
    look = RunDirectory.result

    def result(directory: RunDirectory) -> Any:
        looks.append(directory)
        return look(directory)

    monkeypatch.setattr(RunDirectory, "result", result)
    return looks


def test_a_run_that_dies_is_repeated_and_given_up_in_the_end(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        engine = Engine(lambda number: "die" if number < 3 else "end")
        async with webhook(tmp_path, engine, tries=3) as (_engine, post):
            await post(cloud_event("cls-1"))
            await engine.until(lambda engine: engine.ended == 3)
            assert engine.batches == [["cls-1"]] * 3
            # Each run has its own directory.
            assert len({event["run"] for event in engine.events}) == 3
            await until(lambda: "gave up" in caplog.text)
            await post(cloud_event("cls-1"))
            await engine.until(lambda engine: engine.ended == 4)

    asyncio.run(scenario())
    assert "gave up on clusters cls-1" in caplog.text


def test_a_run_that_does_not_begin_is_repeated(tmp_path: Path) -> None:
    async def scenario() -> None:
        engine = Engine(lambda number: "never" if number == 0 else "end")
        async with webhook(tmp_path, engine, start_timeout=3) as (_engine, post):
            await post(cloud_event("cls-1"))
            await engine.until(lambda engine: engine.ended == 2)
            assert engine.batches == [["cls-1"], ["cls-1"]]
            # The source removed the directory, so the first run would find no lock file if it started now.
            assert not (Path(engine.events[0]["run"]) / "lock").exists()

    asyncio.run(scenario())


def test_a_run_that_is_slow_to_begin_is_waited_for_while_the_engine_is_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from types import SimpleNamespace

    semaphore = SimpleNamespace(_value=0)
    settings = SimpleNamespace(max_actions_semaphore=semaphore, max_concurrent_actions=1)
    monkeypatch.setitem(
        __import__("sys").modules, "ansible_rulebook.conf", SimpleNamespace(settings=settings)
    )

    looks: list[RunDirectory] = []

    def is_locked(directory: RunDirectory) -> bool:
        looks.append(directory)
        return False

    monkeypatch.setattr(RunDirectory, "is_locked", is_locked)

    async def scenario() -> None:
        engine = Engine(lambda _number: "never")
        async with webhook(tmp_path, engine, start_timeout=0.2) as (_engine, post):
            await post(cloud_event("cls-1"))
            # The source polls at intervals of start_timeout.
            await until(lambda: len(looks) > 5)
            assert len(engine.batches) == 1
            semaphore._value = 1
            await engine.until(lambda engine: len(engine.batches) == 2)

    asyncio.run(scenario())


def test_a_cluster_is_requeued_without_an_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float | None] = []

    class NotedRequeue(Requeue):
        """Freezes its clock while it reads a result, so that the recorded pause is exact."""

        def observe(self, row: Mapping[str, Any]) -> None:
            now = self._clock()
            with monkeypatch.context() as frozen:
                frozen.setattr(self, "_clock", lambda: now)
                super().observe(row)
                pauses.append(self.seconds_until_due())

    monkeypatch.setattr(receiver, "Requeue", NotedRequeue)

    async def scenario() -> None:
        engine = Engine()

        def rows(cluster: str) -> dict[str, Any]:
            again = 0.5 if len(engine.batches) < 4 else None
            return {**reported(cluster), "state": "running", "reason": "JobRunning", "again": again}

        engine.rows = rows
        async with webhook(tmp_path, engine) as (_engine, post):
            await post(cloud_event("cls-1"))
            # After the last result no further run is planned.
            await until(lambda: len(pauses) == 4)
            assert pauses == [pytest.approx(0.5), pytest.approx(1.0), pytest.approx(2.0), None]
            assert engine.batches == [["cls-1"]] * 4

    asyncio.run(scenario())


def test_what_a_killed_process_left_is_removed_and_its_run_waited_for(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir(mode=0o700)
    for name in ("dead", "alive"):
        run = runs / name / "1"
        run.mkdir(parents=True)
        (run / "lock").touch()
        (run / "run.json").write_text(json.dumps({"clusters": ["cls-1", "cls-2"]}))
        (runs / name / "owner").touch()

    async def scenario() -> None:
        with (runs / "alive/1/lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            async with webhook(tmp_path) as (engine, post):
                assert not (runs / "dead").exists()
                await post(cloud_event("cls-1"))
                await post(cloud_event("cls-3"))
                await engine.until(lambda engine: engine.ended == 1)
                assert engine.batches == [["cls-3"]]
                write_result(runs / "alive/1", ["cls-1", "cls-2"])
                fcntl.flock(lock, fcntl.LOCK_UN)
                await engine.until(lambda engine: engine.ended == 2)
                assert engine.batches == [["cls-3"], ["cls-1"]]
                assert not (runs / "alive").exists()

    asyncio.run(scenario())


def test_another_process_that_lives_keeps_its_runs(tmp_path: Path) -> None:
    async def scenario() -> None:
        engine = Engine(lambda _number: "never")
        async with webhook(tmp_path, engine) as (_engine, post):
            await post(cloud_event("cls-1"))
            await engine.until(lambda engine: engine.ended == 1)
            async with webhook(tmp_path) as (other, post_other):
                await post_other(cloud_event("cls-2"))
                await other.until(lambda other: other.ended == 1)
                # The run has not started: its lock is free.
                assert Path(engine.events[0]["run"]).exists()
            assert len(engine.batches) == 1

    asyncio.run(scenario())


def test_a_directory_that_was_cleaned_up_is_created_again(tmp_path: Path) -> None:
    """Programs that clean up temporary files delete directories that are still in use."""

    async def scenario() -> None:
        async with webhook(tmp_path) as (engine, post):
            await post(cloud_event("cls-1"))
            await engine.until(lambda engine: engine.ended == 1)
            await until(lambda: not Path(engine.events[0]["run"]).exists())
            shutil.rmtree(tmp_path / "runs")
            await post(cloud_event("cls-2"))
            await engine.until(lambda engine: engine.ended == 2)
            assert engine.clusters == ["cls-1", "cls-2"]
            assert (tmp_path / "runs").stat().st_mode & 0o777 == 0o700
        assert not list((tmp_path / "runs").iterdir())

    asyncio.run(scenario())


def test_a_directory_that_cannot_be_made_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The error stands for a disk that is full for a while; the event must not be lost."""
    monkeypatch.setattr(playbook_runs, "_DISK_FULL_PAUSE_SECONDS", 0.05)

    async def scenario() -> None:
        async with webhook(tmp_path) as (engine, post):
            (own,) = (tmp_path / "runs").iterdir()
            (own / "1").write_text("in the way")
            await post(cloud_event("cls-1"))
            await engine.until(lambda engine: engine.ended == 1)
            assert engine.clusters == ["cls-1"]

    asyncio.run(scenario())
    said = f"run_dir {tmp_path / 'runs'}: cannot create a directory for a run (File exists); trying again"
    assert said in caplog.text
    assert "internal error" not in caplog.text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "one of adapter_config and broker"),
        ({"broker": {"type": "kafka"}}, "broker.type must be one of gcp-pubsub, rabbitmq, webhook"),
        ({"broker": {"type": "webhook", "listen": "here"}}, "broker.listen must be an address"),
        ({"broker": {"type": "webhook", "listen": ":1", "x": 1}}, "unknown keys: x"),
        (
            {"broker": {"type": "webhook", "listen": ":1"}},
            "token_file is required unless broker.listen is a loopback address",
        ),
        (
            {"broker": {"type": "webhook", "listen": "0.0.0.0:1"}},
            "token_file is required unless broker.listen is a loopback address",
        ),
        (
            {"broker": {"type": "webhook", "listen": "127.example.com:1"}},
            "token_file is required unless broker.listen is a loopback address",
        ),
        (
            {"broker": {"type": "webhook", "listen": {"address": "::"}}},
            "token_file is required unless broker.listen is a loopback address",
        ),
        ({"broker": {"type": "webhook", "listen": ":1"}, "batch": {"size": 1001}}, "size must be a number"),
        (
            {"broker": {"type": "rabbitmq", "topic": "t", "subscription": "s"}},
            (
                "set either broker.url or broker.url_file, not both; or set neither, and set the environment "
                "variable BROKER_RABBITMQ_URL"
            ),
        ),
        (
            {"broker": {"type": "rabbitmq", "topic": "t", "subscription": "s", "url": "x:s3cret"}},
            "must be an amqp",
        ),
        ({"broker": {"type": "gcp-pubsub", "projectId": "p"}}, "broker.subscription is missing"),
        (
            {"broker": {"type": "gcp-pubsub", "subscription": "s"}},
            "broker.projectId is missing; set it or GOOGLE_CLOUD_PROJECT",
        ),
        ({"broker": {"type": "gcp-pubsub", "projectId": "p/q", "subscription": "s"}}, "must be the names"),
        (
            {"broker": {"type": "webhook"}, "run_dir": ["/tmp/runs"]},
            "run_dir must be the path of a directory",
        ),
        (
            {"broker": {"type": "webhook"}, "run_dir": "/tmp/\0runs"},
            "run_dir must be the path of a directory",
        ),
    ],
)
def test_options_that_cannot_be_used_end_it_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: Any, words: str
) -> None:
    from tests.support.adapter_events.source import SOURCE

    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    main = __import__("runpy").run_path(str(SOURCE))["main"]
    with pytest.raises(ConfigurationError, match=words) as error:
        asyncio.run(asyncio.wait_for(main(Engine(), {"run_dir": str(tmp_path / "runs"), **options}), 60))
    assert "s3cret" not in str(error.value)


def test_a_directory_that_others_can_read_is_refused(tmp_path: Path) -> None:
    from tests.support.adapter_events.source import SOURCE

    main = __import__("runpy").run_path(str(SOURCE))["main"]
    (tmp_path / "runs").mkdir(mode=0o755)
    broker = {"type": "webhook", "listen": "127.0.0.1:0"}
    with pytest.raises(ConfigurationError, match="only this user can access"):
        asyncio.run(main(Engine(), {"run_dir": str(tmp_path / "runs"), "broker": broker}))
