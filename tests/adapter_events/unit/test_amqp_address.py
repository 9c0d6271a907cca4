# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The address of RabbitMQ comes from an option, a file or the environment; no message quotes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.messaging.rabbitmq import (
    AmqpAddress,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError

_SECRET = "example-password"


def test_where_an_address_comes_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("BROKER_RABBITMQ_URL", raising=False)
    with pytest.raises(ConfigurationError, match=r"^set either broker\.url or broker\.url_file"):
        AmqpAddress.of({}, "broker")
    monkeypatch.setenv("BROKER_RABBITMQ_URL", f"amqp://u:{_SECRET}@mq:5672/")
    found = AmqpAddress.of({}, "broker")
    assert (found.url(), found.place) == (f"amqp://u:{_SECRET}@mq:5672/", "mq:5672")
    assert _SECRET not in repr(found)
    given = AmqpAddress.of({"url": "amqps://user@mq/vhost"}, "broker")
    assert (given.url(), given.place) == ("amqps://user@mq/vhost", "mq:5671")
    file = tmp_path / "url"
    file.write_text(f"amqps://u:{_SECRET}@mq/\n")
    held = AmqpAddress.of({"url_file": str(file)}, "broker")
    assert held.url() == f"amqps://u:{_SECRET}@mq/"


def test_an_address_that_cannot_be_used_is_not_quoted(tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text(f"https://u:{_SECRET}@mq/")
    with pytest.raises(ConfigurationError, match=r"url_file must be an amqp or amqps address") as caught:
        AmqpAddress.of({"url_file": str(file)}, "broker")
    assert _SECRET not in str(caught.value)
    file.unlink()
    with pytest.raises(ConfigurationError, match=r"^broker\.url_file .* cannot be read: No such file"):
        AmqpAddress.of({"url_file": str(file)}, "broker")
