# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job of the job contract, from its environment to its end. Callers provide how to run phases and print
the log.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable

from ...model.cluster import words_of
from ...model.errors import PullSecretError
from ...model.naming import shown_name
from ...places.secret_manager.store import SecretManagerStore
from ...workflows.provision import place
from ...workflows.provision.checking import check_cluster
from ...workflows.provision.environment import JobSettings, read_environment
from ...workflows.provision.steps import Result, to_place, to_store
from .log import render

__all__ = ["GCP", "KUBERNETES", "Ended", "Job"]

GCP = SecretManagerStore.PHASE
KUBERNETES = place.PHASE
# The modules' options for connections.
_REACHED = ("gcp", "kubernetes", "retry")
# The phases' names in the job contract.
_BEGINNINGS = {
    GCP: "Phase 1: Storing secret in GCP Secret Manager",
    KUBERNETES: "Phase 2: Creating Kubernetes Secret",
}


@dataclass(frozen=True)
class Ended:
    """The result of the job.

    :param problem: why it failed; None if it did not.
    :param kind: the kind of that error.
    :param phase: the last phase that was begun; None if the environment is invalid.
    :param version: the version in Secret Manager that the management cluster has.
    :param versions: how many were added.
    :param replication_differs: whether the replication of an existing secret differs from the requested one.
    """

    settings: JobSettings | None
    problem: str | None = None
    kind: str | None = None
    phase: str | None = None
    changed: bool = False
    version: str | None = None
    versions: int = 0
    replication_differs: bool = False


class Job:
    """One run.

    :param ask: returns the result of a phase's module, from the phase's name, the target's options and the
        run's.
    :param show: prints a line of the log.
    :param ready: raises ConfigurationError if the environment does not allow a connection.
    """

    def __init__(
        self,
        ask: Callable[[str, dict[str, Any], dict[str, Any]], Mapping[str, Any]],
        show: Callable[[str], None],
        *,
        check_mode: bool = False,
        ready: Callable[[], None] | None = None,
    ) -> None:
        self._ask = ask
        self._show = show
        self._check_mode = check_mode
        self._ready = ready
        self.settings: JobSettings | None = None
        """None until the environment was read."""
        self.phase: str | None = None
        """None until the first phase has begun."""

    def run(self, environment: Mapping[str, str], options: Mapping[str, Any]) -> Ended:
        """Run both phases.

        :param options: the modules' options ``gcp``, ``kubernetes`` and ``retry``.
        """
        started = time.monotonic()
        try:
            self.settings = settings = read_environment(environment)
            check_cluster(settings.cluster, words_of("variable"))
            if self._ready is not None:
                self._ready()
        except PullSecretError as error:
            self.log("load-config", str(error), level="error")
            return Ended(self.settings, str(error), error.kind)
        self.log("load-config", "Configuration loaded")

        cluster = settings.cluster
        run = {name: options[name] for name in _REACHED if options.get(name) is not None}
        run["api_timeout"] = settings.api_timeout
        stored = self._phase(GCP, to_store(cluster), run, cluster.secret_name)
        if stored.get("failed"):
            return self._ended(stored, Result(_entry(stored), {}), started)
        entry = _entry(stored)
        placed = self._phase(KUBERNETES, to_place(cluster, entry, waits=True), run, cluster.k8s_secret_name)
        result = Result(entry, _entry(placed))
        return self._ended(placed, result, started, result.version or "latest")

    def log(self, operation: str, message: Any, **fields: Any) -> None:
        """Print an entry, if its level is enabled."""
        settings = self.settings
        known: dict[str, Any] = {}
        if settings:
            known = {
                "cluster_id": settings.cluster.cluster_id,
                "gcp_project": shown_name("project", settings.cluster.gcp_project_id),
            }
            if settings.trace_id is not None:
                known["trace_id"] = settings.trace_id
        entry = {"phase": self.phase or "initialization", "operation": operation, "message": message}
        line = render(
            {**known, **entry, **fields},
            level=settings.log_level if settings else "info",
            form=settings.log_format if settings else "json",
        )
        if line is not None:
            self._show(line)

    def _phase(
        self, phase: str, target: dict[str, Any], run: dict[str, Any], secret: str | None
    ) -> Mapping[str, Any]:
        """Run a phase's module, and log its start and its result."""
        self.phase = phase
        # The module's own entries come at its end. Until then, this entry shows the progress.
        self.log("begin", _BEGINNINGS[phase], secret_name=secret)
        answer = self._ask(phase, target, run)
        targets = answer.get("targets") or []
        if not targets:
            self.log("run", answer.get("msg"), level="error")
            return answer
        for entry in targets[0].get("operations", ()):
            self.log(entry["operation"], **{"secret_name": secret, **_fields(entry)})
        for warning in targets[0].get("warnings", ()):
            self.log("validate", warning, level="warn")
        if not answer.get("failed") and not answer.get("changed"):
            unchanged = "Secret data unchanged, no update needed"
            self.log("compare", unchanged, secret_name=secret, version=targets[0].get("version"))
        return answer

    def _ended(
        self, last: Mapping[str, Any], result: Result, started: float, version: str | None = None
    ) -> Ended:
        duration = int((time.monotonic() - started) * 1000)
        problem = str(last.get("msg")) if last.get("failed") else None
        if problem is None:
            self.log("exit", "Success: Pull secret provisioned", phase="exit", duration_ms=duration)
        else:
            self.log("exit", f"Failed: {problem}", phase="exit", level="error", duration_ms=duration)
        return Ended(
            self.settings,
            problem,
            str(_entry(last).get("kind") or last.get("kind") or "error") if problem is not None else None,
            self.phase,
            result.changed,
            version,
            result.added,
            result.replication_differs,
        )


def _fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "operation"}


def _entry(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the module's result for its one target, empty if the module failed as a whole."""
    return next(iter(answer.get("targets") or ()), {})
