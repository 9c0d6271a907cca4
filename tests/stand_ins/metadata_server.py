# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands for a cloud's metadata service: a forbidden address of loopback, and names that lead there."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes import addresses
from tests.stand_ins.tcp_server import Server

__all__ = ["ADDRESS", "metadata_server"]

ADDRESS = "127.0.0.9"


@contextlib.contextmanager
def metadata_server(
    monkeypatch: pytest.MonkeyPatch, **names: list[str]
) -> Iterator[tuple[Server, list[bytes]]]:
    """The service, and what was sent to it.

    :param names: what each name leads to in turn, the last from then on; ``_`` stands for a dot.
    """
    received: list[bytes] = []
    real = socket.getaddrinfo
    left = {name.replace("_", "."): list(found) for name, found in names.items()}

    def resolve(host: Any, *arguments: Any, **options: Any) -> Any:
        text = host.decode() if isinstance(host, bytes) else host
        if text in left:
            found = left[text]
            host = found.pop(0) if len(found) > 1 else found[0]
        return real(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(addresses, "_METADATA", (ipaddress.ip_network(ADDRESS),))
    # Who connects closes at once, or sends something.
    server = Server(lambda connection: received.append(connection.recv(65536)), host=ADDRESS)
    with contextlib.closing(server):
        yield server, received
