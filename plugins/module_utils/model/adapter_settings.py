# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts of an AdapterConfig that the event source uses, too: broker, batch, log and metrics.  Pure.

``workflows.adapter.config`` reads and checks the whole of it. Durations are seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BatchSettings", "BrokerSettings", "LoggingSettings", "MetricsSettings"]


@dataclass(frozen=True)
class BrokerSettings:
    """Where events come from.

    :param type: ``gcp-pubsub``, ``rabbitmq``, ``webhook``; ``none`` where the configuration has no broker.
    :param project: of Google Cloud.
    :param endpoint: of an emulator of Pub/Sub: ``host:port``.
    :param url: of RabbitMQ, without a password; a file or ``BROKER_RABBITMQ_URL`` may hold one.
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
