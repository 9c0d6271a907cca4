# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source as ansible-rulebook runs it: loaded by its path, with a queue and arguments."""

from __future__ import annotations

import asyncio
import contextlib
import json
import runpy
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from tests.support.secret_events.api_server import TOKEN
from tests.support.waiting import until

SOURCE = Path(__file__).parents[3] / "extensions/eda/plugins/event_source/kubernetes_secret.py"


class Source:
    """A source that runs; what it puts is taken at once."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    async def put(self, data: Any) -> None:
        # Into the engine events go as JSON.
        self.events.append(json.loads(json.dumps(data))["kubernetes_secret"])

    async def until(self, true: Callable[[Source], bool]) -> None:
        await until(lambda: true(self))

    @property
    def clusters(self) -> list[str]:
        """Of all events so far, in their order."""
        return [cluster for event in self.events for cluster in event.get("clusters", ())]

    @property
    def changes(self) -> list[tuple[str, str, str]]:
        """(cluster, type, resourceVersion) of all events so far."""
        return [
            (change["cluster_id"], change["type"], change["resourceVersion"])
            for event in self.events
            for change in event.get("changes", ())
        ]

    @property
    def problems(self) -> list[tuple[str, str, str | None]]:
        """Return (cluster, state, message) of each reported problem."""
        return [
            (problem["cluster_id"], problem["state"], problem.get("message"))
            for event in self.events
            for problem in event.get("problems", ())
        ]


@contextlib.asynccontextmanager
async def running(clusters: Any, **options: Any) -> AsyncIterator[Source]:
    """The source with these arguments, its delay short; it must not have ended by itself."""
    main = runpy.run_path(str(SOURCE))["main"]
    source = Source()
    arguments = {"clusters": clusters, "batch": {"delay": 0.05}, **options}
    task = asyncio.create_task(main(source, arguments))
    try:
        yield source
        assert not task.done(), task.exception()
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        left = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
        assert not [one for one in left if "watching" in repr(one.get_coro())], left


def token_file(directory: Path, token: str = TOKEN) -> str:
    path = directory / "token"
    path.write_text(token)
    return str(path)


def entry(
    cluster: str, url: str, token: str, namespace: str = "kube-system", name: str = "additional-pull-secret"
) -> dict[str, Any]:
    """A cluster with one watch."""
    watched = {"namespace": namespace, "name": name}
    return {"cluster_id": cluster, "host": url, "api_key_file": token, "watches": [watched]}
