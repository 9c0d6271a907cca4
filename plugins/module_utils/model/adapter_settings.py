# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts of an AdapterConfig that the event source also uses: broker, batch, log and metrics. Pure.

``workflows.adapter.config`` reads and checks the complete document. Durations are in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BatchSettings", "BrokerSettings", "LoggingSettings", "MetricsSettings"]


@dataclass(frozen=True)
class BrokerSettings:
    """Where events come from.

    :param type: ``gcp-pubsub``, ``rabbitmq``, ``webhook``; ``none`` if the configuration has no broker.
    :param project: of Google Cloud.
    :param endpoint: of an emulator of Pub/Sub: ``host:port``.
    :param url: of RabbitMQ, without a password; a file or ``BROKER_RABBITMQ_URL`` may have one.
    :param queue: its full name.
    :param prefetch: maximum number of unacknowledged messages.
    :param token_file: the token that a webhook's callers must send.
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
    """:param size: maximum number of clusters in one run.
    :param window: seconds for which events are collected.
    """

    size: int
    window: float


@dataclass(frozen=True)
class LoggingSettings:
    """:param level: ``debug``, ``info``, ``warn``, ``error``. :param format: ``json`` or ``text``."""

    level: str
    format: str


@dataclass(frozen=True)
class MetricsSettings:
    """:param port: of health and metrics; 0 for none.
    :param per_cluster: whether metrics have clusters as labels.
    """

    port: int
    address: str
    per_cluster: bool
