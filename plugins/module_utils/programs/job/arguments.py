# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job's two phases as the two modules' arguments.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from ...model.errors import ConfigurationError, reworded
from ...workflows.provision import gcp_pull_secret, k8s_pull_secret
from ...workflows.provision.environment import OPTIONS, JobSettings

__all__ = ["check", "gcp_arguments", "kubernetes_arguments"]

_DOCUMENT = {"env": "PULL_SECRET_DATA"}


def check(settings: JobSettings) -> None:
    """Both modules' own rules: what is wrong for the second must not be found after the first has written.

    :raises ConfigurationError: naming the variable.
    """
    try:
        gcp_pull_secret.build_target({"state": "present", **gcp_arguments(settings, {})})
        k8s_pull_secret.build_target({"state": "present", **kubernetes_arguments(settings, {}, None)})
    except ConfigurationError as error:
        raise reworded(error, OPTIONS) from None


def gcp_arguments(settings: JobSettings, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of M(hyperfleet.pull_secret.gcp_pull_secret).

    :param options: ``gcp``, ``kubernetes`` and ``retry`` as the modules take them.
    """
    return _given(
        {
            "cluster_id": settings.cluster_id,
            "cluster_name": settings.cluster_name,
            "project": settings.gcp_project_id,
            "secret": settings.secret_name,
            "replication": settings.replication,
            "locations": list(settings.locations) or None,
            "source": _DOCUMENT,
            "api_timeout": settings.api_timeout,
            "gcp": options.get("gcp"),
            "retry": options.get("retry"),
        }
    )


def kubernetes_arguments(
    settings: JobSettings, options: Mapping[str, Any], version: Optional[str]
) -> dict[str, Any]:
    """Those of M(hyperfleet.pull_secret.k8s_pull_secret).

    :param version: what the first phase stored; None in check mode, where it is not there yet.
    """
    stored = {"project": settings.gcp_project_id, "secret": settings.secret_name, "version": version}
    path = f"projects/{settings.gcp_project_id}/secrets/{settings.secret_name}"
    return _given(
        {
            "cluster_id": settings.cluster_id,
            "cluster_name": settings.cluster_name,
            "namespace": settings.management_namespace,
            "name": settings.k8s_secret_name,
            "gcp_secret_path": f"{path}/versions/latest",
            "source": {"gcp": stored} if version else _DOCUMENT,
            "api_timeout": settings.api_timeout,
            "gcp": options.get("gcp"),
            "kubernetes": options.get("kubernetes"),
            "retry": options.get("retry"),
        }
    )


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if value is not None}
