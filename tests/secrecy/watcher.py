# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs ansible-playbook, and collects everything that it shows, except the files in ``inputs`` and ``dest``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.processes import CALLBACKS, Ansible
from tests.support.secrecy.needles import Evidence
from tests.tools.env import ROOT

__all__ = ["Recording", "Watcher"]

_HERE = Path(__file__).resolve().parent
_WATCHED = ("home", "tmp", "local", "remote", "cwd", "log", "cache", "tree")


@dataclass
class Recording:
    """Everything that one run showed. ``results`` maps a task's name to its result, as callbacks receive it."""

    status: int
    output: str
    evidence: list[Evidence]
    results: dict[str, dict[str, Any]]
    module_process: bool


class Watcher:
    """Runs ansible-playbook with separate directories for everything that Ansible or a module could write."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.inputs = directory / "inputs"
        self.dest = directory / "dest"
        self.dest.mkdir()
        self._ansible = Ansible(self.inputs)
        self._runs = 0

    def play(
        self,
        tasks: Sequence[Mapping[str, Any]] | str,
        variables: Mapping[str, Any] | None = None,
        *,
        options: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
        module_process: bool = False,
    ) -> Recording:
        """Run tasks, or a playbook by its name, in Ansible's process or with a ``module_process``."""
        self._runs += 1
        run = self.directory / f"run-{self._runs}"
        watched = {name: run / name for name in _WATCHED}
        spy = run / "spy"
        for path in (*watched.values(), spy):
            path.mkdir(parents=True)
        given = dict(variables or {})
        if module_process:
            # A task runs in Ansible's process if the interpreter is Ansible's own.
            given["ansible_python_interpreter"] = str(Path(sys.executable).with_name("python3"))
        play = [{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]
        finished = self._ansible.start_playbook(
            tasks if isinstance(tasks, str) else play,
            given,
            flags=options,
            env={**_settings(watched, spy), **(settings or {})},
            cwd=watched["cwd"],
        ).wait()
        shown = finished.output.encode("utf-8", "surrogateescape")
        evidence = [Evidence("output", f"run {self._runs}", shown)]
        for name, path in watched.items():
            evidence += _files(name, path)
        evidence += _spied(spy)
        results = {task.name: {**task.result, "failed": task.status == "failed"} for task in finished.tasks}
        return Recording(finished.code, finished.output, evidence, results, module_process)


def _settings(watched: Mapping[str, Path], spy: Path) -> dict[str, str]:
    return {
        "LC_ALL": "C.UTF-8",
        "HOME": str(watched["home"]),
        "TMPDIR": str(watched["tmp"]),
        "PYTHONPATH": str(_HERE / "spy"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CANARY_SPY": str(spy),
        "CANARY_ROOTS": os.pathsep.join(map(str, watched.values())),
        "CANARY_RECORD": str(watched["log"] / "record.jsonl"),
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "ANSIBLE_HOME": str(watched["home"] / ".ansible"),
        "ANSIBLE_LOCAL_TEMP": str(watched["local"]),
        "ANSIBLE_REMOTE_TEMP": str(watched["remote"]),
        "ANSIBLE_LOG_PATH": str(watched["log"] / "ansible.log"),
        "ANSIBLE_RETRY_FILES_ENABLED": "True",
        "ANSIBLE_RETRY_FILES_SAVE_PATH": str(watched["log"]),
        "ANSIBLE_CACHE_PLUGIN": "ansible.builtin.jsonfile",
        "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(watched["cache"]),
        "ANSIBLE_CALLBACK_PLUGINS": os.pathsep.join((CALLBACKS, str(_HERE / "callback"))),
        "ANSIBLE_CALLBACKS_ENABLED": "record,canary_recorder,ansible.builtin.junit,ansible.builtin.tree",
        "ANSIBLE_CALLBACK_TREE_DIR": str(watched["tree"]),
        "JUNIT_OUTPUT_DIR": str(watched["log"]),
        "ANSIBLE_LIBRARY": str(_HERE / "leaky"),
        "NO_PROXY": "127.0.0.1",
    }


def _files(kind: str, directory: Path) -> Iterator[Evidence]:
    for path in sorted(directory.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield Evidence(f"file in {kind}", path.name, str(path).encode() + b"\n" + path.read_bytes())


def _spied(spy: Path) -> Iterator[Evidence]:
    for path in sorted(spy.glob("file-*")):
        name, _newline, data = path.read_bytes().partition(b"\n")
        yield Evidence("vanished file", Path(os.fsdecode(name)).name, data)
    for path in sorted(spy.glob("events-*")):
        for line in path.read_bytes().splitlines():
            kind = json.loads(line.decode("utf-8", "surrogateescape"))["kind"]
            yield Evidence(kind, path.name, line)
