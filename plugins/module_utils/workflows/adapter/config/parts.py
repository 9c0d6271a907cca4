# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts of an AdapterConfig that only the adapter uses.  Durations are seconds."""

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
    """The API.

    :param flavour: ``current``, or ``contract`` as the adapter contract has it.
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
        """As a module's option ``hyperfleet`` takes it."""
        return {
            "url": self.url,
            "token_file": self.token_file,
            "headers": dict(self.headers),
            "ca_cert": self.ca_cert,
            "validate_certs": self.validate_certs,
        }

    def connection(self) -> HyperFleetConnection:
        """The same for ``HyperFleetClient``."""
        return hyperfleet_connection(self.options())


@dataclass(frozen=True)
class JobTemplate:
    """The Job that works for one cluster.

    :param image: None only where the adapter does the work itself.
    :param resources: ``{"requests": {...}, "limits": {...}}`` as Kubernetes takes them.
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
    """Where the management cluster may get Secrets.

    :param allowed_namespaces: names, with ``*`` for any part of one; None: all that placement says.
    """

    allowed_namespaces: tuple[str, ...] | None = None

    def allows(self, namespace: str) -> bool:
        """Whether something may be made there."""
        allowed = self.allowed_namespaces
        return allowed is None or any(fnmatchcase(namespace, pattern) for pattern in allowed)


@dataclass(frozen=True)
class DeletionSettings:
    """:param store: what becomes of the stored secret with its cluster: ``delete`` or ``keep``."""

    store: str
