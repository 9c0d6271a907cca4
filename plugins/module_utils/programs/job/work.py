# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job of seed 003 from its environment to its end; what runs its phases, and prints its log, is given."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Optional

from ...model.errors import PullSecretError
from ...model.naming import shown_name
from ...workflows.provision.environment import JobSettings, read_environment
from .arguments import check, gcp_arguments, kubernetes_arguments
from .log import render

__all__ = ["GCP", "KUBERNETES", "Ended", "Job"]

GCP = "gcp-secret-manager"
KUBERNETES = "k8s-secret"
# Seed 003's own words.
_BEGINNINGS = {
    GCP: "Phase 1: Storing secret in GCP Secret Manager",
    KUBERNETES: "Phase 2: Creating Kubernetes Secret",
}


@dataclass(frozen=True)
class Ended:
    """What became of it.

    :param problem: why it failed, and :param kind: the kind of that error; None where it did not.
    :param phase: the last that was begun; None where the environment is wrong.
    :param version: in Secret Manager, of what the management cluster was given.
    :param versions: how many were made.
    :param replication_differs: whether the secret was there, and is replicated otherwise than was asked.
    """

    settings: Optional[JobSettings]
    problem: Optional[str] = None
    kind: Optional[str] = None
    phase: Optional[str] = None
    changed: bool = False
    version: Optional[str] = None
    versions: int = 0
    replication_differs: bool = False


class Job:
    """One run.

    :param ask: gives the result of a phase's module, from the phase's name and the module's arguments.
    :param show: prints a line of the log.
    :param ready: raises ConfigurationError where the places cannot be reached as the environment has it.
    """

    def __init__(
        self,
        ask: Callable[[str, dict[str, Any]], Mapping[str, Any]],
        show: Callable[[str], None],
        *,
        check_mode: bool = False,
        ready: Optional[Callable[[], None]] = None,
    ) -> None:
        self._ask = ask
        self._show = show
        self._check_mode = check_mode
        self._ready = ready
        self.settings: Optional[JobSettings] = None
        """Once they have been read; likewise ``phase`` once it has begun."""
        self.phase: Optional[str] = None

    def run(self, environment: Mapping[str, str], options: Mapping[str, Any]) -> Ended:
        """Both phases.

        :param options: ``gcp``, ``kubernetes`` and ``retry`` as the modules take them.
        """
        started = time.monotonic()
        try:
            self.settings = settings = read_environment(environment)
            check(settings)
            if self._ready is not None:
                self._ready()
        except PullSecretError as error:
            self.log("load-config", str(error), level="error")
            return Ended(self.settings, str(error), error.kind)
        self.log("load-config", "Configuration loaded")

        stored = self._phase(GCP, gcp_arguments(settings, options), settings.secret_name)
        if stored.get("failed"):
            return self._ended(stored, stored, started)
        target = stored["targets"][0]
        version = str(target.get("version") or "latest")
        unread = self._check_mode and stored["changed"]
        placed = self._phase(
            KUBERNETES,
            kubernetes_arguments(settings, options, None if unread else version),
            settings.k8s_secret_name,
        )
        # A newer version of another run may have stayed.
        holds = [str(target["version"]) for target in placed.get("targets") or () if target.get("version")]
        return self._ended(placed, stored, started, holds[0] if holds else version)

    def log(self, operation: str, message: Any, **fields: Any) -> None:
        """Print an entry, if it is of a level that is wanted."""
        settings = self.settings
        known: dict[str, Any] = {}
        if settings:
            known = {
                "cluster_id": settings.cluster_id,
                "gcp_project": shown_name("project", settings.gcp_project_id),
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

    def _phase(self, phase: str, arguments: dict[str, Any], secret: str) -> Mapping[str, Any]:
        """Run a phase's module, and log that it begins and what it did."""
        self.phase = phase
        # What the module did is told when it has ended; until then this says where the job is.
        self.log("begin", _BEGINNINGS[phase], secret_name=secret)
        answer = self._ask(phase, arguments)
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
        self,
        last: Mapping[str, Any],
        stored: Mapping[str, Any],
        started: float,
        version: Optional[str] = None,
    ) -> Ended:
        duration = int((time.monotonic() - started) * 1000)
        problem = str(last.get("msg")) if last.get("failed") else None
        if problem is None:
            self.log("exit", "Success: Pull secret provisioned", phase="exit", duration_ms=duration)
        else:
            self.log("exit", f"Failed: {problem}", phase="exit", level="error", duration_ms=duration)
        actions = [action for target in stored.get("targets") or () for action in target["actions"]]
        return Ended(
            self.settings,
            problem,
            _kind(last) if problem is not None else None,
            self.phase,
            bool(stored.get("changed") or last.get("changed")),
            version,
            actions.count("version added"),
            any(target.get("replication_differs") for target in stored.get("targets") or ()),
        )


def _fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "operation"}


def _kind(answer: Mapping[str, Any]) -> str:
    """Of its one target's failure, or its own."""
    for target in answer.get("targets") or ():
        if target.get("kind"):
            return str(target["kind"])
    return str(answer.get("kind") or "error")
