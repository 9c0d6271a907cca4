# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The base class of the action plugins of batch modules.

* If the module would run on this machine, as this user, with this Python, the plugin does the work in Ansible's
  worker process. That saves a second per task, and no argument leaves the process.
* On other hosts, a docker config in the arguments requires a pipelined connection, so that it is never written to
  a temporary file.
* The module writes its progress to a small file, and the plugin prints it.
* All tasks of one ``ansible-playbook`` have the same digest key, so that their digests can be compared.
"""

from __future__ import annotations

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

# Ansible loads this file in the process that forks its workers, and that keeps the results of thousands of
# targets. The objects that exist now stay until the end. Without the freeze, garbage collection of them takes a
# tenth of a run.
gc.collect()
gc.freeze()


class BatchAction(QuietAction):
    """The action plugin of a batch module.

    ``MODULE`` is its fully qualified name, ``TASK`` the module of ``module_utils/tasks`` that does its work,
    ``IN_CHUNKS`` whether the plugin may send targets in chunks to another machine.
    """

    MODULE: ClassVar[str]
    TASK: ClassVar[ModuleType]
    IN_CHUNKS: ClassVar[bool] = True

    def spec(self) -> dict[str, Any]:
        """Return the module's argument spec."""
        return whole_spec(self.TASK.target_options)

    def act(
        self, arguments: dict[str, Any], hidden: set[str], task_vars: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Run the module for all targets, in one process if it runs on the controller."""
        here = self._is_here(task_vars)
        if not here and forms_in(arguments) and not self._is_pipelining_enabled("new"):
            return {
                "failed": True,
                "msg": "source.inline needs pipelining on the connection, and ANSIBLE_KEEP_REMOTE_FILES off; "
                "otherwise Ansible would write the docker config to a file; enable pipelining, or give the "
                "docker config by reference",
            }
        if here:
            return safely(lambda: self._run_here(with_digest_key(arguments)))
        # Ansible's validation in the module's process turns mappings into strings, so validate here.
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
        """Return whether a module process would have this process' machine, user, environment and Python."""
        if self._connection.transport != "local" or self._connection.become is not None:
            return False
        if self.task_environment():
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
        """Send the targets in chunks, because the module's progress file cannot be read on another machine."""
        # A chunk does not know the targets of the others, so compare all targets now.
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
                # The module itself failed (arguments, connection): also return the results of earlier chunks.
                done = whole(results, diffs)
                del done["summary"]
                return {**done, **part, "changed": done["changed"]}
            results += part["targets"]
            diffs += part.get("diff") or ()
            failed += len(failures(part["targets"]))
            _show(self.MODULE.rsplit(".", 1)[-1], len(results), len(targets), failed)
        return whole(results, diffs)

    def _fits(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Check the arguments; return an empty result.
        :raises ConfigurationError: the arguments are wrong.
        """
        validated(self.TASK.target_options, arguments)
        return {}

    def _checked(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Check the arguments and the targets together; return an empty result.

        :raises ConfigurationError: the arguments are wrong, or two targets are the same.
        """
        self.TASK.targets_elsewhere(validated(self.TASK.target_options, arguments))
        return {}


def with_digest_key(arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments if arguments.get("digest_key") else {**arguments, "digest_key": _digest_key()}


def _digest_key() -> str:
    """Return a key that is the same for all tasks of this ansible-playbook.

    It is derived from the random key of multiprocessing, which workers inherit. No file contains that key, so a
    killed run leaves none. In hexadecimal: one base64 key in 13,000 looks like an encoded ``user:password``, which
    the check of misplaced credentials would refuse.
    """
    inherited = multiprocessing.current_process().authkey
    return hmac.new(inherited, b"hyperfleet.pull_secret digest_key", hashlib.sha256).hexdigest()


@contextmanager
def _progress_shown(name: str) -> Iterator[str]:
    """Yield the path of the module's progress file, and print the progress in a thread."""
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
        # For a single target, the result is enough.
        if counts["total"] > 1 and counts["done"] != shown:
            shown = counts["done"]
            _show(name, shown, counts["total"], counts["failed"])


def _show(name: str, done: int, total: int, failed: int) -> None:
    _display.display(f"{name}: {done}/{total}" + (f" ({failed} failed)" if failed else ""))
