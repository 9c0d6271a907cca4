# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, ClassVar

from ansible.errors import AnsibleConnectionFailure

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    Conflict,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.limits import PATH_RULE, is_path
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import shown_path
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.calls import Calls
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hyperfleet_adapter
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import (
    safely,
    validated_by_spec,
    without_stderr,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.config import (
    override_options,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.run_results import (
    result_document,
    utc_now,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.batch_action import (
    BatchAction,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.playbook_process import (
    stopped_with_playbook,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.run_log import Caller, RunLog

_LOCK = "lock"
_RESULT = "result.json"
# Seconds to wait for the lock. Another run keeps it until its end, the event source only for an instant.
_LOCK_SECONDS = 2.0


class ActionModule(BatchAction):
    """Runs the adapter, prints its log while it runs, and writes its result for the event source.

    See M(hyperfleet.pull_secret.hyperfleet_adapter).
    """

    MODULE = "hyperfleet.pull_secret.hyperfleet_adapter"
    TASK: ClassVar[ModuleType] = hyperfleet_adapter

    def spec(self) -> dict[str, Any]:
        """Return the module's argument spec, in which the secret fields of overrides are marked."""
        return {**hyperfleet_adapter.spec(), "overrides": {"options": override_options()}}

    def act(
        self, arguments: dict[str, Any], hidden: set[str], task_vars: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Handle all clusters, in this process if the module would run on the controller."""
        here = self._is_here(task_vars)
        caller = Caller(arguments.get("run_directory"))
        logs: list[RunLog] = []

        def handle() -> dict[str, Any]:
            with _locked(arguments.get("run_directory")) as directory:
                return (
                    self._work_here(arguments, directory, caller, logs)
                    if here
                    else self._work_elsewhere(arguments, directory, caller, logs, task_vars)
                )

        result = safely(handle, AnsibleConnectionFailure)
        if not caller.is_there() or any(log.is_lost() for log in logs):
            # Nobody reads the result, and a result that is larger than a pipe would block this worker forever. If
            # a worker ends with an error, its ansible-playbook ends, too.
            os._exit(1)
        return result

    def _work_here(
        self, arguments: dict[str, Any], directory: str | None, caller: Caller, logs: list[RunLog]
    ) -> dict[str, Any]:
        stop = threading.Event()
        log = RunLog(caller, stop)
        logs.append(log)
        started = utc_now()
        with stopped_with_playbook(stop):
            params = validated_by_spec(hyperfleet_adapter.spec(), arguments)
            try:
                with without_stderr():
                    ran = hyperfleet_adapter.work(
                        params, check_mode=self._task.check_mode, stop=stop, log=log.add
                    )
            finally:
                log.close()
            _leave(directory, result_document(ran.results, started, utc_now(), ran.calls))
            return ran.result(params.get("results"))

    def _work_elsewhere(
        self,
        arguments: dict[str, Any],
        directory: str | None,
        caller: Caller,
        logs: list[RunLog],
        task_vars: Any,
    ) -> dict[str, Any]:
        started = utc_now()
        result = self._execute(
            {name: value for name, value in arguments.items() if name != "run_directory"}, task_vars
        )
        log = RunLog(caller)
        logs.append(log)
        for entry in result.pop("log", ()):
            log.add(entry, _Plain())
        log.close()
        entries, calls = result.pop("entries", None), result.pop("calls", None) or {}
        if entries is not None:
            _leave(
                directory, {**result_document((), started, utc_now(), Calls()), "clusters": entries, **calls}
            )
        return result


class _Plain:
    """The log settings if the configuration is on another machine."""

    level = "info"
    format = "json"


@contextmanager
def _locked(directory: Any) -> Iterator[str | None]:
    """Lock the run's directory while the context lasts, so that the event source sees whether the run is working.

    The event source creates the lock file, and deletes it when it gives up the run. A run never creates it.

    :raises ConfigurationError: no event source waits for a run in this directory, or it cannot be written to.
    :raises Conflict: another run has locked it.
    """
    if not directory:
        yield None
        return
    path = os.path.expanduser(str(directory))
    if not is_path(path):
        raise ConfigurationError(f"run_directory must be {PATH_RULE}")
    try:
        handle = os.open(os.path.join(path, _LOCK), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        raise ConfigurationError(
            f"run_directory {shown_path(path)} does not exist or has no lock file: the event source gave up "
            "this run and puts its clusters into the next one, or the path is wrong"
        ) from None
    except OSError as error:
        raise ConfigurationError(
            f"run_directory {shown_path(path)} cannot be used: {error.strerror}"
        ) from None
    try:
        if not _taken(handle):
            raise Conflict(f"run_directory {shown_path(path)} is in use by another run")
        if os.fstat(handle).st_nlink == 0:
            raise ConfigurationError(
                f"run_directory {shown_path(path)} has no lock file any more: the event source gave "
                "up this run and puts its clusters into the next one"
            )
        yield path
    finally:
        os.close(handle)


def _taken(handle: int) -> bool:
    """Take the lock. The event source also takes it for an instant, to check whether a run is working."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() >= deadline:
                return False
        time.sleep(0.01)


def _leave(directory: str | None, document: Mapping[str, Any]) -> None:
    """Write the result file atomically."""
    if directory is None:
        return
    path = os.path.join(directory, _RESULT)
    try:
        with open(path + ".new", "w", encoding="utf-8") as stream:
            json.dump(document, stream)
        os.replace(path + ".new", path)
    except OSError as error:
        raise ConfigurationError(
            f"run_directory {shown_path(directory)} cannot be written to: {error.strerror}"
        ) from None
