# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs ansible-playbook and gathers all that it showed, ``inputs`` and ``dest`` apart."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.secrecy.needles import Evidence

__all__ = ["Recording", "Watcher"]

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
_PLAYBOOK = Path(sys.executable).with_name("ansible-playbook")
_POLL = 0.02
_WATCHED = ("home", "tmp", "local", "remote", "cwd", "log", "cache", "tree")
_KEPT = ("PATH", "LANG", "ANSIBLE_COLLECTIONS_PATH")
_LARGEST = 8 << 20
_SAME_PYTHON = "{{ ansible_playbook_python }}"


@dataclass
class Recording:
    """What one run showed. ``results`` maps a task's name to its result, as callbacks get it."""

    status: int
    evidence: list[Evidence]
    results: dict[str, dict[str, Any]]
    module_process: bool

    @property
    def output(self) -> str:
        return "".join(
            item.data.decode("utf-8", "replace") for item in self.evidence if item.kind == "output"
        )

    def kinds(self) -> set[str]:
        return {item.kind for item in self.evidence}


class Watcher:
    """A world for runs: directories of its own for everything that Ansible or a module could write to."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.inputs = directory / "inputs"
        self.dest = directory / "dest"
        self._runs = 0
        for path in (self.inputs, self.dest):
            path.mkdir(parents=True)

    def play(
        self,
        tasks: Sequence[Mapping[str, Any]] | str,
        variables: Mapping[str, Any] | None = None,
        *,
        options: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
        module_process: bool = False,
    ) -> Recording:
        """Run tasks, or a playbook by its name, in Ansible's process or with a ``module_process``."""
        self._runs += 1
        run = self.directory / f"run-{self._runs}"
        watched = {name: run / name for name in _WATCHED}
        spy = run / "spy"
        for path in (*watched.values(), spy):
            path.mkdir(parents=True)
        playbook = tasks if isinstance(tasks, str) else self._playbook(tasks)
        facts = self.inputs / f"variables-{self._runs}.json"
        python = str(Path(sys.executable).with_name("python3")) if module_process else _SAME_PYTHON
        facts.write_text(json.dumps({"ansible_python_interpreter": python, **(variables or {})}))
        command = [str(_PLAYBOOK), "-i", "localhost,", "-c", "local", "-e", f"@{facts}"]
        environment = {**_settings(watched, spy), **(settings or {})}
        process = subprocess.Popen(
            [*command, *options, *arguments, playbook],
            cwd=watched["cwd"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        with _poller(spy, list(watched.values())) as polled:
            output, _nothing = process.communicate(timeout=300)
        evidence = [Evidence("output", f"run {self._runs}", output), *polled]
        for name, path in watched.items():
            evidence += _files(name, path)
        evidence += _spied(spy)
        recorded = watched["log"] / "record.jsonl"
        return Recording(process.returncode, evidence, _results(recorded), module_process)

    def _playbook(self, tasks: Sequence[Mapping[str, Any]]) -> str:
        path = self.inputs / f"playbook-{self._runs}.json"
        path.write_text(json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": list(tasks)}]))
        return str(path)


def _settings(watched: Mapping[str, Path], spy: Path) -> dict[str, str]:
    return {
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
        "LC_ALL": "C.UTF-8",
        "HOME": str(watched["home"]),
        "TMPDIR": str(watched["tmp"]),
        "PYTHONPATH": str(_HERE / "spy"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CANARY_SPY": str(spy),
        "CANARY_ROOTS": os.pathsep.join(map(str, watched.values())),
        "CANARY_RECORD": str(watched["log"] / "record.jsonl"),
        "ANSIBLE_CONFIG": str(_ROOT / "ansible.cfg"),
        "ANSIBLE_LOCAL_TEMP": str(watched["local"]),
        "ANSIBLE_REMOTE_TEMP": str(watched["remote"]),
        "ANSIBLE_LOG_PATH": str(watched["log"] / "ansible.log"),
        "ANSIBLE_RETRY_FILES_ENABLED": "True",
        "ANSIBLE_RETRY_FILES_SAVE_PATH": str(watched["log"]),
        "ANSIBLE_CACHE_PLUGIN": "ansible.builtin.jsonfile",
        "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(watched["cache"]),
        "ANSIBLE_CALLBACK_PLUGINS": str(_HERE / "callback"),
        "ANSIBLE_CALLBACKS_ENABLED": "canary_recorder,ansible.builtin.junit,ansible.builtin.tree",
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


def _results(recorded: Path) -> dict[str, dict[str, Any]]:
    results: dict[str, dict[str, Any]] = {}
    failed: set[str] = set()
    if recorded.exists():
        for line in recorded.read_text(encoding="utf-8", errors="surrogateescape").splitlines():
            event = json.loads(line)
            fields = event.get("_task_fields") or event.get("task_fields")
            result = event.get("_result") or event.get("result")
            if fields and result:
                results[fields["name"]] = result
            if "failed" in event:
                failed.add(event["failed"])
    for name, result in results.items():
        result["failed"] = name in failed
    return results


@contextlib.contextmanager
def _poller(spy: Path, roots: Sequence[Path]) -> Iterator[list[Evidence]]:
    """Beside the audit hook, which programs other than Python do not have: look again and again."""
    found: dict[tuple[str, bytes], Evidence] = {}
    ended = threading.Event()
    mark = f"CANARY_SPY={spy}".encode()

    def watch() -> None:
        while not ended.wait(_POLL):
            for item in (*_processes(mark), *_passing_files(roots)):
                found.setdefault((item.kind, item.data), item)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    evidence: list[Evidence] = []
    try:
        yield evidence
    finally:
        ended.set()
        thread.join()
        evidence += found.values()


def _processes(mark: bytes) -> Iterator[Evidence]:
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit():
            try:
                environment = Path("/proc", name, "environ").read_bytes()
                if mark in environment.split(b"\0"):
                    yield Evidence("argv", "a process", Path("/proc", name, "cmdline").read_bytes())
                    yield Evidence("environ", "a process", environment)
            except OSError:
                continue


_known: dict[tuple[str, int, int, int], None] = {}


def _passing_files(roots: Sequence[Path]) -> Iterator[Evidence]:
    for root in roots:
        for directory, _subdirectories, names in os.walk(root):
            for name in names:
                path = os.path.join(directory, name)
                try:
                    state = os.stat(path)
                    mark = (path, state.st_ino, state.st_size, state.st_mtime_ns)
                    if mark in _known or not 0 < state.st_size <= _LARGEST or root.name == "log":
                        continue
                    data = Path(path).read_bytes()
                except OSError:
                    continue
                _known[mark] = None
                yield Evidence("passing file", name, data)
