# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Starts the brokers, one each for all tests, and checks that no log contains the broker's password."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.lab.pubsub import PubSub, pubsub
from tests.lab.rabbitmq import PASSWORD, RabbitMQ, rabbitmq


@pytest.fixture(scope="session")
def broker() -> Iterator[RabbitMQ]:
    """A RabbitMQ server. Each test uses its own names in it."""
    with rabbitmq() as found:
        yield found


@pytest.fixture(scope="session")
def emulator() -> Iterator[PubSub]:
    """Google's Pub/Sub emulator. Each test uses its own names in it."""
    with pubsub() as found:
        yield found


@pytest.fixture
def no_password(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Check that no log record, at any level, contains the broker's password."""
    caplog.set_level(logging.DEBUG)
    yield caplog
    # During teardown `caplog.text` holds only the records of the teardown.
    logged = [caplog.handler.format(one) for when in ("setup", "call") for one in caplog.get_records(when)]
    assert logged, "no log records: nothing was checked"
    assert PASSWORD not in "\n".join(logged)
