# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Access tokens from the metadata server, which is how GKE's Workload Identity gives them."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Mapping
from typing import Optional

from ...model.errors import ConfigurationError
from ...runtime.plain_http import Answer, PlainTransport, server
from ...runtime.wire import WireError
from .errors import NoToken

__all__ = ["Nobody", "WorkloadIdentity", "metadata_server"]

_ACCOUNT = "/computeMetadata/v1/instance/service-accounts/default"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_HEADERS = {"Metadata-Flavor": "Google"}
# Seconds before its end at which a token is no longer used; the server itself renews 300 s before.
_EARLY = 60.0
_ADDRESS = re.compile(r"[\w.-]{1,127}@[\w.-]{1,127}\Z", re.ASCII)
_FOR_A_NAME = 3.0
_HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?\Z")
# Google gives an hour, and up to twelve where a project asks for it.
_LONGEST = 24 * 3600.0
_LARGEST = 64 * 1024


class Nobody:
    """Of an emulator, which asks nobody who they are."""

    def token(self, seconds: float) -> Optional[str]:
        """None."""
        return None


class WorkloadIdentity:
    """The pod's Google service account.  Thread-safe.

    ``GCE_METADATA_HOST`` names another server than Google's, as for Google's own libraries.
    """

    def __init__(self) -> None:
        self._transport = PlainTransport(*metadata_server(os.environ), largest=_LARGEST)
        self._lock = threading.Lock()
        self._token: Optional[str] = None
        self._until = 0.0
        self._address: Optional[str] = None

    def token(self, seconds: float) -> str:
        """An access token.

        :raises NoToken: and why.
        """
        with self._lock:
            if self._token is None or time.monotonic() >= self._until:
                self._renew(seconds)
            return str(self._token)

    @property
    def service_account_email(self) -> Optional[str]:
        """Its address, for messages about what went wrong; asked for when the first is written."""
        if self._address is None:
            try:
                answer = self._ask("/?recursive=true", _FOR_A_NAME)
                said = json.loads(answer.data)["email"] if _is_googles(answer) else None
            except (WireError, ValueError, KeyError, TypeError, RecursionError):
                return None
            if not (isinstance(said, str) and _ADDRESS.match(said)):
                return None
            self._address = said
        return self._address

    def _renew(self, seconds: float) -> None:
        try:
            answer = self._ask(f"/token?scopes={_SCOPE}", seconds)
        except WireError:
            raise NoToken("the metadata server does not answer", retryable=True) from None
        if answer.status != 200:
            busy = answer.status == 429 or answer.status >= 500
            raise NoToken(f"the metadata server says {answer.status}", retryable=busy)
        if not _is_googles(answer):
            # Somebody else answers under that name: a captive portal, or another pod on that address.
            raise NoToken("what answers is not a metadata server", retryable=False)
        try:
            said = json.loads(answer.data)
            token, lifetime = said["access_token"], float(said["expires_in"])
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            token, lifetime = "", 0.0
        if not (isinstance(token, str) and token and token.isascii() and token.isprintable()):
            raise NoToken("the metadata server gave none", retryable=True)
        # NaN is not, either.
        if not 0 < lifetime <= _LONGEST:
            raise NoToken("the metadata server gave one of no possible lifetime", retryable=True)
        self._token, self._until = token, time.monotonic() + lifetime - _EARLY

    def _ask(self, what: str, seconds: float) -> Answer:
        return self._transport.request("GET", _ACCOUNT + what, headers=_HEADERS, seconds=seconds)


def metadata_server(environ: Mapping[str, str]) -> tuple[str, int]:
    """The host and the port.

    :raises ConfigurationError: names the variable.
    """
    address = environ.get("GCE_METADATA_HOST") or "metadata.google.internal"
    shape = _HOST.match(address)
    if shape is None or not 0 < int(shape.group(1) or 80) < 65536:
        raise ConfigurationError("GCE_METADATA_HOST is not a host, or a host and a port")
    return server(address, 80)


def _is_googles(answer: Answer) -> bool:
    return answer.headers.get("metadata-flavor") == "Google"
