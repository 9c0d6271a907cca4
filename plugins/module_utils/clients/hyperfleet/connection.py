# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection to the HyperFleet API: URL, bearer token, extra headers."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ...model.errors import ConfigurationError
from ...model.naming import texts
from ...model.shown import shown_path
from ...runtime.atomic_file import read_regular

__all__ = ["HyperFleetConnection", "TokenFile", "hyperfleet_connection"]

_BASE = "/api/hyperfleet/v1"
# Sent twice, or for another body, they would make a request that servers misread.
_OUR_HEADERS = ("accept", "connection", "content-length", "content-type", "traceparent", "transfer-encoding")


@dataclass(frozen=True)
class HyperFleetConnection:
    """One API and the credentials for it.

    :param base: the URL up to and including ``/api/hyperfleet/v1``.
    :param place: the URL for messages.
    :param headers: sent with every request; a tenant's name may be a secret, so they are never shown.
    """

    base: str
    place: str
    token_file: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    ca_cert: str | None = None
    validate_certs: bool = True


def hyperfleet_connection(options: Mapping[str, Any]) -> HyperFleetConnection:
    """Return the connection that a module's ``hyperfleet`` options describe.

    :param options: ``url`` (default ``HYPERFLEET_API_URL``), ``token_file``, ``headers``, ``ca_cert``,
        ``validate_certs``. ``HYPERFLEET_TOKEN_FILE`` belongs to ``HYPERFLEET_API_URL``: no other address gets
        that token.
    :raises ConfigurationError: no URL, or an invalid one.
    """
    url, token_file = str(options.get("url") or "").strip().rstrip("/"), options.get("token_file")
    if not url:
        url = os.environ.get("HYPERFLEET_API_URL", "").strip().rstrip("/")
        token_file = token_file or os.environ.get("HYPERFLEET_TOKEN_FILE")
    if not url:
        raise ConfigurationError(
            "no address of the HyperFleet API", "set hyperfleet.url or HYPERFLEET_API_URL"
        )
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    # The URL is not quoted: it may hold a password.
    if not usable or parts.query or parts.fragment or not url.isprintable() or " " in url:
        raise ConfigurationError("hyperfleet.url must be an http or https address")
    if "@" in parts.netloc:
        raise ConfigurationError("hyperfleet.url holds a user or password", "use hyperfleet.token_file")
    verify = options.get("validate_certs")
    return HyperFleetConnection(
        base=url if url.endswith(_BASE) else url + _BASE,
        place=f"{parts.scheme}://{parts.netloc}",
        token_file=token_file or None,
        headers=_headers(options.get("headers") or {}),
        ca_cert=options.get("ca_cert") or None,
        validate_certs=True if verify is None else bool(verify),
    )


def _headers(given: Mapping[str, Any]) -> dict[str, str]:
    headers = texts("hyperfleet.headers", given)
    for name, value in headers.items():
        if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
            raise ConfigurationError("hyperfleet.headers has a name that is not a valid HTTP header name")
        if name.lower() in _OUR_HEADERS:
            raise ConfigurationError(f"hyperfleet.headers.{name} is set by the client itself")
        if not value.isascii() or not value.isprintable():
            raise ConfigurationError(
                f"hyperfleet.headers.{name} has a character that no HTTP header can carry"
            )
    return headers


class TokenFile:
    """A bearer token in a file that another program rotates. Thread-safe."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._token = ""

    def token(self) -> str:
        """Return the token, read again once the file has changed.

        :raises ConfigurationError: it cannot be read or holds no token.
        """
        with self._lock:
            try:
                # Kubernetes rotates by swapping a link: another inode, maybe the same time.
                found = os.stat(self._path)
                stamp = (found.st_mtime_ns, found.st_ino, found.st_size)
                if stamp != self._stamp:
                    self._token = self._read()
                    self._stamp = stamp
            except (OSError, UnicodeDecodeError) as error:
                raise self._refused(
                    f"cannot be read: {getattr(error, 'strerror', None) or 'not text'}"
                ) from None
            return self._token

    def _read(self) -> str:
        token = read_regular(self._path)[0].decode("utf-8").strip()
        if not token:
            raise self._refused("is empty")
        if not token.isascii() or not token.isprintable() or " " in token:
            raise self._refused("holds something that is not a bearer token")
        return token

    def _refused(self, why: str) -> ConfigurationError:
        return ConfigurationError(f"the bearer token's file {shown_path(self._path)} {why}")
