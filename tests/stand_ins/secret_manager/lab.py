# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in as one object: a store behind a gRPC and a REST server on 127.0.0.1."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .admin import Admin
from .calls import Calls
from .faults import FaultTable
from .grpc_server import start_grpc
from .rest_server import RestServer
from .seed import seed
from .service import SecretManagerService
from .store import Store

__all__ = ["SecretManagerLab"]


class SecretManagerLab:
    """Context manager. `grpc` is `127.0.0.1:port` (plain text), `rest` is `http://127.0.0.1:port`.

    `rest_address` is another address of this machine for `rest`: one that the lab's pods reach.

    `clock` gives nanoseconds since the epoch: by it a fault with `late` is old.

    `on_call` is called after each call, before it is answered.
    """

    def __init__(
        self,
        *,
        rest_address: str = "127.0.0.1",
        threads: int = 16,
        per_resource: bool = False,
        clock: Callable[[], int] = time.time_ns,
        on_call: Callable[[], None] = lambda: None,
    ) -> None:
        self.store = Store(clock=clock)
        self.faults = FaultTable(self.store.remember)
        self.calls = Calls(per_resource=per_resource)
        self._service = SecretManagerService(self.store, self.faults, self.calls, on_call)
        self._rest_address = rest_address
        self._threads = threads
        self._grpc_server: Any = None
        self._rest_server: RestServer | None = None
        self.grpc = ""
        self.rest = ""

    def start(self) -> SecretManagerLab:
        """Listen on free ports, and serve."""
        admin = Admin(self.store, self.faults, self.calls)
        self._rest_server = RestServer(self._service, admin, self._rest_address)
        self._grpc_server, port = start_grpc(self._service, threads=self._threads)
        self.grpc = f"127.0.0.1:{port}"
        self.rest = self._rest_server.url
        return self

    def stop(self) -> None:
        """Stop at once: calls under way are cut off."""
        self._service.stopping.set()
        if self._grpc_server is not None:
            self._grpc_server.stop(grace=None).wait()
            self._grpc_server = None
        if self._rest_server is not None:
            self._rest_server.stop()
            self._rest_server = None

    def __enter__(self) -> SecretManagerLab:
        return self.start()

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    def seed(self, secrets: Iterable[Mapping[str, Any]]) -> int:
        """Create secrets without calls: see `seed.seed`."""
        return seed(self.store, secrets)

    def reset(self) -> None:
        """Forget secrets, faults and counters."""
        self.store.reset()
        self.faults.clear()
        self.calls.reset()
