# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The answers to health probes and to Prometheus."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring import http_server as server_module
from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.http_server import MonitoringServer
from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.recorder import MonitoringRecorder
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.monitoring.unit.results import result, row, success
from tests.monitoring.unit.test_metrics import Clock


class Asked:
    """The server over real HTTP."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self._session = session
        self._url = url

    async def get(self, path: str, **headers: str) -> tuple[int, str, str]:
        """Returns status, content type and body."""
        async with self._session.get(self._url + path, headers=headers) as answer:
            return answer.status, answer.headers["Content-Type"], await answer.text()

    async def ready(self) -> tuple[int, dict[str, Any]]:
        async with self._session.get(self._url + "/readyz") as answer:
            return answer.status, await answer.json()


@contextlib.asynccontextmanager
async def served(recorder: MonitoringRecorder) -> AsyncIterator[Asked]:
    server = MonitoringServer(recorder, port=0, host="127.0.0.1")
    port = await server.start()
    try:
        async with aiohttp.ClientSession() as session:
            yield Asked(session, f"http://127.0.0.1:{port}")
    finally:
        await server.close()


def test_ready_is_who_is_configured_and_connected_and_has_no_run_that_hangs() -> None:
    async def scenario() -> None:
        clock = Clock()
        recorder = MonitoringRecorder(hung_after=60.0, clock=clock)
        async with served(recorder) as asked:
            assert await asked.ready() == (
                503,
                {
                    "status": "not ready",
                    "problems": {"configuration": "not loaded", "broker": "not connected"},
                },
            )
            recorder.configured()
            recorder.broker(True)
            assert await asked.ready() == (200, {"status": "ok"})
            recorder.broker(False)
            assert (await asked.ready())[0] == 503
            recorder.broker(True)

            # Two runs overlap; the first one hangs.
            recorder.run_started()
            clock.now += 50
            recorder.run_started()
            clock.now += 5
            recorder.run_ended(result(), 5.0)
            assert (await asked.ready())[0] == 200
            clock.now += 6
            assert await asked.ready() == (
                503,
                {"status": "not ready", "problems": {"run": "has not ended for 61 s"}},
            )
            # It stays alive: a restart would end the run.
            assert (await asked.get("/healthz"))[0] == 200
            recorder.run_ended(None, 61.0)
            assert (await asked.ready())[0] == 200

    asyncio.run(scenario())


def test_a_run_that_ends_twice_does_no_harm() -> None:
    recorder = MonitoringRecorder()
    recorder.run_ended(None, 1.0)
    recorder.run_started()
    recorder.run_ended(None, 1.0)
    recorder.run_ended(None, 1.0)
    assert not recorder.state.run_begins


def test_metrics_are_what_prometheus_reads() -> None:
    async def scenario() -> None:
        recorder = MonitoringRecorder(per_cluster=True)
        recorder.run_ended(result(row("cls-1", job_created=True, job=success())), 1.0)
        async with served(recorder) as asked:
            status, kind, text = await asked.get("/metrics")
            assert (status, kind.partition(";")[0]) == (200, "text/plain")
            read = {family.name: family for family in text_string_to_metric_families(text)}
            assert read["pullsecret_job_duration_seconds"].samples[0].value == 12.5
            assert "process_resident_memory_bytes" in read
            assert "_created " not in text

            status, kind, text = await asked.get(
                "/metrics", Accept="application/openmetrics-text; version=1.0.0"
            )
            assert (status, kind.partition(";")[0]) == (200, "application/openmetrics-text")
            assert text.endswith("# EOF\n")

    asyncio.run(scenario())


def test_nothing_else_is_answered() -> None:
    async def scenario() -> None:
        async with served(MonitoringRecorder()) as asked:
            assert (await asked.get("/"))[0] == 404
            assert (await asked.get("/metrics/../readyz"))[0] == 503
            async with aiohttp.ClientSession() as session, session.post(asked._url + "/metrics") as answer:
                assert answer.status == 405

    asyncio.run(scenario())


def test_clients_that_never_finish_a_request_delay_no_other() -> None:
    async def scenario() -> None:
        async with served(MonitoringRecorder()) as asked:
            port = int(asked._url.rpartition(":")[2])
            silent = [socket.create_connection(("127.0.0.1", port)) for unused_one in range(50)]
            for one in silent:
                one.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Never-Ends: ")
            async with asyncio.timeout(60):
                assert (await asked.get("/healthz"))[0] == 200
            for one in silent:
                one.close()

    asyncio.run(scenario())


def test_who_stops_reading_does_not_keep_it_from_ending(monkeypatch: pytest.MonkeyPatch) -> None:
    # More than the socket buffers on both sides hold.
    monkeypatch.setattr(server_module, "choose_encoder", lambda _accept: (lambda _: bytes(64 << 20), "a/b"))

    async def scenario() -> None:
        server = MonitoringServer(MonitoringRecorder(), port=0, host="127.0.0.1")
        port = await server.start()
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        async with asyncio.timeout(60):
            await server.close()
        writer.transport.abort()

    asyncio.run(scenario())


def test_a_loop_that_does_not_turn_answers_no_probe() -> None:
    async def scenario() -> None:
        stuck, begun = threading.Event(), threading.Event()
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        server = MonitoringServer(MonitoringRecorder(), port=0, host="127.0.0.1")
        port = asyncio.run_coroutine_threadsafe(server.start(), loop).result(60)
        async with aiohttp.ClientSession() as session:
            asked = Asked(session, f"http://127.0.0.1:{port}")
            assert (await asked.get("/healthz"))[0] == 200

            def stop() -> None:
                begun.set()
                stuck.wait(120)

            loop.call_soon_threadsafe(stop)
            assert await asyncio.to_thread(begun.wait, 60)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await asked.get("/healthz")
            stuck.set()
            assert (await asked.get("/healthz"))[0] == 200
        await asyncio.to_thread(asyncio.run_coroutine_threadsafe(server.close(), loop).result, 60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()

    asyncio.run(scenario())


def test_a_port_that_is_taken_is_a_word_of_the_configuration() -> None:
    async def scenario() -> None:
        server = MonitoringServer(MonitoringRecorder(), port=0, host="127.0.0.1")
        port = await server.start()
        other = MonitoringServer(MonitoringRecorder(), port=port, host="127.0.0.1")
        with pytest.raises(
            ConfigurationError, match=rf"metrics.port: cannot listen on port {port}: .*in use"
        ):
            await other.start()
        await server.close()
        # The port is free again.
        await other.start()
        await other.close()

    asyncio.run(scenario())
