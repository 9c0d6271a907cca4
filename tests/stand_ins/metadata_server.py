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

__all__ = ["ADDRESS", "MetadataServer", "metadata_server"]

ADDRESS = "127.0.0.9"


class MetadataServer(Server):
    """Takes connections and remembers what was sent on them."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        # Who connects closes at once, or sends something.
        super().__init__(lambda connection: self.received.append(connection.recv(65536)), host=ADDRESS)


@contextlib.contextmanager
def metadata_server(monkeypatch: pytest.MonkeyPatch, **names: list[str]) -> Iterator[MetadataServer]:
    """The service, and what each name leads to in turn, the last from then on; ``_`` stands for a dot."""
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
    with contextlib.closing(MetadataServer()) as server:
        yield server
