# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""gRPC: generic handlers over the library's message classes, as the library has no servicer of its own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

from .errors import ApiError
from .protos import METHODS, SERVICE, Message
from .service import SecretManagerService

__all__ = ["start_grpc"]

_MAX_REQUEST = 4 * 1024 * 1024  # bytes; the payload limit is the service's to enforce


def start_grpc(service: SecretManagerService, *, threads: int) -> tuple[grpc.Server, int]:
    """A started server on 127.0.0.1 without TLS, and its port."""
    server = grpc.server(
        ThreadPoolExecutor(threads, thread_name_prefix="secret-manager-grpc"),
        options=[("grpc.so_reuseport", 0), ("grpc.max_receive_message_length", _MAX_REQUEST)],
    )
    handlers = {
        name: grpc.unary_unary_rpc_method_handler(
            _handler(service, name),
            request_deserializer=method.request.FromString,
            response_serializer=method.response.SerializeToString,
        )
        for name, method in METHODS.items()
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    bound = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, bound


def _handler(service: SecretManagerService, method: str) -> Callable[[Message, Any], Message]:
    empty = METHODS[method].response()

    def handle(request: Message, context: Any) -> Message:
        try:
            return service.call(method, request)
        except ApiError as error:
            # Not context.abort(): that raises, and grpc would format a traceback.
            context.set_code(error.code)
            context.set_details(error.message)
            return empty

    return handle
