# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job's contract of seed 003: its environment variables.  Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional

from ...model.duration import seconds
from ...model.errors import ConfigurationError, reworded
from ...model.limits import LIMITS
from ...model.naming import check_cluster_id, gcp_secret_id, kubernetes_secret_name
from ...model.replication import parse_replication
from ...model.shown import MISPLACED
from ...runtime.secrecy import misplaced

__all__ = [
    "LEVELS",
    "OPTIONS",
    "SURROUNDINGS",
    "VARIABLES",
    "JobSettings",
    "read_environment",
]

# What the log names: not the place for PULL_SECRET_DATA.
_SHOWN = (
    "CLUSTER_ID",
    "CLUSTER_NAME",
    "GCP_PROJECT_ID",
    "SECRET_NAME",
    "MANAGEMENT_NAMESPACE",
    "K8S_SECRET_NAME",
    "REPLICATION_POLICY",
)
_CHOICES = ("LOG_LEVEL", "LOG_FORMAT", "GCP_API_TIMEOUT")
VARIABLES = (*_SHOWN, "PULL_SECRET_DATA", *_CHOICES, "TRACEPARENT", "TERMINATION_MESSAGE_PATH")
"""What a job is told of its cluster and by its pod: nobody's to set for all clusters at once."""
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
"""What says how the places are reached, for every cluster.  The job reads nothing beside these two lists."""
OPTIONS = {
    "cluster_id": "CLUSTER_ID",
    "project": "GCP_PROJECT_ID",
    "secret": "SECRET_NAME",
    "replication": "REPLICATION_POLICY",
    "namespace": "MANAGEMENT_NAMESPACE",
    "name": "K8S_SECRET_NAME",
}
"""Options of the two modules -> the variables that give them."""
LEVELS = ("debug", "info", "warn", "error")
# W3C's, of the version that there is.
_TRACE = re.compile(r"00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}\Z")
# A replication policy that names every region there is has a thousand.
_LONGEST = 2048
_REQUIRED = ("CLUSTER_ID", "CLUSTER_NAME", "GCP_PROJECT_ID", "PULL_SECRET_DATA", "MANAGEMENT_NAMESPACE")


@dataclass(frozen=True)
class JobSettings:
    """The table "Environment Variables" of seed 003, without the pull secret, which stays where it is.

    :param api_timeout: seconds.
    :param trace_id: of ``TRACEPARENT``, which the adapter gives its Jobs; None where that is none.
    """

    cluster_id: str
    cluster_name: str
    gcp_project_id: str
    secret_name: str
    management_namespace: str
    k8s_secret_name: str
    replication: str = "automatic"
    locations: tuple[str, ...] = ()
    log_level: str = "info"
    log_format: str = "json"
    api_timeout: float = 30.0
    trace_id: Optional[str] = None


def read_environment(environment: Mapping[str, str]) -> JobSettings:
    """The settings, defaults and derived names filled in.

    :raises ConfigurationError: names the variables, never a value of ``PULL_SECRET_DATA``.
    """
    astray = [name for name in _SHOWN if misplaced({"value": environment.get(name, "")})]
    if astray:
        raise ConfigurationError(f"{', '.join(astray)}: {MISPLACED}")
    wrong = [name for name in _SHOWN if not _is_text(environment.get(name, "").strip())]
    if wrong:
        raise ConfigurationError(
            f"{', '.join(wrong)}: not {_LONGEST} characters at most, all of which can be printed"
        )
    missing = [name for name in _REQUIRED if not environment.get(name, "").strip()]
    if missing:
        raise ConfigurationError(f"required environment variables are not set: {', '.join(missing)}")
    try:
        cluster_id = check_cluster_id(environment["CLUSTER_ID"].strip())
    except ConfigurationError as error:
        raise reworded(error, OPTIONS) from None
    policy = environment.get("REPLICATION_POLICY") or "automatic"
    replication, locations = parse_replication(policy, "REPLICATION_POLICY")
    return JobSettings(
        cluster_id=cluster_id,
        cluster_name=environment["CLUSTER_NAME"].strip(),
        gcp_project_id=environment["GCP_PROJECT_ID"].strip(),
        secret_name=environment.get("SECRET_NAME", "").strip() or gcp_secret_id(cluster_id),
        management_namespace=environment["MANAGEMENT_NAMESPACE"].strip(),
        k8s_secret_name=environment.get("K8S_SECRET_NAME", "").strip() or kubernetes_secret_name(cluster_id),
        replication=replication,
        locations=locations,
        log_level=_choice(environment, "LOG_LEVEL", LEVELS, "info"),
        log_format=_choice(environment, "LOG_FORMAT", ("json", "text"), "json"),
        api_timeout=_seconds(environment.get("GCP_API_TIMEOUT") or "30s"),
        trace_id=_trace(environment.get("TRACEPARENT", "")),
    )


def _is_text(text: str) -> bool:
    return len(text) <= _LONGEST and text.isprintable()


def _choice(environment: Mapping[str, str], name: str, choices: tuple[str, ...], default: str) -> str:
    value = (environment.get(name) or default).strip().lower()
    value = {"warning": "warn"}.get(value, value)
    if value not in choices:
        raise ConfigurationError(f"{name} is one of {', '.join(choices)}")
    return value


def _seconds(text: str) -> float:
    try:
        found = seconds(text)
    except ValueError:
        found = 0.0
    if not LIMITS["api_timeout"].fits(found):
        raise ConfigurationError("GCP_API_TIMEOUT must be a duration such as 30s or 1m30s, 24h at most")
    return found


def _trace(text: str) -> Optional[str]:
    found = _TRACE.match(text)
    return found.group(1) if found else None
