# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The source of events with a webhook, and a client that posts events to it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp

from tests.lab.supervisor import free_ports
from tests.support.adapter_events.engine import Engine
from tests.support.adapter_events.source import running


class Poster:
    def __init__(self, url: str) -> None:
        self.url = url

    async def __call__(self, body: bytes, **headers: str) -> int:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        async with (
            aiohttp.ClientSession() as session,
            session.post(self.url, data=body, headers=names) as answer,
        ):
            await answer.read()
            return answer.status

    async def is_up(self) -> None:
        for _try in range(600):
            with contextlib.suppress(aiohttp.ClientConnectionError):
                await self(b"{}", ce_type="probe")
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the webhook does not listen")


@contextlib.asynccontextmanager
async def webhook(
    directory: Path, engine: Engine | None = None, broker: dict[str, Any] | None = None, **options: Any
) -> AsyncIterator[tuple[Engine, Poster]]:
    listen = f"127.0.0.1:{free_ports(1)[0]}"
    described = {"type": "webhook", "listen": listen, "path": "/events", **(broker or {})}
    async with running(described, directory, engine, **options) as found:
        post = Poster(f"http://{listen}/events")
        await post.is_up()
        yield found, post
