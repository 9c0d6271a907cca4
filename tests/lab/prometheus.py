# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Debian's Prometheus and promtool: a server of our own on loopback, with a directory of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import aiohttp

from tests.tools import apt

COMMANDS = ("prometheus", "promtool")
_LISTENING = re.compile(r'msg="Listening on" address=([0-9.:]+)')


def promtool(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """What promtool says, installed if it is missing."""
    apt.provide(COMMANDS)
    command = ["promtool", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


class Prometheus:
    """A server that scrapes; asked over HTTP."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self._url = url
        self._session = session

    async def get(self, path: str, **parameters: str) -> Any:
        """The answer's ``data``; ValueError with its words where the server refuses."""
        async with self._session.get(f"{self._url}/api/v1/{path}", params=parameters) as answer:
            said = await answer.json()
        if said["status"] != "success":
            raise ValueError(f"{path} {parameters}: {said.get('error')}")
        return said["data"]

    async def query(self, expression: str) -> list[dict[str, Any]]:
        """The samples that an expression gives now: ``metric`` and ``value``."""
        samples: list[dict[str, Any]] = (await self.get("query", query=expression))["result"]
        return samples


@contextlib.asynccontextmanager
async def prometheus(
    directory: Path,
    targets: Sequence[str],
    *,
    labels: dict[str, str],
    rules: Sequence[Path] = (),
    every: str = "500ms",
) -> AsyncIterator[Prometheus]:
    """A server that scrapes these addresses each half second, and evaluates the rules as often.

    :param labels: which every target has.
    :param every: how often instead, as Prometheus writes it; an answer has as long to come.
    """
    apt.provide(COMMANDS)
    configuration = {
        "global": {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
        "rule_files": [str(path) for path in rules],
        "scrape_configs": [
            {
                "job_name": labels.get("job", "test"),
                "static_configs": [{"targets": list(targets), "labels": labels}],
            }
        ],
    }
    # JSON is YAML.
    (directory / "prometheus.yml").write_text(json.dumps(configuration))
    log = directory / "prometheus.log"
    with log.open("w") as output:
        process = await asyncio.create_subprocess_exec(
            "prometheus",
            f"--config.file={directory / 'prometheus.yml'}",
            f"--storage.tsdb.path={directory / 'data'}",
            "--web.listen-address=127.0.0.1:0",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
        )
    try:
        async with asyncio.timeout(60):
            while not (found := _LISTENING.search(log.read_text())):
                assert process.returncode is None, log.read_text()
                await asyncio.sleep(0.1)
        async with aiohttp.ClientSession() as session:
            yield Prometheus(f"http://{found.group(1)}", session)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
