# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection of a watch to an API server: URL, TLS, proxy and credentials.

The counterpart of ``configuration`` without the official client: the same options, variables, kubeconfigs and
pod account. ``exec_plugin`` runs exec plugins with limits. A kubeconfig from a Secret goes through
``embedded``, and none of it leads to files or programs of this machine.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies

from ...model.errors import ConfigurationError, PermissionDenied
from ...model.shown import shown_path
from ...runtime.atomic_file import read_regular
from .connection import Connection
from .embedded import Embedded, parse_embedded
from .exec_plugin import credentials
from .kubeconfig import Kubeconfigs, Login
from .service_account import ACCOUNT, api_server
from .tls import CertificateProblem, tls_context

__all__ = ["Access", "AccessBuilder", "embedded_access", "host_and_port"]

# Maximum number of concurrent programs for tokens, and the seconds that each may take.
_PLUGINS = 8
_PLUGIN_LIMIT = 60.0


@dataclass(frozen=True)
class Access:
    """The connection to one API server; ``tls`` is None for plain HTTP.

    ``embedded`` is the kubeconfig in a Secret that it comes from, whose addresses are restricted.
    """

    url: str = field(repr=False)
    tls: ssl.SSLContext | None = field(default=None, repr=False)
    server_name: str | None = None
    proxy: str | None = field(default=None, repr=False)
    no_proxy: str | None = None
    proxy_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    token: str | None = field(default=None, repr=False)
    token_file: str | None = None
    login: tuple[str, str] | None = field(default=None, repr=False)
    impersonation: tuple[tuple[str, str], ...] = ()
    embedded: Embedded | None = None

    def headers(self) -> list[tuple[str, str]]:
        """The user's headers; a token's file is read each time, because a pod's account gets a new one every
        hour.
        """
        token, login = self.token, self.login
        if self.token_file:
            token = _text(self.token_file, "the token's file")
        if token:
            value = f"Bearer {str(token).strip()}"
        elif login:
            value = _basic(*login)
        else:
            return [*self.impersonation]
        if not (value.isascii() and value.isprintable()):
            raise PermissionDenied("the token has a character that no HTTP header can carry")
        return [("Authorization", value), *self.impersonation]


class AccessBuilder:
    """Builds accesses, and parses each kubeconfig once for all of them."""

    def __init__(self) -> None:
        self._kubeconfigs = Kubeconfigs()
        self._plugins = asyncio.Semaphore(_PLUGINS)

    async def build(self, connection: Connection, api_key_file: str | None = None) -> Access:
        """Return the access that a connection describes.

        :param api_key_file: holds a token and is read for each request; it replaces the credentials of the
            variables, of the kubeconfig and of the pod.
        :raises PullSecretError: names what cannot be used.
        """
        if api_key_file:
            connection = replace(connection, api_key=None, username=None, client_cert=None)
        verify, authority = connection.validate_certs, connection.ca_cert
        pair = (connection.client_cert, connection.client_key or connection.client_cert)
        if connection.host:
            url = _address(connection.host, connection.name_of("host").removeprefix("kubernetes."))
            tls = await asyncio.to_thread(_context, url, verify, authority, pair)
            access = _access(url, tls=tls)
        elif connection.is_of_pod():
            host, port = api_server(os.environ)
            url = f"https://{f'[{host}]' if ':' in host else host}:{port}"
            tls = await asyncio.to_thread(_context, url, verify, authority or f"{ACCOUNT}/ca.crt", pair)
            access = Access(url, tls, token_file=f"{ACCOUNT}/token")
        else:
            login = await asyncio.to_thread(connection.login, self._kubeconfigs)
            if api_key_file:
                # Otherwise a client certificate of its user would be used before the token.
                login = replace(login, user={})
            access = await self._of_login(login, connection)
        if api_key_file:
            access = replace(access, token_file=api_key_file)
        return _with_variables(access, connection)

    async def _of_login(self, login: Login, connection: Connection) -> Access:
        cluster, user = login.cluster, login.user
        if "auth-provider" in user:
            raise ConfigurationError(
                "the kubeconfig's user has an auth-provider, which is no longer supported: use exec"
            )
        if isinstance(user.get("exec"), Mapping):
            async with self._plugins:
                given = await credentials(user["exec"], cluster, _PLUGIN_LIMIT)
            user = {
                "token": given.get("token"),
                "client-certificate-data": _as_data(given.get("clientCertificateData")),
                "client-key-data": _as_data(given.get("clientKeyData")),
            }
        url = _address(cluster.get("server"), "the kubeconfig's server")
        verify = connection.validate_certs and cluster.get("insecure-skip-tls-verify") is not True
        authority = connection.ca_cert or _data_or_file(cluster, "certificate-authority")
        if connection.client_cert:
            pair = (connection.client_cert, connection.client_key or connection.client_cert)
        else:
            pair = (_data_or_file(user, "client-certificate"), _data_or_file(user, "client-key"))
        return _access(
            url,
            tls=await asyncio.to_thread(_context, url, verify, authority, pair),
            server_name=cluster.get("tls-server-name") or None,
            proxy=cluster.get("proxy-url") or None,
            # As with kubectl, the file wins if both exist.
            token=user.get("token") or None,
            token_file=user.get("tokenFile") or None,
        )


async def embedded_access(document: bytes, where: str) -> Access:
    """Return the access that a kubeconfig from a Secret describes.

    :param where: printable name of the Secret.
    :raises ConfigurationError: names the field, and quotes nothing of it.
    """
    # In a thread, because a tenant may have made it as large as allowed.
    found = await asyncio.to_thread(parse_embedded, document, where, where)
    url = _address(found.server, f"{where}: the kubeconfig's server")
    if found.proxy or getproxies():
        await asyncio.to_thread(found.check_beyond_proxy)
    tls = None if url.startswith("http:") else await asyncio.to_thread(found.trust)
    return Access(
        url, tls, server_name=found.server_name, proxy=found.proxy, token=found.token, embedded=found
    )


def _access(url: str, **more: Any) -> Access:
    """Return an access whose URL may hold a user and a password, as the Ansible Operator's kubeconfigs do."""
    parts = urlsplit(url)
    login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return Access(url, login=login, **more)


def _with_variables(access: Access, wanted: Connection) -> Access:
    """Return the access with the settings of K8S_AUTH_* besides the server."""
    changes: dict[str, Any] = {"no_proxy": wanted.no_proxy, "proxy": wanted.proxy or access.proxy}
    if wanted.api_key or wanted.username:
        changes.update(token=wanted.api_key, token_file=None)
        if not wanted.api_key:
            changes["login"] = (wanted.username, wanted.password or "")
    changes["impersonation"] = wanted.impersonation()
    logins = (("Proxy-Authorization", wanted.proxy_basic_auth), ("Authorization", wanted.basic_auth))
    headers = [(name, _basic(*value.partition(":")[::2])) for name, value in logins if value]
    if wanted.user_agent:
        headers.append(("User-Agent", wanted.user_agent))
    return replace(access, proxy_headers=tuple(headers), **changes)


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def host_and_port(netloc: str) -> str:
    """Return ``host:port`` of a URL's authority; a name with non-ASCII letters is encoded as in DNS.

    The codec limits each label to 63 characters, so it must not see the port.

    :raises UnicodeError: the name is invalid.
    """
    host, colon, port = netloc.rpartition("@")[2], "", ""
    if ":" in host and not host.endswith("]"):
        host, colon, port = host.rpartition(":")
    return f"{host.encode('idna').decode()}{colon}{port}"


def _address(address: Any, what: str) -> str:
    """Return the URL without a slash at its end; a message must not quote it, because it may hold a password."""
    try:
        parts = urlsplit(address if isinstance(address, str) else "")
        host = host_and_port(parts.netloc)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and host
    except ValueError:
        usable = None
    if not usable:
        raise ConfigurationError(f"{what} must be an address such as https://HOST:6443")
    if not parts.path.isascii():
        raise ConfigurationError(f"{what} must have a path of ASCII characters; percent-encode the others")
    return str(address).rstrip("/")


def _context(url: str, verify: bool, authority: Any, pair: tuple[Any, Any]) -> ssl.SSLContext | None:
    """:param authority: a path, or PEM as bytes; None means the system's.
    :param pair: certificate and key.
    """
    if url.startswith("http:"):
        return None
    certificate, key = pair if all(pair) else (None, None)
    what = "the CA certificates of the API server"
    trusted = _pem(authority, what) if verify else None
    what = "the user's client certificate or its key"
    try:
        return tls_context(
            verify=verify, authority=trusted, certificate=_pem(certificate, what), key=_pem(key, what)
        )
    except CertificateProblem as error:
        raise ConfigurationError(str(error)) from None


def _pem(given: Any, what: str) -> bytes | None:
    if given is None or isinstance(given, bytes):
        return given
    return _text(str(given), what).encode()


def _text(path: str, what: str) -> str:
    try:
        return read_regular(os.path.expanduser(path))[0].decode("utf-8").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ConfigurationError(f"{what} {shown_path(path)} cannot be read: {reason}") from None


def _data_or_file(entry: Mapping[str, Any], name: str) -> Any:
    """Return bytes from ``NAME-data``, which wins if both exist, or the path."""
    data = entry.get(f"{name}-data")
    if not data:
        return entry.get(name) or None
    try:
        return base64.b64decode(str(data), validate=False)
    except (binascii.Error, ValueError):
        raise ConfigurationError(f"the kubeconfig's {name}-data is not base64") from None


def _as_data(pem: Any) -> str | None:
    return base64.b64encode(pem.encode()).decode() if isinstance(pem, str) and pem else None
