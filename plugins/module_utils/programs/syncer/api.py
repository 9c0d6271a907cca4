# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calls the API server with the pod's own service account.

The token and the CA are files that kubelet rotates. The token is read for each request, the CA for each new
connection after a change of its file.
"""

from __future__ import annotations

import json
import os
from typing import Any

from ...runtime.wire import HttpConnection, HttpResponse, NoConnection, WireError

__all__ = ["MERGE_PATCH", "METADATA_ONLY", "ApiError", "PodApi", "read_object"]

_JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
# Servers that do not support the first type send full objects. A status of 5000 nodes has 1 MiB.
METADATA_ONLY = f"{_JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{_JSON}"
_LONGEST_MESSAGE = 300
# Seconds for the rest of a call when more important work waits.
_HURRY = 1.0
# The longest Retry-After that is followed, in seconds. A server that needs longer says so again.
_LONGEST_WAIT = 600


class ApiError(Exception):
    """The API server refused the request. ``retry_after``: seconds, if the server sent it."""

    def __init__(self, status: int, reason: str, message: str, retry_after: float = 0) -> None:
        super().__init__(f"{message} (HTTP {status})")
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


class PodApi:
    """One API server.

    :param tls: without it only a server on loopback is used, because the token could be read.
    :param directory: the directory of ``token`` and ``ca.crt``.
    :param timeout: seconds for one call.
    """

    def __init__(self, host: str, port: int, *, tls: bool, directory: str, timeout: float = 10) -> None:
        if not tls and host not in ("127.0.0.1", "::1", "localhost"):
            raise ValueError("the API server is not on this machine and has no TLS")
        self._host = host
        self._port = port
        self._secure = tls
        self._directory = directory
        self._timeout = timeout
        self._context: Any = None
        self._ca: tuple[int, int, int] | None = None
        self._kept: HttpConnection | None = None
        self._under_way: HttpConnection | None = None
        self.unanswered = 0
        """How many calls were sent and not answered: the server may still execute them."""

    def connection(self, *, look_every: float = 0) -> HttpConnection:
        """Return a new connection, for a watch, which occupies one.

        :param look_every: as for ``HttpConnection``.
        """
        return HttpConnection(
            self._host, self._port, tls=self._trust(), timeout=self._timeout, look_every=look_every
        )

    def send(
        self,
        connection: HttpConnection,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        content_type: str = _JSON,
        accept: str = _JSON,
    ) -> HttpResponse:
        """Send one request. A response other than 2xx is an ApiError."""
        headers = {
            "Accept": accept,
            "User-Agent": "global-pull-secret-syncer",
            "Authorization": f"Bearer {self._token()}",
        }
        encoded = b""
        if body is not None:
            headers["Content-Type"] = content_type
            encoded = json.dumps(body, separators=(",", ":")).encode()
        answer = connection.request(method, path, headers, encoded)
        if not 200 <= answer.status < 300:
            raise _refusal(answer)
        return answer

    def call(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        content_type: str = _JSON,
        accept: str = _JSON,
    ) -> dict[str, Any]:
        """Call the API on the connection for calls; one thread at a time.

        Writes have a resourceVersion or are merge patches, so a write may be repeated if the connection turns
        out to be closed.
        """
        kept, self._kept = self._kept, None
        if kept is not None and kept.used:
            try:
                return self._called(kept, method, path, body, content_type, accept)
            except WireError:
                if kept.is_hurried:
                    raise
        return self._called(self.connection(look_every=_HURRY), method, path, body, content_type, accept)

    def hurry(self) -> None:
        """From another thread: make a running call end soon, with or without a response."""
        under_way = self._under_way
        if under_way is not None:
            under_way.hurry(_HURRY)

    def _called(
        self,
        connection: HttpConnection,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        content_type: str,
        accept: str,
    ) -> dict[str, Any]:
        self._under_way = connection
        try:
            found = read_object(self.send(connection, method, path, body, content_type, accept))
        except NoConnection:
            raise
        except WireError:
            self.unanswered += 1
            raise
        finally:
            self._under_way = None
            # An error response was also read to its end.
            if connection.is_open:
                self._kept = connection
        return found

    def rest(self) -> None:
        """Close the connection for calls, which is not needed for a while."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.close()

    def _token(self) -> str:
        path = os.path.join(self._directory, "token")
        try:
            with open(path, encoding="ascii") as stream:
                token = stream.read().strip()
        except (OSError, ValueError) as error:
            raise WireError(f"{path} cannot be read: {type(error).__name__}") from None
        if not token or not token.isprintable() or " " in token:
            raise WireError(f"{path} holds no token")
        return token

    def _trust(self) -> Any:
        if not self._secure:
            return None
        import ssl

        path = os.path.join(self._directory, "ca.crt")
        try:
            status = os.stat(path)
            version = (status.st_ino, status.st_mtime_ns, status.st_size)
            if version != self._ca:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                # Trust the cluster's own CA only.
                context.load_verify_locations(cafile=path)
                self._context, self._ca = context, version
        except OSError as error:
            raise WireError(f"{path} cannot be used: {error.strerror or type(error).__name__}") from None
        return self._context


def read_object(answer: HttpResponse) -> dict[str, Any]:
    """Return the JSON object of a response."""
    try:
        found = json.loads(answer.read())
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        # Not chained: the parser's error holds the document.
        raise WireError("the answer is not a JSON object")
    return found


def _refusal(answer: HttpResponse) -> ApiError:
    try:
        status = read_object(answer)
    except WireError:
        status = {}
    text = status.get("message")
    message = text[:_LONGEST_MESSAGE] if isinstance(text, str) and text else "the API server refused"
    reason = status.get("reason")
    wait = answer.headers.get("retry-after", "")
    return ApiError(
        answer.status,
        reason if isinstance(reason, str) else "",
        message,
        _seconds(wait),
    )


def _seconds(text: str) -> float:
    """Return the seconds of Retry-After, or 0 for anything but an integer. Our clock may not fit a date."""
    # More digits are no sensible number of seconds, and int() refuses thousands of them.
    if not (text.isascii() and text.isdigit()):
        return 0
    return min(int(text), _LONGEST_WAIT) if len(text) <= 9 else _LONGEST_WAIT
