# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts of an adapter's configuration.  Durations are seconds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from ....clients.hyperfleet.connection import HyperFleetConnection, hyperfleet_connection
from ....model.errors import ConfigurationError
from ....model.shown import shown_path
from ....runtime.atomic_file import read_regular

__all__ = [
    "BatchSettings",
    "BrokerSettings",
    "DeletionSettings",
    "HyperFleetSettings",
    "JobTemplate",
    "LoggingSettings",
    "MetricsSettings",
    "PlacementSettings",
]

_URL_VARIABLE = "BROKER_RABBITMQ_URL"


@dataclass(frozen=True)
class HyperFleetSettings:
    """The API.

    :param flavour: ``current``, or ``seed`` as seeds 002 and 003 have it.
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
class BrokerSettings:
    """Where events come from.

    :param type: ``gcp-pubsub``, ``rabbitmq``, ``webhook``; ``none`` where the configuration has no broker.
    :param project: of Google Cloud.
    :param endpoint: of an emulator of Pub/Sub: ``host:port``.
    :param url: of RabbitMQ, as it stands in the configuration; ``address`` is what to connect to.
    :param queue: its whole name.
    :param prefetch: how many messages may be on their way unacknowledged.
    :param token_file: what a webhook's callers have to show.
    """

    type: str = "none"
    subscription: str | None = None
    project: str | None = None
    endpoint: str | None = None
    url: str | None = None
    url_file: str | None = None
    topic: str | None = None
    exchange: str | None = None
    exchange_type: str = "topic"
    queue: str | None = None
    ca_cert: str | None = None
    prefetch: int = 2000
    listen_address: str = "127.0.0.1"
    listen_port: int = 8081
    token_file: str | None = None

    def address(self) -> str:
        """RabbitMQ's address, which may hold a password: from the configuration, its file or the environment.

        :raises ConfigurationError: there is none, or the file cannot be read.
        """
        found = self.url or os.environ.get(_URL_VARIABLE, "")
        if self.url_file:
            where = f"spec.broker.urlFile {shown_path(self.url_file)}"
            try:
                found = read_regular(self.url_file)[0].decode("utf-8")
            except (OSError, UnicodeDecodeError) as error:
                why = getattr(error, "strerror", None) or "not text"
                raise ConfigurationError(f"{where} cannot be read: {why}") from None
        else:
            where = f"the environment variable {_URL_VARIABLE}"
        found = found.strip()
        if not found:
            raise ConfigurationError(
                "no address of RabbitMQ", f"set spec.broker.url, spec.broker.urlFile or {_URL_VARIABLE}"
            )
        if not found.startswith(("amqp://", "amqps://")) or not found.isprintable() or " " in found:
            raise ConfigurationError(f"{where} does not hold an amqp or amqps address")
        return found


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


@dataclass(frozen=True)
class BatchSettings:
    """:param size: clusters in one run, at most.  :param window: seconds that events are gathered for."""

    size: int
    window: float


@dataclass(frozen=True)
class LoggingSettings:
    """:param level: ``debug``, ``info``, ``warn``, ``error``.  :param format: ``json`` or ``text``."""

    level: str
    format: str


@dataclass(frozen=True)
class MetricsSettings:
    """:param port: of health and metrics; 0 for none.  :param per_cluster: whether clusters are labels."""

    port: int
    address: str
    per_cluster: bool
