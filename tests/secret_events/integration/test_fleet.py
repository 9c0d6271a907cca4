# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A thousand clusters in one process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from conftest import COLLECTIONS_PATH
from tests.lab.session import kubernetes
from tests.support.secret_events.api_server import ApiServer
from tests.support.secret_events.source import entry, token_file

MANY = 1000
# The usual soft limit of open files.
FEW_FILES = ("sh", "-c", 'ulimit -S -n 256; exec "$@"', "sh")
ROOT = Path(__file__).parents[3]
# As ansible-rulebook finds it: in a tree of collections, without sys.path.
INSTALLED = (
    COLLECTIONS_PATH
    / "ansible_collections/hyperfleet/pull_secret/extensions/eda/plugins/event_source/kubernetes_secret.py"
)


@contextlib.asynccontextmanager
async def process(*command: str | Path) -> AsyncIterator[asyncio.subprocess.Process]:
    started = await asyncio.create_subprocess_exec(
        *map(str, command),
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        limit=2**20,
    )
    try:
        yield started
    finally:
        if started.returncode is None:
            started.terminate()
        await started.wait()


async def read_until_all(source: asyncio.subprocess.Process, count: int) -> dict[str, Any]:
    """Read until every cluster was named once; return the last event."""
    seen: set[str] = set()
    assert source.stdout
    async with asyncio.timeout(120):
        while True:
            event: dict[str, Any] = json.loads(await source.stdout.readline())
            assert "problems" not in event, event["problems"][:3]
            assert not seen & set(event["clusters"])
            seen |= set(event["clusters"])
            if len(seen) == count:
                return event


@pytest.mark.nightly
def test_a_thousand_clusters_take_one_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async def scenario() -> None:
        runner = ROOT / "tests/secret_events/integration/process.py"
        async with ApiServer() as server:
            token = token_file(tmp_path)
            clusters = [entry(f"cls-{one}", server.url, token, f"ns-{one}") for one in range(MANY)]
            listed = tmp_path / "clusters.json"
            listed.write_text(json.dumps({"clusters": clusters}))
            arguments = {"clusters": str(listed), "batch": {"delay": 0.2}}
            async with process(
                *FEW_FILES, sys.executable, runner, INSTALLED, json.dumps(arguments)
            ) as source:
                await read_until_all(source, MANY)
                assert source.stdout
                # All are listed by now, so only a watch can report a change.
                for one in range(MANY):
                    server.change(f"ns-{one}", "additional-pull-secret")
                seen: set[str] = set()
                async with asyncio.timeout(120):
                    while len(seen) < MANY:
                        event = json.loads(await source.stdout.readline())
                        seen |= {change["cluster_id"] for change in event["changes"]}
                _report(capsys, "plain HTTP", event)

    asyncio.run(scenario())


@pytest.mark.real("go")
@pytest.mark.nightly
def test_a_thousand_watches_of_the_real_api_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def scenario(kubeconfig: Path) -> None:
        names = [{"namespace": f"eda-none-{one}", "name": "additional-pull-secret"} for one in range(MANY)]
        clusters = [
            {"cluster_id": f"cls-{one}", "kubeconfig": str(kubeconfig), "watches": [names[one]]}
            for one in range(MANY)
        ]
        arguments = {"clusters": str(tmp_path / "clusters.json"), "batch": {"delay": 0.2}, "resync": 60}
        (tmp_path / "clusters.json").write_text(json.dumps(clusters))
        runner = ROOT / "tests/secret_events/integration/process.py"
        async with process(*FEW_FILES, sys.executable, runner, INSTALLED, json.dumps(arguments)) as source:
            await read_until_all(source, MANY)
            assert source.stdout
            async with asyncio.timeout(120):
                # When all are named, most of them are not watched yet.
                while (event := json.loads(await source.stdout.readline()))["files"] < MANY:
                    assert "problems" not in event, event["problems"][:3]
            _report(capsys, "TLS, the real API server", event)

    with kubernetes("real") as env:
        asyncio.run(scenario(env.kubeconfig(tmp_path / "kubeconfig")))


def _report(capsys: pytest.CaptureFixture[str], what: str, event: dict[str, Any]) -> None:
    each = (event["now"] - event["before"]) / MANY
    with capsys.disabled():
        print(f"\n{MANY} watches, {what}: {event['now'] / 1024:.0f} MiB, {each:.0f} KiB each, ", end="")
        print(f"{event['threads']} threads, {event['files']} open files")
    # So that ten thousand fit into a process of some GiB.
    assert each < 150
    # One connection for each.
    assert MANY <= event["files"] < MANY + 100
    assert event["threads"] < 40
