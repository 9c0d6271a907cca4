# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The event source with an AdapterConfig: it uses the broker, batch and metrics settings of the config."""

from __future__ import annotations

import asyncio
import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.lab.supervisor import free_ports
from tests.support.adapter_events.engine import Engine
from tests.support.adapter_events.source import SOURCE, cloud_event
from tests.support.adapter_events.webhook import Poster


def write(directory: Path, broker: dict[str, Any] | None) -> str:
    spec: dict[str, Any] = {
        "hyperfleetAPI": {"url": "http://127.0.0.1:1"},
        "jobTemplate": {"image": "registry.example.com/pullsecret:1"},
        "batch": {"size": 2, "window": "0.2s"},
        "metrics": {"port": 0},
    }
    if broker is not None:
        spec["broker"] = broker
    path = directory / "adapter.yml"
    path.write_text(
        json.dumps(
            {
                "apiVersion": "hyperfleet.redhat.com/v1alpha1",
                "kind": "AdapterConfig",
                "metadata": {"name": "pullsecret-adapter"},
                "spec": spec,
            }
        )
    )
    return str(path)


def test_its_broker_and_its_batch_are_used(tmp_path: Path) -> None:
    port = free_ports(1)[0]
    config = write(tmp_path, {"type": "webhook", "listen": {"port": port}})

    async def scenario() -> None:
        main = runpy.run_path(str(SOURCE))["main"]
        # The others arrive during the first run, however slow the machine is.
        engine = Engine(lambda number: "end" if number else "hold")
        arguments = {"adapter_config": config, "run_dir": str(tmp_path / "runs")}
        task = asyncio.create_task(main(engine, arguments))
        try:
            post = Poster(f"http://127.0.0.1:{port}/")
            await post.is_up()
            assert await post(cloud_event("first")) == 202
            await engine.until(lambda engine: bool(engine.at_work))
            for one in range(3):
                assert await post(cloud_event(f"cls-{one}")) == 202
            engine.go.set()
            await engine.until(lambda engine: engine.ended == 3)
            assert engine.batches == [["first"], ["cls-0", "cls-1"], ["cls-2"]]
            assert not task.done()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("broker", "queue"),
    [
        ({"topic": "clusters", "subscription": "sub"}, "clusters-sub"),
        ({"exchange": "clusters", "queue": "own"}, "own"),
    ],
)
def test_a_rabbitmq_has_the_names_that_the_configuration_gives(
    tmp_path: Path, broker: dict[str, Any], queue: str
) -> None:
    settings = runpy.run_path(str(SOURCE))["parse_cluster_events_settings"]
    config = write(tmp_path, {"type": "rabbitmq", "url": "amqp://127.0.0.1:5673/", **broker})
    found = settings({"adapter_config": config}).broker
    assert (found.exchange, found.queue, found.exchange_type) == ("clusters", queue, "topic")
    assert (found.prefetch, found.address.place) == (4, "127.0.0.1:5673")


def test_one_without_a_broker_is_refused(tmp_path: Path) -> None:
    settings = runpy.run_path(str(SOURCE))["parse_cluster_events_settings"]
    with pytest.raises(ConfigurationError, match=r"spec\.broker is missing"):
        settings({"adapter_config": write(tmp_path, None)})


@pytest.mark.parametrize("path", ["adapter.yml", "./adapter.yml", "~/adapter.yml"])
def test_a_path_that_the_runs_would_not_find_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    write(tmp_path, {"type": "webhook"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = runpy.run_path(str(SOURCE))["parse_cluster_events_settings"]
    with pytest.raises(ConfigurationError, match=r"^adapter_config must be an absolute path"):
        settings({"adapter_config": path})


@pytest.mark.parametrize("content", [None, "", "http://lab:s3cret@127.0.0.1:1/"])
def test_what_is_wrong_at_the_broker_is_called_as_the_configuration_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    monkeypatch.delenv("BROKER_RABBITMQ_URL", raising=False)
    url = tmp_path / "url"
    if content is not None:
        url.write_text(content)
    given = {"type": "rabbitmq", "urlFile": str(url), "topic": "clusters", "subscription": "sub"}
    settings = runpy.run_path(str(SOURCE))["parse_cluster_events_settings"]
    with pytest.raises(ConfigurationError, match=r"^spec\.broker\.urlFile") as error:
        settings({"adapter_config": write(tmp_path, given)})
    assert "s3cret" not in str(error.value)
