# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in as one object: a store behind a gRPC and a REST server on loopback."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from google.api_core.exceptions import GoogleAPICallError
from google.protobuf import json_format

from tests.stand_ins.http_server import Answer, Request, Server
from tests.stand_ins.lab import Lab
from tests.stand_ins.rules import CallLog

from . import rest
from .faults import FaultTable
from .methods import HANDLERS
from .protos import METHODS, SERVICE, STATE_NUMBER, CreateSecretRequest, Message
from .service import Call, SecretManagerService, status_of
from .store import Store

__all__ = ["SecretManagerLab"]


class SecretManagerLab(Lab):
    """Context manager. `grpc` is `127.0.0.1:port` (plain text), `rest` is `http://127.0.0.1:port`.

    `rest_address` and `grpc_address` are other addresses of this machine: those that the lab's pods reach.

    `clock` gives nanoseconds since the epoch: by it a fault with `late` is old.

    `on_call` is called after each call, before it is answered.
    """

    def __init__(
        self,
        *,
        rest_address: str = "127.0.0.1",
        grpc_address: str = "127.0.0.1",
        threads: int = 16,
        clock: Callable[[], int] = time.time_ns,
        on_call: Callable[[], None] = lambda: None,
    ) -> None:
        self.store = Store(clock=clock)
        self.faults = FaultTable(self.store.remember)
        self.calls = CallLog[Call]("method", "resource", "code")
        self._service = SecretManagerService(self.store, self.faults, self.calls, on_call)
        self.server = Server(self.serve, rest_address)
        self.rest = self.server.url
        self._grpc_server = _grpc_server(self._service, threads)
        self.grpc = f"{grpc_address}:{self._grpc_server.add_insecure_port(f'{grpc_address}:0')}"

    def start(self) -> SecretManagerLab:
        self._grpc_server.start()
        return super().start()

    def stop(self) -> None:
        self._service.stopping.set()
        self._grpc_server.stop(grace=None).wait()
        super().stop()

    def address(self) -> dict[str, str | None]:
        return {"grpc": self.grpc, "rest": self.rest}

    def seed(self, documents: Sequence[Mapping[str, Any]]) -> int:
        """Create secrets without calls and return their number; an error for one that cannot be.

        A secret is {"project", "secret", "labels", "annotations", "replication" (as in the REST API, default
        automatic), "versions": [{"data" (text or bytes), "state" (default ENABLED)}]}.
        """
        for item in documents:
            secret: dict[str, Any] = {"replication": {"automatic": {}}}
            secret |= {key: item[key] for key in ("labels", "annotations", "replication") if item.get(key)}
            parent, secret_id = f"projects/{item['project']}", item["secret"]
            request = {"parent": parent, "secretId": secret_id, "secret": secret}
            HANDLERS["CreateSecret"](self.store, json_format.ParseDict(request, CreateSecretRequest()))
            record = self.store.get(item["project"], secret_id)
            for version in item.get("versions") or ():
                data = version["data"]
                added = self.store.add_version(record, data if isinstance(data, bytes) else data.encode())
                if (state := STATE_NUMBER[version.get("state", "ENABLED")]) != added.state:
                    self.store.set_version_state(record, added, state)
        return len(documents)

    async def respond(self, request: Request) -> Answer:
        if self.faults:  # may wait
            return await asyncio.to_thread(rest.answer, self._service, request)
        return rest.answer(self._service, request)


def _grpc_server(service: SecretManagerService, threads: int) -> grpc.Server:
    """Generic handlers over the library's message classes, as the library has no servicer of its own."""
    server = grpc.server(
        ThreadPoolExecutor(threads, thread_name_prefix="secret-manager-grpc"),
        options=[("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", rest.MAX_REQUEST)],
    )
    handlers = {
        name: grpc.unary_unary_rpc_method_handler(
            _grpc_handler(service, name),
            request_deserializer=method.request.FromString,
            response_serializer=method.response.SerializeToString,
        )
        for name, method in METHODS.items()
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    return server


def _grpc_handler(service: SecretManagerService, method: str) -> Callable[[Message, Any], Message]:
    empty = METHODS[method].response()

    def handle(request: Message, context: Any) -> Message:
        try:
            return service.call(method, request)
        except GoogleAPICallError as error:
            # Not context.abort(): that raises, and grpc would format a traceback.
            context.set_code(status_of(error))
            context.set_details(error.message)
            return empty

    return handle
