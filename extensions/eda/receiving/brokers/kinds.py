# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kinds of brokers. A new kind needs a class in its own file, and a line here."""

from __future__ import annotations

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.base import Broker
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.pubsub import PubSubBroker
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.rabbitmq import (
    RabbitMQBroker,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.brokers.webhook import WebhookBroker

__all__ = ["BROKERS"]

BROKERS: dict[str, type[Broker]] = {one.NAME: one for one in (PubSubBroker, RabbitMQBroker, WebhookBroker)}
