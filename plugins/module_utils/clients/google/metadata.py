# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Access tokens from the metadata server, as used by GKE's Workload Identity."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, MutableMapping
from typing import Any

from ...model.errors import ConfigurationError
from ...runtime.plain_http import PlainTransport, server
from ...runtime.transport import HttpAnswer
from ...runtime.wire import WireError
from .errors import NoToken

__all__ = ["AnonymousCredentials", "MetadataCredentials", "PlainRequest", "metadata_server"]

_ACCOUNT = "/computeMetadata/v1/instance/service-accounts/default"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_HEADERS = {"Metadata-Flavor": "Google"}
# Seconds before its end at which a token is no longer used; the server itself renews 300 s before.
_EARLY = 60.0
_ADDRESS = re.compile(r"[\w.-]{1,127}@[\w.-]{1,127}\Z", re.ASCII)
_FOR_A_NAME = 3.0
_HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?\Z")
# Google's tokens last an hour, and up to twelve in projects that allow it.
_LONGEST = 24 * 3600.0
_LARGEST = 64 * 1024


class AnonymousCredentials:
    """No account, for an emulator, with the interface of google-auth's class of this name."""

    valid = True

    def apply(self, headers: MutableMapping[str, str]) -> None:
        """Add nothing."""


class MetadataCredentials:
    """The pod's Google service account, with the interface of ``google.auth.credentials.Credentials``.

    google-auth's own class takes 120 ms and 20 MiB to load, and trusts any server. ``GCE_METADATA_HOST``
    names another server than Google's, as for Google's own libraries.

    ``Tokens`` lets one thread renew the token at a time.
    """

    def __init__(self) -> None:
        host, port = metadata_server(os.environ)
        self._base = f"http://{f'[{host}]' if ':' in host else host}:{port}{_ACCOUNT}"
        self.token: str | None = None
        self._until = 0.0
        self._address: str | None = None

    @property
    def valid(self) -> bool:
        """Whether there is a token that is valid for another minute."""
        return self.token is not None and time.monotonic() < self._until

    def refresh(self, request: Any) -> None:
        """Get another token.

        :param request: as ``google.auth.transport.Request``.
        :raises NoToken: with the reason.
        """
        try:
            answer = request(f"{self._base}/token?scopes={_SCOPE}", headers=_HEADERS)
        except WireError:
            raise NoToken("the metadata server does not answer", retryable=True) from None
        if answer.status != 200:
            busy = answer.status == 429 or answer.status >= 500
            raise NoToken(f"the metadata server answered with HTTP {answer.status}", retryable=busy)
        if not _is_googles(answer):
            # Another server answers under that name: a captive portal, or another pod on that address.
            raise NoToken(
                "the answer is not from a metadata server",
                retryable=False,
                hint="check what answers at the metadata server's address, and GCE_METADATA_HOST",
            )
        try:
            said = json.loads(answer.data)
            token, lifetime = said["access_token"], float(said["expires_in"])
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            token, lifetime = "", 0.0
        if not (isinstance(token, str) and token and token.isascii() and token.isprintable()):
            raise NoToken("the metadata server's answer has no token", retryable=True)
        # NaN is not, either.
        if not 0 < lifetime <= _LONGEST:
            raise NoToken("the metadata server's answer has an invalid expires_in", retryable=True)
        self.token, self._until = token, time.monotonic() + lifetime - _EARLY

    def apply(self, headers: MutableMapping[str, str], token: str | None = None) -> None:
        """Add the token to a request's headers."""
        headers["authorization"] = f"Bearer {token or self.token}"

    def before_request(self, request: Any, method: str, url: str, headers: MutableMapping[str, str]) -> None:
        """Add a valid token to the headers; google-auth's sessions and channels call this."""
        if not self.valid:
            self.refresh(request)
        self.apply(headers)

    @property
    def service_account_email(self) -> str | None:
        """Its email address, for error messages; requested for the first one."""
        if self._address is None:
            try:
                answer = PlainRequest(_FOR_A_NAME)(f"{self._base}/?recursive=true", headers=_HEADERS)
                said = json.loads(answer.data)["email"] if _is_googles(answer) else None
            except (WireError, ValueError, KeyError, TypeError, RecursionError):
                return None
            if not (isinstance(said, str) and _ADDRESS.match(said)):
                return None
            self._address = said
        return self._address


class PlainRequest:
    """A ``google.auth.transport.Request`` over the standard library: requests without TLS, each with a time
    limit.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __call__(self, url: str, method: str = "GET", *, headers: Mapping[str, str]) -> HttpAnswer:
        """Send one request.

        :raises WireError: no complete response, or one that is too large for a token.
        """
        address, slash, path = url.partition("//")[2].partition("/")
        transport = PlainTransport(*server(address, 80), largest=_LARGEST)
        try:
            return transport.request(method, slash + path, headers=headers, seconds=self._seconds)
        finally:
            transport.close()


def metadata_server(environ: Mapping[str, str]) -> tuple[str, int]:
    """The host and the port.

    :raises ConfigurationError: names the variable.
    """
    address = environ.get("GCE_METADATA_HOST") or "metadata.google.internal"
    shape = _HOST.match(address)
    if shape is None or not 0 < int(shape.group(1) or 80) < 65536:
        raise ConfigurationError("GCE_METADATA_HOST must be a host, or a host and a port")
    return server(address, 80)


def _is_googles(answer: Any) -> bool:
    return bool(answer.headers.get("metadata-flavor") == "Google")
