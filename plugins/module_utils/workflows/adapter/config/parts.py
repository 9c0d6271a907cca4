# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts of an AdapterConfig that only the adapter uses. Durations are in seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from ....clients.hyperfleet.connection import HyperFleetConnection, hyperfleet_connection

__all__ = [
    "DeletionSettings",
    "HyperFleetSettings",
    "JobTemplate",
    "PlacementSettings",
]


@dataclass(frozen=True)
class HyperFleetSettings:
    """How to connect to the HyperFleet API.

    :param flavour: ``current``, or ``contract`` for the form of the adapter contract.
    :param headers: sent with every request; never shown.
    """

    url: str
    timeout: float
    flavour: str
    token_file: str | None
    headers: Mapping[str, str] = field(repr=False)
    ca_cert: str | None
    validate_certs: bool

    def options(self) -> dict[str, Any]:
        """Return the settings as a module's option ``hyperfleet``."""
        return {
            "url": self.url,
            "token_file": self.token_file,
            "headers": dict(self.headers),
            "ca_cert": self.ca_cert,
            "validate_certs": self.validate_certs,
        }

    @property
    def has_tenant_header(self) -> bool:
        """Return whether the API may answer for one tenant only, and hide the clusters of others."""
        return any(name.lower().startswith("x-tenant") for name in self.headers)

    def connection(self) -> HyperFleetConnection:
        """Return the settings for ``HyperFleetClient``."""
        return hyperfleet_connection(self.options())


@dataclass(frozen=True)
class JobTemplate:
    """The Job that works for one cluster.

    :param image: None only if the adapter does the work inline.
    :param resources: ``{"requests": {...}, "limits": {...}}`` as in Kubernetes.
    :param ttl: seconds that a finished Job stays.
    :param deadline: seconds that a Job may take.
    :param keep_generations: how many earlier generations' Jobs stay.
    :param env: more variables, by name; never shown.
    :param gcp_api_timeout: seconds.
    """

    image: str | None
    service_account: str
    resources: Mapping[str, Mapping[str, str]]
    ttl: int
    backoff_limit: int
    deadline: int
    keep_generations: int
    image_pull_secrets: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    node_selector: Mapping[str, str]
    tolerations: tuple[Mapping[str, Any], ...]
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    priority_class: str | None
    log_level: str
    log_format: str
    gcp_api_timeout: float


@dataclass(frozen=True)
class PlacementSettings:
    """Where Secrets may be created.

    :param allowed_namespaces: names, with ``*`` for any part of one. None allows all namespaces that
        placement reports.
    :param management_cluster: placement's name of the management cluster in which the adapter works. None
        ignores which one placement reports.
    """

    allowed_namespaces: tuple[str, ...] | None = None
    management_cluster: str | None = None

    def allows(self, namespace: str) -> bool:
        """Return whether Secrets may be created in the namespace."""
        allowed = self.allowed_namespaces
        return allowed is None or any(fnmatchcase(namespace, pattern) for pattern in allowed)


@dataclass(frozen=True)
class DeletionSettings:
    """:param store: what happens to the stored secret when its cluster is deleted: ``delete`` or ``keep``."""

    store: str
