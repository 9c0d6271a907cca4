# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source as ansible-rulebook runs it, with an engine that plays the runs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import runpy
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from tests.support.adapter_events.engine import Engine

SOURCE = Path(__file__).parents[3] / "extensions/eda/plugins/event_source/cluster_events.py"


def cloud_event(cluster: str, **changed: Any) -> bytes:
    """An event as the sentinel publishes it."""
    event = {
        "specversion": "1.0",
        "id": str(uuid.uuid4()),
        "source": "hyperfleet-sentinel",
        "type": "com.redhat.hyperfleet.cluster.reconcile",
        "data": {"id": cluster, "kind": "Cluster", "generation": 1},
    }
    return json.dumps({**event, **changed}).encode()


@contextlib.asynccontextmanager
async def running(
    broker: dict[str, Any], directory: Path, engine: Engine | None = None, **options: Any
) -> AsyncIterator[Engine]:
    """Run the source with this broker. It must not end by itself, nor leave a task behind."""
    main = runpy.run_path(str(SOURCE))["main"]
    engine = engine or Engine()
    engine.is_told = True
    main.__globals__["start_monitoring"] = lambda _config: contextlib.nullcontext(engine.told)
    runs = directory / "runs"
    arguments = {
        "broker": broker,
        "batch": {"window": 0.1},
        "run_dir": str(runs),
        **options,
    }
    task = asyncio.create_task(main(engine, arguments))
    try:
        yield engine
        assert not task.done(), task.exception()
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await engine.close()
        left = [one for one in asyncio.all_tasks() if one is not asyncio.current_task()]
        assert not [one for one in left if "receiving" in repr(one.get_coro())], left
