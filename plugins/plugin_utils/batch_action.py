# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What every batch module needs of the controller.

* Where the module would run on this machine, as this user, with this Python, its work is done here, in
  Ansible's worker process: that saves a second a task, and no argument leaves the process.
* Elsewhere a pipelined connection, so that no argument is ever written to a temporary file.
* Progress: the module writes to a small file how far it is, and this prints it.
* One digest key for the whole ``ansible-playbook`` run, so that digests can be compared within it.
"""

from __future__ import annotations

import base64
import gc
import hashlib
import hmac
import json
import multiprocessing
import os
import secrets
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, ClassVar

from ansible import constants
from ansible.utils.display import Display

from ..module_utils.model.summary import failures, whole
from ..module_utils.runtime.secrecy import forms_in
from ..module_utils.tasks.entry import run_here, safely, validated, whole_spec
from .leftovers import PROGRESS, remove_leftovers
from .playbook_process import leave_if_gone, stopped_with_playbook
from .quiet_action import QuietAction

__all__ = ["BatchAction", "with_digest_key"]

_CHUNK = 200
_FIRST_PROGRESS = 2.0
_NEXT_PROGRESS = 2.0

_display = Display()

# Ansible loads this file in the process that forks its workers, which then holds the answers of thousands of
# targets. What is there by now stays: looking through it for garbage, again and again, is a tenth of a run.
gc.collect()
gc.freeze()


class BatchAction(QuietAction):
    """The action plugin of a batch module.

    ``MODULE`` is its fully qualified name, ``TASK`` the module of ``module_utils/tasks`` that does its work,
    ``IN_CHUNKS`` whether another machine may be sent some targets at a time.
    """

    MODULE: ClassVar[str]
    TASK: ClassVar[ModuleType]
    IN_CHUNKS: ClassVar[bool] = True

    def spec(self) -> dict[str, Any]:
        """The module's argument spec."""
        return whole_spec(self.TASK.target_options)

    def act(
        self, arguments: dict[str, Any], hidden: set[str], task_vars: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Run the module over all targets, in one process where it runs on the controller."""
        here = self._is_here(task_vars)
        if forms_in(arguments) and not here and not self._is_pipelining_enabled("new"):
            return {
                "failed": True,
                "msg": "source.inline needs pipelining on the connection, and ANSIBLE_KEEP_REMOTE_FILES off; "
                "otherwise Ansible would write the docker config to a file; enable pipelining, or give the "
                "docker config by reference",
            }
        if here:
            return safely(lambda: self._run_here(with_digest_key(arguments)))
        # Here, since Ansible's validation in the module's process makes texts of mappings.
        wrong = safely(lambda: self._fits(arguments))
        if wrong:
            return wrong
        arguments = with_digest_key(arguments)
        targets = arguments.get("targets")
        is_whole = self._connection.transport == "local" or not self.IN_CHUNKS
        if is_whole or not isinstance(targets, list) or len(targets) <= _CHUNK:
            return self._run_one(arguments, task_vars)
        return self._run_chunks(arguments, targets, task_vars)

    def _is_pipelining_enabled(self, module_style: str, wrap_async: bool = False) -> bool:
        become = self._connection.become
        can_become = become is None or getattr(become, "pipelining", become.name != "su")
        return bool(
            module_style == "new"
            and not wrap_async
            and self._connection.has_pipelining
            and can_become
            and not constants.DEFAULT_KEEP_REMOTE_FILES
        )

    def _is_here(self, task_vars: Mapping[str, Any]) -> bool:
        """Whether a module process would be this one again: same machine, user, environment and Python."""
        if self._connection.transport != "local" or self._connection.become is not None:
            return False
        environment: dict[str, Any] = {}
        self._compute_environment_string(environment)
        if environment:
            return False
        if self._task.delegate_to:
            task_vars = (task_vars.get("ansible_delegated_vars") or {}).get(self._task.delegate_to) or {}
        wanted = task_vars.get("ansible_python_interpreter")
        return bool(wanted) and self._templar.template(wanted) == sys.executable

    def _run_here(self, arguments: dict[str, Any]) -> dict[str, Any]:
        def run(given: dict[str, Any]) -> dict[str, Any]:
            return run_here(
                self.TASK.target_options,
                self.TASK.run,
                given,
                check_mode=self._task.check_mode,
                diff=self._task.diff,
                stop=stop,
            )

        stop = threading.Event()
        with stopped_with_playbook(stop):
            if arguments.get("progress_file"):
                return run(arguments)
            with _progress_shown(self.MODULE.rsplit(".", 1)[-1]) as path:
                return run({**arguments, "progress_file": path})

    def _run_one(self, arguments: dict[str, Any], task_vars: Any) -> dict[str, Any]:
        if self._connection.transport != "local" or arguments.get("progress_file"):
            return self._execute(arguments, task_vars)
        with _progress_shown(self.MODULE.rsplit(".", 1)[-1]) as path:
            return self._execute({**arguments, "progress_file": path}, task_vars)

    def _run_chunks(self, arguments: dict[str, Any], targets: list[Any], task_vars: Any) -> dict[str, Any]:
        """Elsewhere than here the module's progress cannot be seen: it is sent some targets at a time."""
        # A chunk does not see what another one writes.
        wrong = safely(lambda: self._checked(arguments))
        if wrong:
            return wrong
        results: list[dict[str, Any]] = []
        diffs: list[Any] = []
        failed = 0
        for start in range(0, len(targets), _CHUNK):
            leave_if_gone()
            part = self._execute({**arguments, "targets": targets[start : start + _CHUNK]}, task_vars)
            if "targets" not in part:
                # The module itself failed (arguments, connection): return what was done before, too.
                done = whole(results, diffs)
                del done["summary"]
                return {**done, **part, "changed": done["changed"]}
            results += part["targets"]
            diffs += part.get("diff") or ()
            failed += len(failures(part["targets"]))
            _show(self.MODULE.rsplit(".", 1)[-1], len(results), len(targets), failed)
        return whole(results, diffs)

    def _fits(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Nothing.

        :raises ConfigurationError: the arguments are wrong.
        """
        validated(self.TASK.target_options, arguments)
        return {}

    def _checked(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Nothing.

        :raises ConfigurationError: the arguments are wrong, or two targets are one.
        """
        self.TASK.targets_elsewhere(validated(self.TASK.target_options, arguments))
        return {}


def with_digest_key(arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments if arguments.get("digest_key") else {**arguments, "digest_key": _digest_key()}


def _digest_key() -> str:
    """The same for every task of this ansible-playbook.

    Its workers inherit the random key of multiprocessing, which is in no file that a killed run could leave.
    """
    inherited = multiprocessing.current_process().authkey
    made = hmac.new(inherited, b"hyperfleet.pull_secret digest_key", hashlib.sha256).digest()
    return base64.b64encode(made).decode("ascii")


@contextmanager
def _progress_shown(name: str) -> Iterator[str]:
    """A file for the module to write its progress to, and a thread that prints it."""
    remove_leftovers(constants.DEFAULT_LOCAL_TMP)
    path = os.path.join(constants.DEFAULT_LOCAL_TMP, f"{PROGRESS}{secrets.token_hex(6)}")
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(name, path, ended), daemon=True)
    watcher.start()
    try:
        yield path
    finally:
        ended.set()
        watcher.join()
        for left in (path, path + ".new"):
            if os.path.exists(left):
                os.unlink(left)


def _watch(name: str, path: str, ended: threading.Event) -> None:
    pause, shown = _FIRST_PROGRESS, -1
    while not ended.wait(pause):
        pause = _NEXT_PROGRESS
        try:
            with open(path, encoding="ascii") as stream:
                counts = json.load(stream)
        except (OSError, ValueError):
            continue
        # One target's progress is its result.
        if counts["total"] > 1 and counts["done"] != shown:
            shown = counts["done"]
            _show(name, shown, counts["total"], counts["failed"])


def _show(name: str, done: int, total: int, failed: int) -> None:
    _display.display(f"{name}: {done}/{total}" + (f" ({failed} failed)" if failed else ""))
