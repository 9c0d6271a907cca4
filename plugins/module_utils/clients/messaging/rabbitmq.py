# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection to RabbitMQ, for receiving and for publishing.

An AMQP URL holds a password, and the library logs URLs and frames: neither is ever shown.
"""

from __future__ import annotations

import logging
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ...model.errors import (
    ConfigurationError,
    PermissionDenied,
    PullSecretError,
    Unavailable,
    missing_package,
)
from ...model.shown import shown, shown_path
from ...runtime.atomic_file import read_regular

__all__ = ["AmqpAddress", "declare_exchange", "import_aio_pika", "rabbitmq_error"]

_PORTS = {"amqp": 5672, "amqps": 5671}
# The same as the Go adapter's.
_VARIABLE = "BROKER_RABBITMQ_URL"
_SILENT = logging.CRITICAL + 1
_LONGEST = 200


def import_aio_pika() -> Any:
    """Import the library.

    :raises ConfigurationError: it is not installed.
    """
    try:
        import aio_pika
    except ImportError as error:
        raise missing_package(error, "aio-pika") from None
    for name in ("aio_pika", "aiormq"):
        logging.getLogger(name).setLevel(_SILENT)
    return aio_pika


@dataclass(frozen=True)
class AmqpAddress:
    """One broker and one user of it.

    :param place: host and port, for messages.
    """

    place: str
    _url: str | None = field(repr=False)
    _file: str | None
    _ca_cert: str | None
    _encrypted: bool

    @classmethod
    def of(cls, options: Mapping[str, Any], where: str) -> AmqpAddress:
        """Return the address of ``url``, ``url_file`` or ``BROKER_RABBITMQ_URL``, and ``ca_cert``.

        :param where: the prefix of the options, for messages.
        :raises ConfigurationError: names the invalid option, and never quotes a URL.
        """
        url, path = options.get("url"), options.get("url_file")
        name = f"{where}.url_file" if path else f"{where}.url"
        if not url and not path:
            url, name = os.environ.get(_VARIABLE), _VARIABLE
        if bool(url) == bool(path):
            raise ConfigurationError(
                f"set either {where}.url or {where}.url_file, not both; or set neither, and set the environment "
                f"variable {_VARIABLE}"
            )
        text = _read(str(path), name) if path else str(url)
        scheme, place = _parts(text, name)
        ca_cert = options.get("ca_cert")
        return cls(
            place,
            None if path else text,
            str(path) if path else None,
            str(ca_cert) if ca_cert else None,
            scheme == "amqps",
        )

    def has_password(self) -> bool:
        """Whether the URL itself, which others may see, holds a password."""
        return self._url is not None and urlsplit(self._url).password is not None

    def url(self) -> str:
        """The complete URL, with the current content of the file.

        :raises Unavailable: the file cannot be used now.
        """
        if self._file is None:
            return str(self._url)
        try:
            text = _read(self._file, "url_file")
            _parts(text, "url_file")
        except ConfigurationError as error:
            raise Unavailable(error.message) from None
        return text

    def context(self) -> ssl.SSLContext | None:
        """The TLS context for the broker's certificate; None without TLS.

        :raises Unavailable: ``ca_cert`` cannot be used.
        """
        if not self._encrypted:
            return None
        try:
            return ssl.create_default_context(cafile=self._ca_cert)
        except (OSError, ValueError):
            raise Unavailable("ca_cert cannot be read, or holds no certificate") from None


def _read(path: str, name: str) -> str:
    try:
        return read_regular(path)[0].decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise ConfigurationError(f"{name} {shown_path(path)} cannot be read: {why}") from None


def _parts(url: str, name: str) -> tuple[str, str]:
    """(scheme, host and port)"""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in _PORTS or not host or port == 0 or parts.fragment:
        raise ConfigurationError(f"{name} must be an amqp or amqps address")
    return parts.scheme, f"{shown(host)}:{port or _PORTS[parts.scheme]}"


async def declare_exchange(connection: Any, name: str, kind: str) -> None:
    """Create the exchange if it does not exist.

    :param kind: ``topic`` or ``fanout``.
    :raises ConfigurationError: it exists with another type.
    """
    errors = import_aio_pika().exceptions
    channel = await connection.channel()
    try:
        await channel.declare_exchange(name, kind, durable=True)
    except errors.ChannelPreconditionFailed:
        raise ConfigurationError(
            f"the exchange {shown(name)} of RabbitMQ exists but is not a durable {kind} exchange",
            "set exchange_type to the type that the sentinel declares",
        ) from None
    except errors.ChannelClosed as error:
        # A user who may not declare it uses the existing exchange.
        if type(error).__name__ != "ChannelAccessRefused":
            raise
    else:
        await channel.close()


def rabbitmq_error(error: BaseException, place: str) -> PullSecretError:
    """Translate one of the library's errors, without the URL that it may quote."""
    where = f"RabbitMQ at {place}"
    if isinstance(error, PullSecretError):
        return error
    names = [base.__name__ for base in type(error).__mro__]
    if "AuthenticationError" in names or "ProbableAuthenticationError" in names:
        return PermissionDenied(f"{where}: the user or the password is refused")
    if "ChannelClosed" in names or "ConnectionClosed" in names:
        # The server's own message, made of names.
        said = " ".join(str(part) for part in error.args if isinstance(part, str))[:_LONGEST]
        kind = PermissionDenied if "ACCESS_REFUSED" in said else Unavailable
        return kind(f"{where}: {shown(said) if said else type(error).__name__}")
    if isinstance(error, OSError) and error.strerror:
        return Unavailable(f"{where}: {error.strerror}")
    return Unavailable(f"{where}: no connection ({type(error).__name__})")
