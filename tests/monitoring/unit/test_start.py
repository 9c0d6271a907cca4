# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Monitoring starts and stops as the configuration says."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import socket
from types import SimpleNamespace

import aiohttp
import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.recorder import MonitoringRecorder
from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.start import start_monitoring
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.recorder import ActivityRecorder
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.lab.supervisor import free_ports


def configuration(port: int, *, form: str = "json", per_cluster: bool = False) -> SimpleNamespace:
    return SimpleNamespace(
        metrics=SimpleNamespace(port=port, address="127.0.0.1", per_cluster=per_cluster),
        logging=SimpleNamespace(level="info", format=form),
    )


def test_the_port_is_served_and_the_log_is_json_until_it_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    logger = logging.getLogger("hyperfleet.pull_secret.cluster_events")

    async def scenario() -> None:
        (port,) = free_ports(1)
        async with (
            aiohttp.ClientSession() as session,
            start_monitoring(configuration(port, per_cluster=True)) as recorder,
        ):
            recorder.broker(True)
            recorder.run_ended({"clusters": [{"id": "cls-1", "job_created": True}]}, 1.0)
            for path, said in (("/healthz", "ok"), ("/readyz", "ok"), ("/metrics", 'cluster_id="cls-1"')):
                async with session.get(f"http://127.0.0.1:{port}{path}") as answer:
                    assert answer.status == 200
                    assert said in await answer.text()
            logger.info("a line")
        # The port is free again, and later log lines are not written.
        async with start_monitoring(configuration(port)):
            pass
        logger.info("no line")

    asyncio.run(scenario())
    (line,) = map(json.loads, stream.getvalue().splitlines())
    assert line["message"] == "a line"


def test_without_a_port_nothing_is_served_and_all_can_be_told() -> None:
    async def scenario() -> None:
        for config, kind in ((None, ActivityRecorder), (configuration(0, form="text"), MonitoringRecorder)):
            async with start_monitoring(config) as recorder:
                assert recorder.__class__ is kind
                recorder.event("type")
                recorder.run_started()
                recorder.run_ended(None, 1.0)
                if isinstance(recorder, MonitoringRecorder):
                    assert recorder.state.run_begins == []

    asyncio.run(scenario())


def test_a_port_that_is_taken_ends_it_at_the_start_and_leaves_the_log_alone() -> None:
    logger = logging.getLogger("hyperfleet.pull_secret")
    before = logger.level, logger.propagate, list(logger.handlers)

    async def scenario() -> None:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            one.listen()
            with pytest.raises(ConfigurationError, match=r"metrics\.port"):
                async with start_monitoring(configuration(one.getsockname()[1])):
                    pytest.fail("it was opened")

    asyncio.run(scenario())
    assert (logger.level, logger.propagate, logger.handlers) == before
