# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    ConfigurationError,
    PullSecretError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.secrecy import shown
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    gcp_pull_secret,
    k8s_pull_secret,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.job import (
    VARIABLES,
    JobSettings,
    read_environment,
    render,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.problems import reworded

display = Display()

_GCP = "hyperfleet.pull_secret.gcp_pull_secret"
_KUBERNETES = "hyperfleet.pull_secret.k8s_pull_secret"
# Seed 003's own words.
_BEGINNINGS = {
    _GCP: "Phase 1: Storing secret in GCP Secret Manager",
    _KUBERNETES: "Phase 2: Creating Kubernetes Secret",
}


class ActionModule(ActionBase):
    """Both workflows for one cluster, configured and logged as seed 003's job is."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: Any = None) -> dict[str, Any]:
        """See M(hyperfleet.pull_secret.pull_secret_job)."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        _validated, options = self.validate_argument_spec(
            argument_spec=dict(gcp=dict(type="dict"), kubernetes=dict(type="dict"), retry=dict(type="dict"))
        )
        started = time.monotonic()
        try:
            self._settings = settings = read_environment(os.environ)
            _check(settings)
        except PullSecretError as error:
            self._log(
                {
                    "level": "error",
                    "phase": "initialization",
                    "operation": "load-config",
                    "message": str(error),
                }
            )
            return {**result, "failed": True, "msg": str(error), "logged": True}
        self._log({"phase": "initialization", "operation": "load-config", "message": "Configuration loaded"})

        stored = self._phase(_GCP, _gcp_arguments(settings, options), task_vars, settings.secret_name)
        if stored.get("failed"):
            return self._ended(result, stored, started)
        version = str(stored["targets"][0].get("version") or "latest")
        check_only = self._task.check_mode and stored["changed"]
        placed = self._phase(
            _KUBERNETES,
            _kubernetes_arguments(settings, options, None if check_only else version),
            task_vars,
            settings.k8s_secret_name,
        )
        result["changed"] = stored["changed"] or placed.get("changed", False)
        result["version"] = version
        return self._ended(result, placed, started)

    _settings: JobSettings | None = None

    def _phase(self, action: str, arguments: dict[str, Any], task_vars: Any, secret: str) -> dict[str, Any]:
        """Run one of the modules through its own action plugin, and log that it begins and what it did."""
        # What the module did is told when it has ended; until then this says where the job is.
        self._log(
            {
                "phase": _phase_name(action),
                "operation": "begin",
                "message": _BEGINNINGS[action],
                "secret_name": secret,
            }
        )
        task = self._task.copy()
        task.args = arguments
        handler = self._shared_loader_obj.action_loader.get(
            action,
            task=task,
            connection=self._connection,
            play_context=self._play_context,
            loader=self._loader,
            templar=self._templar,
            shared_loader_obj=self._shared_loader_obj,
        )
        answer: dict[str, Any] = handler.run(task_vars=task_vars)
        targets = answer.get("targets") or []
        for entry in targets[0].get("operations", ()) if targets else ():
            self._log({"secret_name": secret, **entry})
        for warning in targets[0].get("warnings", ()) if targets else ():
            self._log(
                {"level": "warn", "phase": _phase_name(action), "operation": "validate", "message": warning}
            )
        if not targets:
            self._log(
                {
                    "level": "error",
                    "phase": _phase_name(action),
                    "operation": "run",
                    "message": answer.get("msg"),
                }
            )
        elif not answer.get("failed") and not answer.get("changed"):
            self._log(
                {
                    "phase": _phase_name(action),
                    "operation": "compare",
                    "message": "Secret data unchanged, no update needed",
                    "secret_name": secret,
                    "version": targets[0].get("version"),
                }
            )
        return answer

    def _ended(self, result: dict[str, Any], last: Mapping[str, Any], started: float) -> dict[str, Any]:
        duration = int((time.monotonic() - started) * 1000)
        if last.get("failed"):
            message = f"Failed: {last.get('msg')}"
            self._log(
                {
                    "level": "error",
                    "phase": "exit",
                    "operation": "exit",
                    "message": message,
                    "duration_ms": duration,
                }
            )
            return {**result, "failed": True, "msg": str(last.get("msg")), "logged": True}
        self._log(
            {
                "phase": "exit",
                "operation": "exit",
                "message": "Success: Pull secret provisioned",
                "duration_ms": duration,
            }
        )
        return result

    def _log(self, entry: Mapping[str, Any]) -> None:
        settings = self._settings
        known = (
            {"cluster_id": settings.cluster_id, "gcp_project": shown(settings.gcp_project_id)}
            if settings
            else {}
        )
        line = render(
            {**known, **entry},
            level=settings.log_level if settings else "info",
            form=settings.log_format if settings else "json",
        )
        if line is not None:
            display.display(line)


def _check(settings: JobSettings) -> None:
    """Both modules' own rules: what is wrong for the second must not be found after the first has written.

    :raises ConfigurationError: naming the variable.
    """
    try:
        gcp_pull_secret.build_target({"state": "present", **_gcp_arguments(settings, {})})
        k8s_pull_secret.build_target({"state": "present", **_kubernetes_arguments(settings, {}, None)})
    except ConfigurationError as error:
        raise reworded(error, VARIABLES) from None


def _phase_name(action: str) -> str:
    return "gcp-secret-manager" if action == _GCP else "k8s-secret"


def _gcp_arguments(settings: JobSettings, options: Mapping[str, Any]) -> dict[str, Any]:
    arguments = {
        "cluster_id": settings.cluster_id,
        "cluster_name": settings.cluster_name,
        "project": settings.gcp_project_id,
        "secret": settings.secret_name,
        "replication": settings.replication,
        "locations": list(settings.locations) or None,
        "source": {"env": "PULL_SECRET_DATA"},
        "api_timeout": settings.api_timeout,
        "gcp": options.get("gcp"),
        "retry": options.get("retry"),
    }
    return {key: value for key, value in arguments.items() if value is not None}


def _kubernetes_arguments(
    settings: JobSettings, options: Mapping[str, Any], version: str | None
) -> dict[str, Any]:
    """:param version: what workflow 1 stored; None in check mode, where it is not there yet."""
    stored = {"project": settings.gcp_project_id, "secret": settings.secret_name, "version": version}
    path = f"projects/{settings.gcp_project_id}/secrets/{settings.secret_name}"
    arguments = {
        "cluster_id": settings.cluster_id,
        "cluster_name": settings.cluster_name,
        "namespace": settings.management_namespace,
        "name": settings.k8s_secret_name,
        "gcp_secret_path": f"{path}/versions/latest",
        "source": {"gcp": stored} if version else {"env": "PULL_SECRET_DATA"},
        "api_timeout": settings.api_timeout,
        "gcp": options.get("gcp"),
        "kubernetes": options.get("kubernetes"),
        "retry": options.get("retry"),
    }
    return {key: value for key, value in arguments.items() if value is not None}
