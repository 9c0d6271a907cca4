# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The number of Google clients of one connection to Secret Manager."""

from __future__ import annotations

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.auth import (
    GoogleConnection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.client import (
    SecretManagerClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings


@pytest.mark.parametrize(
    ("transport", "concurrency", "clients"),
    [("rest", 1, 1), ("rest", 10, 1), ("rest", 25, 3), ("grpc", 25, 1)],
)
def test_requests_keeps_ten_connections_of_each(transport: str, concurrency: int, clients: int) -> None:
    connection = GoogleConnection(transport=transport, endpoint="127.0.0.1:1", plaintext=True)
    client = SecretManagerClient(connection, RunSettings(concurrency=concurrency))
    used = [client._api for _number in range(3 * clients)]
    assert len({id(one) for one in used}) == clients
    assert used[:clients] == used[clients : 2 * clients]
