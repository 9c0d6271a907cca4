# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible as a process: run a module or a playbook, get the results that a callback receives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab.supervisor import listing
from tests.tools.env import ROOT

COLLECTION = "hyperfleet.pull_secret"
Playbook = str | Path | list[dict[str, Any]]
Variables = Mapping[str, Any] | None
CALLBACKS = str(ROOT / "tests" / "support" / "callback")
_LIMIT = 300
# The variables of the user that reach a run: no credentials, no cluster, no project, no setting of Ansible.
_PASSED = (
    "ANSIBLE_COLLECTIONS_PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "PATH",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONPATH",
    "TMPDIR",
    "XDG_CACHE_HOME",
)


@dataclass(frozen=True)
class Task:
    """One task's result, as callbacks (and with them logs and AWX) see it."""

    name: str
    action: str
    status: str  # ok, failed, skipped, unreachable
    result: dict[str, Any]


@dataclass(frozen=True)
class Finished:
    """A process that has ended; ``output`` is stdout and stderr."""

    code: int
    stdout: str
    stderr: str
    tasks: list[Task]

    @property
    def output(self) -> str:
        return self.stdout + self.stderr

    @property
    def result(self) -> dict[str, Any]:
        """The last task's result; the output is the message if there is none."""
        assert self.tasks, self.output
        return self.tasks[-1].result

    def of(self, action: str) -> list[dict[str, Any]]:
        """The results of all tasks with that action (its last word is enough)."""
        return [task.result for task in self.tasks if task.action.rpartition(".")[2] == action]


class Running:
    """A process that was started and not yet waited for."""

    def __init__(self, process: subprocess.Popen[str], record: Path) -> None:
        self.process = process
        self._record = record

    def wait(self) -> Finished:
        """Wait for its end, at most five minutes."""
        try:
            stdout, stderr = self.process.communicate(timeout=_LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        lines = self._record.read_text().splitlines() if self._record.exists() else []
        return Finished(self.process.returncode, stdout, stderr, [Task(**json.loads(line)) for line in lines])


class Ansible:
    """``directory`` is where its processes run and keep what is temporary; ``env`` is added to each."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True)
        self.env: dict[str, str] = {}
        self.python = Path(sys.executable)
        self._count = 0

    def module(self, name: str, arguments: Mapping[str, Any], **options: Any) -> Finished:
        """One task on localhost with a module of the collection (or a fully qualified one)."""
        return self.start_module(name, arguments, **options).wait()

    def start_module(self, name: str, arguments: Mapping[str, Any], **options: Any) -> Running:
        task = {"name": "One task", name if "." in name else f"{COLLECTION}.{name}": dict(arguments)}
        play = {"hosts": "localhost", "gather_facts": False, "tasks": [task]}
        return self.start_playbook([play], **options)

    def playbook(self, playbook: Playbook, variables: Variables = None, **options: Any) -> Finished:
        """A playbook by path or fully qualified name, or one written as plays."""
        return self.start_playbook(playbook, variables, **options).wait()

    def start_playbook(
        self,
        playbook: Playbook,
        variables: Variables = None,
        *,
        flags: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Running:
        """The same, not waited for; ``flags`` are further arguments."""
        if isinstance(playbook, list):
            playbook = self._file("play", playbook)
        if variables is not None:
            flags = [*flags, "--extra-vars", f"@{self._file('vars', dict(variables))}"]
        return self.start_command("ansible-playbook", playbook, *flags, env=env, cwd=cwd)

    def start_command(
        self, name: str, *arguments: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> Running:
        """A command of ansible-core, such as ``ansible-inventory``."""
        self._count += 1
        record = self.directory / f"record-{self._count}.jsonl"
        process = subprocess.Popen(
            [str(self.python), str(self.python.parent / name), *map(str, arguments)],
            cwd=cwd or self.directory,
            env={**self._environment(record), **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="surrogateescape",
        )
        return Running(process, record)

    def _file(self, kind: str, content: Any) -> Path:
        self._count += 1
        path = self.directory / f"{kind}-{self._count}.json"
        path.write_text(json.dumps(content))
        return path

    def _environment(self, record: Path) -> dict[str, str]:
        return {
            **{name: os.environ[name] for name in _PASSED if name in os.environ},
            "ANSIBLE_HOME": str(self.directory / "home"),
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
            "ANSIBLE_NOCOLOR": "true",
            "ANSIBLE_CALLBACK_PLUGINS": CALLBACKS,
            "ANSIBLE_CALLBACKS_ENABLED": "record",
            "TEST_RECORD": str(record),
            **self.env,
        }


def family(pid: int) -> list[int]:
    """A process and all that descend from it: workers of Ansible have sessions of their own."""
    children: dict[int, list[int]] = defaultdict(list)
    for path in listing(Path("/proc"), "[0-9]*/stat"):
        # It may have ended meanwhile.
        with suppress(OSError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            children[parent].append(int(path.parent.name))
    found = [pid]
    for process in found:
        found += children[process]
    return found
