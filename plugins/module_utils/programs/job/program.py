# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program of the job's container: without Ansible, without files, and mostly without libraries."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from queue import SimpleQueue
from typing import Any

from ...clients.google.auth import google_connection
from ...clients.google.client import PLAIN
from ...clients.google.metadata import metadata_server
from ...clients.kubernetes.service_account import api_server
from ...dockerconfig import sensitive_forms
from ...model.errors import PullSecretError, WrongOption
from ...runtime.batch import Failure
from ...runtime.calls import Calls
from ...runtime.secrecy import Mask
from ...workflows.provision.place import place
from ...workflows.provision.store import store
from ...workflows.run import StoreConnections
from .ending import exit_code, outcome, written
from .flags import read_command_line
from .log import render
from .work import GCP, Ended, Job

__all__ = ["Program", "main", "ways"]

_MESSAGE_PATH = "/dev/termination-log"
# The defaults of the modules' argument specs. One target is one thread.
_DEFAULTS: dict[str, Any] = {
    "api_timeout": 30.0,
    "timeout": 300.0,
    "concurrency": 1,
    # The job contract lists every variable that it reads, and K8S_AUTH_* are not among them.
    "kubernetes": {"k8s_auth": False},
}
_STOPPING = (signal.SIGTERM, signal.SIGINT)
# Seconds to finish current work when the pod is stopped. It is killed 30 s after SIGTERM.
_GRACE = 10.0


def ways(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return how to connect: with the libraries where they are needed, otherwise with clients that are ten
    times as fast.

    The metadata server (Workload Identity) and the pod's own account need no library.
    """
    options: dict[str, Any] = {}
    proxied = any(environment.get(name) for name in ("HTTPS_PROXY", "https_proxy"))
    if not (proxied or environment.get("GOOGLE_APPLICATION_CREDENTIALS")):
        options["gcp"] = {"transport": PLAIN}
    if not (proxied or environment.get("KUBECONFIG")):
        options["kubernetes"] = {"plain": True}
    return options


def _check_ways(environment: Mapping[str, str]) -> None:
    """Check that both services have an address before the first write.

    :raises ConfigurationError: names the variable.
    """
    try:
        google_connection({})
    except WrongOption as error:
        raise error.called({"gcp.endpoint": "SECRET_MANAGER_EMULATOR_HOST"}) from None
    chosen = ways(environment)
    if "gcp" in chosen:
        metadata_server(environment)
    if "kubernetes" in chosen:
        api_server(environment)


class Program:
    """One run in this process.

    :param environment: the variables of the job contract and ``TERMINATION_MESSAGE_PATH``.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._started = time.monotonic()
        self._stop = threading.Event()
        # Not an Event: a signal handler must take no lock, because the interrupted code may hold it.
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._connections: StoreConnections | None = None
        self._ways = ways(environment)
        self._job = Job(self._ask, self._show, ready=lambda: _check_ways(environment))
        self._mask = Mask(sensitive_forms(os.fsencode(environment.get("PULL_SECRET_DATA", ""))))
        self._ended: Ended | None = None

    def run(self) -> int:
        """Work until done or stopped, write the termination message, and return the exit code."""
        # Set before the worker starts, so that a stop before the start is seen.
        if not self._wake.empty():
            self._stop.set()
        worker = threading.Thread(target=self._work, name="work", daemon=True)
        worker.start()
        self._wake.get()
        self._stop.set()
        worker.join(_GRACE)
        ended = self._ended
        if ended is None:
            problem = f"the Job received a stop signal, and its work did not end within {_GRACE:g} s"
            ended = Ended(self._job.settings, problem, "stopped", self._job.phase)
            self._job.log("exit", f"Failed: {problem}", phase="exit", level="error")
        self._tell(ended)
        return exit_code(ended)

    def stop(self) -> None:
        """Begin nothing new, and wait a moment for current work. A signal handler may call it."""
        self._wake.put(None)

    def _work(self) -> None:
        try:
            self._ended = self._job.run(self._environment, self._ways)
        except Exception as error:  # noqa: BLE001 - Python would print its message
            failure = Failure.of(error)
            self._ended = Ended(self._job.settings, failure.message, failure.kind, self._job.phase)
            self._job.log("exit", f"Failed: {failure.message}", phase="exit", level="error")
        finally:
            self._wake.put(None)

    def _ask(self, phase: str, target: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
        """Run the module's work in this process, over one connection per service."""
        params = {**_DEFAULTS, **run}
        try:
            if self._connections is None:
                self._connections = StoreConnections({**params, **self._ways}, self._stop)
            step = store if phase == GCP else place
            return step([target], params, check_mode=False, connections=self._connections)
        except PullSecretError as error:
            return {"failed": True, "changed": False, "msg": str(error), "kind": error.kind}

    def _show(self, line: str) -> None:
        try:
            sys.stdout.write(self._mask.text(line) + "\n")
            sys.stdout.flush()
        except OSError:
            # Nobody reads the log any more. The work matters, and the termination message reports it.
            sys.stdout = _Nowhere()

    def _tell(self, ended: Ended) -> None:
        calls = self._connections.settings.calls if self._connections else Calls()
        said = outcome(
            ended, time.monotonic() - self._started, calls.of(Calls.GCP), calls.of(Calls.KUBERNETES)
        )
        _write_message(self._environment, written(self._mask.value(said)))


class _Nowhere:
    """A stream that discards everything, without a file."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        """Do nothing."""


def main(environment: Mapping[str, str] | None = None, arguments: Sequence[str] | None = None) -> int:
    """Do the job that the environment and the flags describe, and return 0, 1 or 2 (``ending.exit_code``)."""
    environment = os.environ if environment is None else environment
    try:
        asked = read_command_line(sys.argv[1:] if arguments is None else arguments, environment)
    except PullSecretError as error:
        return _refused(environment, str(error), error.kind)
    if asked.text is not None:
        sys.stdout.write(asked.text)
        return 0
    environment = asked.environment
    # Finding out which packages are installed takes a while in the image.
    if len(ways(environment)) < 2 and sys.flags.no_site:
        import site

        site.main()
    # Messages of libraries and of Python itself may hold a value.
    sys.stderr = _Nowhere()
    try:
        program = Program(environment)
        for number in _STOPPING:
            signal.signal(number, lambda *_event: program.stop())
        # The image blocks the signals at start until now.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
        return program.run()
    except Exception as error:  # noqa: BLE001 - a defect that would otherwise be lost
        failure = Failure.of(error)
        return _refused(environment, failure.message, failure.kind)


def _refused(environment: Mapping[str, str], message: str, kind: str) -> int:
    """Report a failure before any work."""
    ended = Ended(None, message, kind)
    entry = {"level": "error", "phase": "exit", "operation": "exit", "message": message}
    sys.stdout.write(f"{render(entry, level='error', form='json')}\n")
    _write_message(environment, written(outcome(ended, 0.0)))
    return exit_code(ended)


def _write_message(environment: Mapping[str, str], message: bytes) -> None:
    try:
        # Kubelet created it, and mounted it over a read-only root.
        handle = os.open(
            environment.get("TERMINATION_MESSAGE_PATH") or _MESSAGE_PATH, os.O_WRONLY | os.O_TRUNC
        )
    except OSError:
        return
    try:
        os.write(handle, message)
    except OSError:
        # The exit code and the log also report the result.
        return
    finally:
        os.close(handle)
