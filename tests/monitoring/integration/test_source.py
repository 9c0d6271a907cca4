# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source with an AdapterConfig: its metrics count the events received and the runs' results."""

from __future__ import annotations

import asyncio
import contextlib
import json
import runpy
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from tests.lab.supervisor import free_ports
from tests.monitoring.unit.results import failure, row, success
from tests.support.adapter_events.engine import Engine
from tests.support.adapter_events.source import SOURCE, cloud_event


class Running(NamedTuple):
    """The running event source: its webhook takes events, and its port serves the metrics."""

    engine: Engine
    session: aiohttp.ClientSession
    events: str
    base_url: str

    async def post(self, body: bytes) -> None:
        async with self.session.post(self.events, data=body) as answer:
            assert answer.status in (202, 400), await answer.text()

    async def ready(self) -> int:
        try:
            async with self.session.get(self.base_url + "/readyz") as answer:
                return answer.status
        except aiohttp.ClientConnectionError:
            return 0

    async def metrics(self) -> dict[tuple[str, ...], float]:
        """The values, by name and labels."""
        async with self.session.get(self.base_url + "/metrics") as answer:
            text = await answer.text()
        families = text_string_to_metric_families(text)
        samples = [sample for family in families for sample in family.samples]
        return {(sample.name, *sample.labels.values()): sample.value for sample in samples}

    async def until(self, **expected: float) -> dict[tuple[str, ...], float]:
        """Wait until the adapter's metrics have these values; return all metrics."""
        async with asyncio.timeout(60):
            while True:
                found = await self.metrics()
                if all(found.get((f"pullsecret_{name}",)) == value for name, value in expected.items()):
                    return found
                await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def source(directory: Path, engine: Engine) -> AsyncIterator[Running]:
    listening, port = free_ports(2)
    config = directory / "adapter.json"
    spec = {
        "hyperfleetAPI": {"url": "http://127.0.0.1:9"},
        "jobTemplate": {"image": "registry.example.com/job:1"},
        "broker": {"type": "webhook", "listen": {"address": "127.0.0.1", "port": listening}},
        "batch": {"window": 0.1},
        "metrics": {"port": port, "address": "127.0.0.1"},
        "logging": {"format": "text"},
    }
    document = {
        "apiVersion": "hyperfleet.redhat.com/v1alpha1",
        "kind": "AdapterConfig",
        "metadata": {"name": "pullsecret-adapter"},
        "spec": spec,
    }
    config.write_text(json.dumps(document))
    main = runpy.run_path(str(SOURCE))["main"]
    arguments = {"adapter_config": str(config), "run_dir": str(directory / "runs")}
    task = asyncio.create_task(main(engine, arguments))
    try:
        async with aiohttp.ClientSession() as session:
            yield Running(engine, session, f"http://127.0.0.1:{listening}/", f"http://127.0.0.1:{port}")
            assert not task.done(), task.exception()
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await engine.close()


def found(cluster: str) -> dict[str, Any]:
    """A run's row for a cluster: cls-2 is not finished, the others are."""
    if cluster == "cls-2":
        return row(cluster, "failed", kind="unavailable", job=failure())
    return row(cluster, job_created=True, job=success())


def test_metrics_say_what_was_received_and_what_runs_wrote(tmp_path: Path) -> None:
    async def scenario() -> None:
        plays = ["die", "end"]
        engine = Engine(play=lambda number: plays[min(number, 1)], rows=found)
        async with source(tmp_path, engine) as running:
            async with asyncio.timeout(60):
                while await running.ready() != 200:
                    await asyncio.sleep(0.05)
            for number in (1, 2, 3):
                await running.post(cloud_event(f"cls-{number}"))
            await running.post(b"no event")
            metrics = await running.until(adapter_jobs_created_total=2, adapter_clusters_waiting=0)
            kind = "com.redhat.hyperfleet.cluster.reconcile"
            assert metrics["pullsecret_adapter_events_received_total", kind] == 3
            assert metrics["pullsecret_adapter_garbage_total", "not_json"] == 1
            assert metrics["pullsecret_adapter_events_processed_total", "garbage"] == 1
            assert metrics["pullsecret_adapter_events_processed_total", "success"] == 2
            assert metrics["pullsecret_adapter_events_processed_total", "failure"] == 1
            assert metrics["pullsecret_adapter_runs_total", "died"] >= 1
            assert metrics["pullsecret_adapter_failures_total", "unavailable"] == 1
            assert metrics["pullsecret_job_total", "failure"] == 1
            assert metrics["pullsecret_adapter_broker_connected",] == 1
            assert metrics["pullsecret_adapter_runs_active",] == 0

    asyncio.run(scenario())
