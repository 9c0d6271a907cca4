# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The RPCs over the store. Both servers call `SecretManagerService.call`; no transport is known here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from google.api_core.exceptions import GoogleAPICallError, InternalServerError
from google_crc32c import value as crc32c
from grpc import StatusCode

from tests.stand_ins.rules import CallLog

from .faults import Fault, FaultTable
from .methods import HANDLERS, add_version
from .protos import Message, resource_of
from .store import Store

__all__ = ["Call", "SecretManagerService", "status_of"]


@dataclass(frozen=True)
class Call:
    """A call that was answered; ``resource`` goes by the project's id."""

    method: str
    resource: str
    code: str
    at: float = field(default_factory=time.time)


def status_of(error: GoogleAPICallError) -> StatusCode:
    return error.grpc_status_code or StatusCode.UNKNOWN


class SecretManagerService:
    """Counts a call, applies the fault table, runs the method.

    :param on_call: is called after each call, before it is answered.
    """

    def __init__(
        self, store: Store, faults: FaultTable, calls: CallLog[Call], on_call: Callable[[], None]
    ) -> None:
        self.store = store
        self.faults = faults
        self.calls = calls
        self._on_call = on_call
        self.stopping = threading.Event()  # ends injected delays

    def call(self, method: str, request: Message) -> Message:
        """The response message, or GoogleAPICallError; a mistake of the stand-in's own is INTERNAL."""
        resource = resource_of(method, request)
        code = "OK"
        try:
            if self.faults:
                return self._call_with_faults(method, request, resource)
            return HANDLERS[method](self.store, request)
        except GoogleAPICallError as error:
            code = status_of(error).name
            raise
        except Exception as error:  # noqa: BLE001 - the last resort of a server
            code = "INTERNAL"
            # Only the kind: an exception's text could hold what the request held.
            raise InternalServerError(f"The stand-in failed: {type(error).__name__}.") from None
        finally:
            self.calls.add(Call(method, self.store.projects.by_id(resource), code))
            self._on_call()

    def _call_with_faults(self, method: str, request: Message, resource: str) -> Message:
        names = resource, self.store.projects.by_id(resource)
        fault = self.faults.take(method, *names)
        store = self.store
        if _may_be_old(method, resource):
            store = store.ago(self.faults.lateness(method, *names))
        if fault is None:
            return HANDLERS[method](store, request)
        if fault.phase == "before":
            self._fail(fault, method, resource)
        if fault.corrupt == "payload" and method == "AddSecretVersion":
            response = add_version(store, request, damage=_flip)
        else:
            response = _corrupted(fault, method, HANDLERS[method](store, request))
        if fault.phase == "after":
            self._fail(fault, method, resource)
        return response

    def _fail(self, fault: Fault, method: str, resource: str) -> None:
        if fault.delay:
            self.stopping.wait(fault.delay)
        if error := fault.error(method, resource):
            raise error


def _may_be_old(method: str, resource: str) -> bool:
    if method == "AccessSecretVersion":
        return not resource.rpartition("/")[2].isdigit()
    return method.startswith(("Get", "List"))


def _flip(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def _corrupted(fault: Fault, method: str, response: Message) -> Message:
    if method == "AccessSecretVersion" and fault.corrupt == "payload":
        response.payload.data = _flip(response.payload.data)
    elif method == "AccessSecretVersion" and fault.corrupt == "crc":
        response.payload.data_crc32c = crc32c(response.payload.data) ^ 1
    elif method == "AddSecretVersion" and fault.corrupt == "crc":
        response.client_specified_payload_checksum = False
    return response
