# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program of the job's container: without Ansible, without files, and mostly without any library."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
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
from .log import render
from .work import GCP, Ended, Job

__all__ = ["Program", "main", "ways"]

_MESSAGE_PATH = "/dev/termination-log"
# What the modules' argument specs have; one target is one thread.
_DEFAULTS: dict[str, Any] = {
    "api_timeout": 30.0,
    "timeout": 300.0,
    "concurrency": 1,
    # The job's contract names every variable that it reads, and K8S_AUTH_* are none of them.
    "kubernetes": {"k8s_auth": False},
}
_STOPPING = (signal.SIGTERM, signal.SIGINT)
# Seconds for what is under way when the pod is ended, which is killed 30 s after SIGTERM.
_GRACE = 10.0


def ways(environment: Mapping[str, str]) -> dict[str, Any]:
    """How the places are reached: by the libraries where they are needed, else by what is ten times as fast.

    The metadata server (Workload Identity) and the pod's own account need none.
    """
    options: dict[str, Any] = {}
    proxied = any(environment.get(name) for name in ("HTTPS_PROXY", "https_proxy"))
    if not (proxied or environment.get("GOOGLE_APPLICATION_CREDENTIALS")):
        options["gcp"] = {"transport": PLAIN}
    if not (proxied or environment.get("KUBECONFIG")):
        options["kubernetes"] = {"plain": True}
    return options


def _check_ways(environment: Mapping[str, str]) -> None:
    """Whether the second place has an address must not be found out after the first was written.

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

    :param environment: seed 003's variables and ``TERMINATION_MESSAGE_PATH``.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._started = time.monotonic()
        self._stop = threading.Event()
        # Not an Event: a signal's handler must take no lock, since what it interrupts may hold it.
        self._wake: SimpleQueue[None] = SimpleQueue()
        self._connections: StoreConnections | None = None
        self._ways = ways(environment)
        self._job = Job(self._ask, self._show, ready=lambda: _check_ways(environment))
        self._mask = Mask(sensitive_forms(os.fsencode(environment.get("PULL_SECRET_DATA", ""))))
        self._ended: Ended | None = None

    def run(self) -> int:
        """Work until it is done or stopped, write the termination message; the exit code."""
        # Stopped before it began: the worker must find it so, however quickly it starts.
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
        """Begin nothing more, and wait a moment for what is under way. A signal's handler may call it."""
        self._wake.put(None)

    def _work(self) -> None:
        try:
            self._ended = self._job.run(self._environment, self._ways)
        except Exception as error:  # noqa: BLE001 - Python would print its text
            failure = Failure.of(error)
            self._ended = Ended(self._job.settings, failure.message, failure.kind, self._job.phase)
            self._job.log("exit", f"Failed: {failure.message}", phase="exit", level="error")
        finally:
            self._wake.put(None)

    def _ask(self, phase: str, target: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
        """The module's work, in this process and over one connection a place."""
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
            # Nobody reads it any more; the work matters, and the termination message reports it.
            sys.stdout = _Nowhere()

    def _tell(self, ended: Ended) -> None:
        calls = self._connections.settings.calls if self._connections else Calls()
        said = outcome(
            ended, time.monotonic() - self._started, calls.of(Calls.GCP), calls.of(Calls.KUBERNETES)
        )
        _write_message(self._environment, written(self._mask.value(said)))


class _Nowhere:
    """A stream that takes everything and keeps nothing, without a file."""

    def write(self, text: str) -> int:
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""


def main(environment: Mapping[str, str] | None = None) -> int:
    """Do the job that the environment describes; 0, 1 or 2 (``ending.exit_code``)."""
    environment = os.environ if environment is None else environment
    # The image's Python does not know what packages are installed, which takes a while to find out.
    if len(ways(environment)) < 2 and sys.flags.no_site:
        import site

        site.main()
    # What libraries and Python itself say of an error may hold a value.
    sys.stderr = _Nowhere()
    try:
        program = Program(environment)
        for number in _STOPPING:
            signal.signal(number, lambda *_event: program.stop())
        # The image's start keeps them until now.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
        return program.run()
    except Exception as error:  # noqa: BLE001 - a defect, of which nobody would hear
        failure = Failure.of(error)
        ended = Ended(None, failure.message, failure.kind)
        entry = {"level": "error", "phase": "exit", "operation": "exit", "message": failure.message}
        sys.stdout.write(f"{render(entry, level='error', form='json')}\n")
        _write_message(environment, written(outcome(ended, 0.0)))
        return exit_code(ended)


def _write_message(environment: Mapping[str, str], message: bytes) -> None:
    try:
        # The kubelet made it, and mounted it over a root that nobody can write.
        handle = os.open(
            environment.get("TERMINATION_MESSAGE_PATH") or _MESSAGE_PATH, os.O_WRONLY | os.O_TRUNC
        )
    except OSError:
        return
    try:
        os.write(handle, message)
    except OSError:
        # The exit code and the log tell as well.
        return
    finally:
        os.close(handle)
