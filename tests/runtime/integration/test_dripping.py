# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A server that answers one byte at a time delays a call no longer than the call's time limit."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Callable, Iterator

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.client import (
    SecretManagerClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.client import (
    KubernetesClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import Unavailable
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.hyperfleet_spec import (
    HyperFleetSource,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Retrier, RetryPolicy
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings

_ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
    b"X-Padding: " + b"x" * 100 + b"\r\n\r\n{}"
)
# Every byte comes in time, but all of them take too long. Without the limit a call would get its answer.
_LIMIT, _PACE = 1.0, 0.05


class Dripping(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Drip)
        self.requests = 0
        self.over = threading.Event()


class _Drip(socketserver.BaseRequestHandler):
    server: Dripping
    request: socket.socket

    def handle(self) -> None:
        self.request.recv(65536)
        self.server.requests += 1
        try:
            for byte in _ANSWER:
                self.request.sendall(bytes([byte]))
                if self.server.over.wait(_PACE):
                    return
        except OSError:
            pass


@pytest.fixture
def dripping() -> Iterator[Dripping]:
    with Dripping() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()


def gcp(settings: RunSettings) -> object:
    return (
        SecretManagerClients(settings)
        .get(settings.deadline())
        .get_secret("projects/p/secrets/s", settings.deadline())
    )


def kubernetes(settings: RunSettings) -> object:
    return KubernetesClients(settings).get(settings.deadline()).get("n", "secrets", "s", settings.deadline())


def hyperfleet(settings: RunSettings) -> object:
    return HyperFleetSource(settings).read({"cluster_id": "cls-1"}, settings.deadline())


@pytest.mark.parametrize("read", [gcp, kubernetes, hyperfleet])
def test_a_call_ends_at_its_limit_and_is_made_again(
    dripping: Dripping, read: Callable[[RunSettings], object]
) -> None:
    url = f"http://127.0.0.1:{dripping.server_address[1]}"
    settings = RunSettings(
        retrier=Retrier(RetryPolicy(tries=2, delay=0.01)),
        api_timeout=_LIMIT,
        connections={
            "gcp": {"endpoint": url, "transport": "rest"},
            "kubernetes": {"host": url},
            "hyperfleet": {"url": url},
        },
    )
    with pytest.raises(
        Unavailable, match=r"the answer .*was not complete within api_timeout.*\(tried 2 times\)"
    ):
        read(settings)
    assert dripping.requests == 2
