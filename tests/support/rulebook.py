# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ansible-rulebook with the collection's rulebook, as a process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from conftest import COLLECTIONS_PATH
from tests.lab.supervisor import start_time
from tests.support.processes import family
from tests.tools import env


class Rulebook:
    """ansible-rulebook, running; ``lines`` is what the stub wrote, ``text`` what it printed."""

    def __init__(self, directory: Path, process: subprocess.Popen[bytes]) -> None:
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
                assert self.process.poll() is None, self.text
                await asyncio.sleep(0.05)

    async def ended(self, runs: int) -> None:
        await self.until(lambda lines: sum("end" in line for line in lines) >= runs)


class Prepared(NamedTuple):
    """What starts ansible-rulebook in ``directory``; its output belongs into ``output``."""

    directory: Path
    command: list[str]
    environment: dict[str, str]
    output: Path

    def start(self, **environment: str) -> subprocess.Popen[bytes]:
        """Start it; the output is added to that of an earlier start."""
        with self.output.open("ab") as output:
            return subprocess.Popen(
                self.command,
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**self.environment, **environment},
            )

    @contextlib.contextmanager
    def running(self) -> Iterator[Rulebook]:
        """The process, which must not fail before the block ends; an error has a note of what it printed."""
        process = self.start()
        try:
            yield Rulebook(self.directory, process)
            assert process.poll() in (None, 0), "ansible-rulebook failed"
        except BaseException as error:
            error.add_note(self.output.read_text()[-8000:])
            raise
        finally:
            with ended_with(process.pid):
                process.terminate()
                process.wait(60)


def prepare(
    directory: Path, rulebook: str | Path, *, print_events: bool = False, **variables: Any
) -> Prepared:
    """Write down what ansible-rulebook needs, as a user would: a rulebook's name or file, and variables."""
    tools = env.make("rulebook", sys.executable).absolute() / "bin"
    inventory, given = directory / "inventory", directory / "vars.json"
    inventory.write_text(
        "localhost ansible_connection=local ansible_python_interpreter='{{ ansible_playbook_python }}'\n"
        f"[all:vars]\nlog={directory / 'log'}\n"
    )
    given.write_text(json.dumps(variables))
    name = str(rulebook) if isinstance(rulebook, Path) else f"hyperfleet.pull_secret.{rulebook}"
    command = [
        str(tools / "ansible-rulebook"),
        "--rulebook",
        name,
        f"--inventory={inventory}",
        f"--vars={given}",
    ]
    command += ["--print-events"] if print_events else []
    environment = {
        **{key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        "PATH": f"{tools}:{os.environ['PATH']}",
        "ANSIBLE_COLLECTIONS_PATH": str(COLLECTIONS_PATH),
        "HOME": str(directory),
        # A playbook's directory is left there when the process is ended.
        "TMPDIR": str(directory),
    }
    return Prepared(directory, command, environment, directory / "output")


@contextlib.contextmanager
def ended_with(pid: int) -> Iterator[None]:
    """Kill what the process has begun, if it is there when the block has ended the process."""
    children = [(child, start_time(child)) for child in family(pid)[1:]]
    yield
    for child, started in children:
        # Another process may have got the number of a child that has ended.
        if started is not None and start_time(child) == started:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


@contextlib.contextmanager
def rulebook(
    directory: Path, clusters: list[dict[str, Any]], *, stub: str | None = None, **common: Any
) -> Iterator[Rulebook]:
    """The collection's rulebook with these clusters, and ``stub`` in the place of its playbook."""
    listed = directory / "clusters.json"
    listed.write_text(json.dumps({**common, "clusters": clusters}))
    variables = {"hosted_clusters_file": str(listed)}
    if stub:
        (directory / "stub.yml").write_text(stub)
        variables["hosted_cluster_playbook"] = str(directory / "stub.yml")
    with prepare(directory, "hosted_cluster", print_events=True, **variables).running() as found:
        yield found
        assert found.process.poll() is None, "it has to go on for ever"
