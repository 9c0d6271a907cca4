# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Brokers for the time of a session, and what must never be in a log."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.lab.pubsub import PubSub, pubsub
from tests.lab.rabbitmq import PASSWORD, RabbitMQ, rabbitmq


@pytest.fixture(scope="session")
def broker() -> Iterator[RabbitMQ]:
    """A RabbitMQ; each test has names of its own in it."""
    with rabbitmq() as found:
        yield found


@pytest.fixture(scope="session")
def emulator() -> Iterator[PubSub]:
    """Google's Pub/Sub emulator; each test has names of its own in it."""
    with pubsub() as found:
        yield found


@pytest.fixture
def no_password(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Nothing that was logged, however verbosely, has the broker's password in it."""
    caplog.set_level(logging.DEBUG)
    yield caplog
    # `caplog.text` is the teardown's own here.
    logged = [caplog.handler.format(one) for when in ("setup", "call") for one in caplog.get_records(when)]
    assert logged, "nothing was logged, so nothing was looked at"
    assert PASSWORD not in "\n".join(logged)
