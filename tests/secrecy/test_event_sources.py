# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event sources: no secret in an event, in a run's directory or in a log at any verbosity."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from tests.support.adapter_events.source import cloud_event
from tests.support.adapter_events.webhook import webhook
from tests.support.secrecy.canary import Canary
from tests.support.secrecy.needles import Evidence, Needles
from tests.support.secret_events.api_server import CANARY, TOKEN, ApiServer
from tests.support.secret_events.source import entry, token_file
from tests.support.secret_events.source import running as watching

__all__ = ["EVENT_SOURCES"]


async def _cluster_events(canary: Canary, directory: Path) -> list[Evidence]:
    """Events and invalid messages with canaries in every part, and callers with a wrong token."""
    token = directory / "token"
    token.write_text(canary.extra[0])
    async with webhook(directory, broker={"tokenFile": str(token)}) as (engine, post):
        right = {"Authorization": f"Bearer {canary.extra[0]}"}
        assert await post(cloud_event("cls-1"), Authorization=f"Bearer {canary.extra[1]}") == 401
        for body in (
            cloud_event("cls-1", pullsecret=canary.text, traceparent=canary.entries[0].token),
            cloud_event("cls-2", data={"id": "cls-2", "spec": {"pullSecret": {"data": canary.text}}}),
            cloud_event(canary.text),
            canary.text.encode(),
            json.dumps([canary.document]).encode(),
        ):
            assert await post(body, **right) == 202
        await engine.until(lambda engine: engine.ended >= 1)
        clusters = {cluster for batch in engine.batches for cluster in batch}
        assert clusters == {"cls-1", "cls-2"}
        return [Evidence("event", "cluster_events", json.dumps(event).encode()) for event in engine.events]


async def _kubernetes_secret(_canary: Canary, directory: Path) -> list[Evidence]:
    """Secrets and errors full of canaries, from an API server that also sends whole objects."""
    async with ApiServer() as server:
        token = token_file(directory)
        server.change("kube-system", "additional-pull-secret")
        async with watching([entry("cls-1", server.url, token)]) as source:
            await source.until(lambda source: "cls-1" in source.clusters)
            server.older_form = True
            server.drop()
            server.change("kube-system", "additional-pull-secret")
            await source.until(lambda source: bool(source.problems))
        return [Evidence("event", "kubernetes_secret", json.dumps(event).encode()) for event in source.events]


EVENT_SOURCES: Mapping[str, Callable[[Canary, Path], Awaitable[list[Evidence]]]] = {
    "event_source cluster_events": _cluster_events,
    "event_source kubernetes_secret": _kubernetes_secret,
}


@pytest.mark.parametrize("source", EVENT_SOURCES)
def test_an_event_source_shows_nothing(
    source: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    canary = Canary.make(source)
    tokens = (CANARY, TOKEN, *(entry.token for entry in canary.entries))
    canary = dataclasses.replace(canary, extra=tokens if source.endswith("kubernetes_secret") else tokens[2:])
    evidence = asyncio.run(_watched(EVENT_SOURCES[source], canary, tmp_path))
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "token"]
    evidence += [Evidence("file", path.name, path.read_bytes()) for path in written]
    evidence += [Evidence("log", source, text.encode()) for text in (caplog.text, *capfd.readouterr())]
    assert caplog.text
    leaks = Needles([canary]).leaks(evidence)
    assert leaks == [], "\n".join(map(str, leaks))


async def _watched(
    scenario: Callable[[Canary, Path], Awaitable[list[Evidence]]], canary: Canary, directory: Path
) -> list[Evidence]:
    return await scenario(canary, directory)
