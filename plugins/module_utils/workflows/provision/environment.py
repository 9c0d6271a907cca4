# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads a cluster's description from the environment variables of the job contract. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...model.cluster import OPTIONS, Cluster, words_of
from ...model.duration import seconds
from ...model.errors import ConfigurationError, WrongOption
from ...model.limits import LIMITS
from ...model.naming import with_secret_names
from ...model.replication import parse_replication
from ...model.shown import MISPLACED
from ...model.tracing import trace_id
from ...runtime.secrecy import misplaced

__all__ = [
    "LEVELS",
    "SURROUNDINGS",
    "VARIABLES",
    "JobSettings",
    "read_environment",
]

_CLUSTER = {name: option.variable for name, option in OPTIONS.items() if option.variable is not None}
# The names for the log, without PULL_SECRET_DATA.
_SHOWN = {name: variable for name, variable in _CLUSTER.items() if OPTIONS[name].is_shown}
_CHOICES = ("LOG_LEVEL", "LOG_FORMAT", "GCP_API_TIMEOUT")
VARIABLES = (*_CLUSTER.values(), *_CHOICES, "TRACEPARENT", "TERMINATION_MESSAGE_PATH")
"""Variables that describe the job's cluster and its pod. No configuration sets them for all clusters at once.
"""
SURROUNDINGS = (
    "SECRET_MANAGER_EMULATOR_HOST",
    "GCE_METADATA_HOST",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "KUBECONFIG",
    "KUBERNETES_SERVICE_HOST",
    "KUBERNETES_SERVICE_PORT",
    "HTTPS_PROXY",
    "https_proxy",
)
"""Variables that say how to connect, for every cluster. The job reads only these two lists."""
LEVELS = ("debug", "info", "warn", "error")
# A replication policy that names every existing region has a thousand characters.
_LONGEST = 2048
_REQUIRED = ("cluster_id", "cluster_name", "gcp_project_id", "source", "management_namespace")


@dataclass(frozen=True)
class JobSettings:
    """The environment variables of the job contract, without the pull secret, which stays in the environment.

    :param cluster: with the names of both secrets.
    :param api_timeout: seconds.
    :param trace_id: of ``TRACEPARENT``, which the adapter sets; None if it is missing or invalid.
    """

    cluster: Cluster
    log_level: str = "info"
    log_format: str = "json"
    api_timeout: float = 30.0
    trace_id: str | None = None


def read_environment(environment: Mapping[str, str]) -> JobSettings:
    """Return the settings, with defaults and derived names.

    :raises ConfigurationError: names the variables, never a value of ``PULL_SECRET_DATA``.
    """
    try:
        cluster = with_secret_names(_cluster(environment))
    except WrongOption as error:
        raise error.called(words_of("variable")) from None
    return JobSettings(
        cluster,
        log_level=_choice(environment, "LOG_LEVEL", LEVELS, "info"),
        log_format=_choice(environment, "LOG_FORMAT", ("json", "text"), "json"),
        api_timeout=_seconds(environment.get("GCP_API_TIMEOUT") or "30s"),
        trace_id=trace_id(environment.get("TRACEPARENT")),
    )


def _cluster(environment: Mapping[str, str]) -> Cluster:
    astray = [name for name in _SHOWN.values() if misplaced({"value": environment.get(name, "")})]
    if astray:
        raise ConfigurationError(f"{', '.join(astray)}: {MISPLACED}")
    wrong = [name for name in _SHOWN.values() if not _is_text(environment.get(name, "").strip())]
    if wrong:
        raise ConfigurationError(f"{', '.join(wrong)}: must be at most {_LONGEST} printable characters")
    missing = [_CLUSTER[name] for name in _REQUIRED if not environment.get(_CLUSTER[name], "").strip()]
    if missing:
        raise ConfigurationError(f"required environment variables are not set: {', '.join(missing)}")
    told: dict[str, Any] = {
        name: environment.get(variable, "").strip() or None for name, variable in _SHOWN.items()
    }
    told["replication_text"] = text = environment.get(_CLUSTER["replication_text"]) or "automatic"
    policy, locations = parse_replication(text, _CLUSTER["replication_text"])
    told["source"] = {"env": _CLUSTER["source"]}
    return Cluster(**told, replication_policy=policy, replication_locations=list(locations) or None)


def _is_text(text: str) -> bool:
    return len(text) <= _LONGEST and text.isprintable()


def _choice(environment: Mapping[str, str], name: str, choices: tuple[str, ...], default: str) -> str:
    value = (environment.get(name) or default).strip().lower()
    value = {"warning": "warn"}.get(value, value)
    if value not in choices:
        raise ConfigurationError(f"{name} must be one of {', '.join(choices)}")
    return value


def _seconds(text: str) -> float:
    try:
        found = seconds(text)
    except ValueError:
        found = 0.0
    if not LIMITS["api_timeout"].fits(found):
        raise ConfigurationError("GCP_API_TIMEOUT must be a duration such as 30s or 1m30s, 24h at most")
    return found
