# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ansible-rulebook with the collection's rulebook, as a process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from conftest import COLLECTIONS_PATH
from tests.tools import env


class Rulebook:
    """ansible-rulebook, running; ``lines`` is what the stub wrote, ``text`` what it printed."""

    def __init__(self, directory: Path, process: asyncio.subprocess.Process) -> None:
        self.log = directory / "log"
        self.hold = directory / "log.hold"
        self.output = directory / "output"
        self.process = process

    @property
    def text(self) -> str:
        return self.output.read_text()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    async def until(self, true: Callable[[list[dict[str, Any]]], bool]) -> None:
        async with asyncio.timeout(120):
            while not true(self.lines):
                assert self.process.returncode is None, self.output.read_text()
                await asyncio.sleep(0.05)

    async def ended(self, runs: int) -> None:
        await self.until(lambda lines: sum("end" in line for line in lines) >= runs)


@contextlib.asynccontextmanager
async def rulebook(
    directory: Path, clusters: list[dict[str, Any]], *, stub: str | None = None, **common: Any
) -> AsyncIterator[Rulebook]:
    """The collection's rulebook with these clusters.

    :param stub: a playbook in the place of the collection's own. :param common: what holds for all clusters.
    """
    venv = env.make("rulebook", sys.executable)
    (directory / "clusters.json").write_text(json.dumps({**common, "clusters": clusters}))
    (directory / "inventory").write_text(
        "localhost ansible_connection=local ansible_python_interpreter='{{ ansible_playbook_python }}'\n"
        f"[all:vars]\nlog={directory / 'log'}\n"
    )
    variables = {"hosted_clusters_file": str(directory / "clusters.json")}
    if stub:
        (directory / "stub.yml").write_text(stub)
        variables["hosted_cluster_playbook"] = str(directory / "stub.yml")
    (directory / "vars.yml").write_text(json.dumps(variables))
    command = [
        str(venv.absolute() / "bin/ansible-rulebook"),
        "--rulebook",
        "hyperfleet.pull_secret.hosted_cluster",
    ]
    command += ["-i", str(directory / "inventory"), "--vars", str(directory / "vars.yml"), "--print-events"]
    with (directory / "output").open("w") as output:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=directory,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
            env={
                **{key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
                "PATH": f"{venv.absolute() / 'bin'}:{os.environ['PATH']}",
                "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS_PATH),
                # A playbook's directory is left there when the process is ended.
                "TMPDIR": str(directory),
            },
        )
        try:
            yield Rulebook(directory, process)
            assert process.returncode is None, "it has to go on for ever"
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()
