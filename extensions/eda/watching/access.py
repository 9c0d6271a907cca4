# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How an API server is reached: address, TLS, proxy and token, read again when they were refused."""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
import ssl
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Protocol
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.exec_plugin import credentials
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.hosted_control_plane import (
    field_of,
    kubeconfig_secret,
    secret_path,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.settings import (
    KubeconfigSecret,
    ServerOptions,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.connection import (
    Connection,
    kubernetes_connection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.embedded import (
    Embedded,
    in_memory,
    no_password,
    parse_embedded,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.kubeconfig import (
    Kubeconfigs,
    Login,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    PermissionDenied,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import shown, shown_path
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.atomic_file import read_regular

__all__ = ["Access", "Accesses"]

_POD = "/var/run/secrets/kubernetes.io/serviceaccount"
# Programs that are started for tokens at the same time, and the seconds that each may take.
_PLUGINS = 8
_PLUGIN_LIMIT = 60.0


@dataclass(frozen=True)
class Access:
    """One way to one API server; ``tls`` is None for plain HTTP.

    ``embedded`` is the kubeconfig in a Secret that says so. It may not lead everywhere.
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
        """The user's; a token's file is read each time, since a pod's account gets a new one every hour."""
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


class Reader(Protocol):
    """An API server that is asked."""

    async def read(self, path: str) -> Any:
        """What a GET of a path answers."""


Reach = Callable[[Access], "AbstractAsyncContextManager[Reader]"]


class Accesses:
    """One access a connection, however many secrets are watched over it."""

    def __init__(self, reach: Reach) -> None:
        """:param reach: connects to a cluster that keeps other clusters' kubeconfigs."""
        self._reach = reach
        self._kubeconfigs = Kubeconfigs()
        self._made: dict[ServerOptions, asyncio.Task[Access]] = {}
        self._plugins = asyncio.Semaphore(_PLUGINS)

    async def get(self, connection: ServerOptions) -> Access:
        """:raises PullSecretError: naming what cannot be used; the next call tries again."""
        task = self._made.get(connection)
        if task is None:
            task = self._made[connection] = asyncio.create_task(self._make(connection))
        try:
            # Others wait for it, too, when this one is cancelled.
            return await asyncio.shield(task)
        except Exception:
            self._drop(connection, task)
            raise

    def forget(self, connection: ServerOptions, access: Access | None) -> None:
        """Make it again the next time, unless another task has."""
        task = self._made.get(connection)
        if task and task.done() and (task.cancelled() or task.exception() or task.result() is access):
            self._drop(connection, task)

    def keep_only(self, connections: set[ServerOptions]) -> None:
        """Forget what is no longer watched."""
        for connection in self._made.keys() - connections:
            del self._made[connection]

    def _drop(self, connection: ServerOptions, task: asyncio.Task[Access]) -> None:
        if self._made.get(connection) is task:
            del self._made[connection]

    async def _make(self, connection: ServerOptions) -> Access:
        if connection.secret:
            return await self._of_secret(connection.secret)
        wanted = kubernetes_connection(
            {
                "kubeconfig": connection.kubeconfig,
                "context": connection.context,
                "host": connection.host,
                "ca_cert": connection.ca_cert,
                "validate_certs": connection.validate_certs,
            }
        )
        if connection.api_key_file:
            # The file stands for the variables' credentials, too.
            wanted = replace(wanted, api_key=None, username=None, client_cert=None)
        verify, authority = wanted.validate_certs, wanted.ca_cert
        pair = (wanted.client_cert, wanted.client_key or wanted.client_cert) if wanted.client_cert else None
        if wanted.host:
            url = _address(wanted.host, wanted.name_of("host").removeprefix("kubernetes."))
            tls = await asyncio.to_thread(_context, url, verify, authority, pair)
            access = _access(url, tls=tls, token_file=connection.api_key_file)
        elif _in_pod(wanted):
            host, port = (
                os.environ["KUBERNETES_SERVICE_HOST"],
                os.environ.get("KUBERNETES_SERVICE_PORT", "443"),
            )
            url = f"https://{f'[{host}]' if ':' in host else host}:{port}"
            tls = await asyncio.to_thread(_context, url, verify, authority or f"{_POD}/ca.crt", pair)
            access = Access(url, tls, token_file=f"{_POD}/token")
        else:
            login = await asyncio.to_thread(self._kubeconfigs.login, wanted.kubeconfig, wanted.context)
            access = await self._of_login(login, wanted, pair, connection.api_key_file)
        return _with_variables(access, wanted)

    async def _of_secret(self, secret: KubeconfigSecret) -> Access:
        management = await self.get(secret.management)
        async with self._reach(management) as server:

            async def read(path: str) -> Any:
                try:
                    return await server.read(path)
                except Exception:
                    self.forget(secret.management, management)
                    raise

            name, key = secret.name, secret.key
            if name is None:
                name, key = await kubeconfig_secret(read, secret.namespace, secret.plane)
            held = await read(secret_path(secret.namespace, name))
        where = f"secret {secret.namespace}/{name}"
        text = field_of(held, "data", key)
        if not isinstance(text, str):
            raise ConfigurationError(f"{where} has no key {shown(key)}")
        try:
            document = base64.b64decode(text)
        except (binascii.Error, ValueError):
            raise ConfigurationError(f"{where}: its key {shown(key)} is not base64") from None
        # Nothing of it leads to files or programs of this machine. A thread reads it, since a tenant may have
        # made it as large as it may be.
        found = await asyncio.to_thread(parse_embedded, document, where, where)
        url = _address(found.server, f"{where}: the kubeconfig's server")
        if found.proxy or getproxies():
            await asyncio.to_thread(found.check_beyond_proxy)
        tls = None if url.startswith("http:") else await asyncio.to_thread(found.trust)
        return Access(
            url, tls, server_name=found.server_name, proxy=found.proxy, token=found.token, embedded=found
        )

    async def _of_login(
        self, login: Login, wanted: Connection, own_pair: tuple[str, str] | None, api_key_file: str | None
    ) -> Access:
        # A client certificate of its user would count before a token.
        cluster, user = login.cluster, {} if wanted.has_credentials else dict(login.user)
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
        verify = wanted.validate_certs and cluster.get("insecure-skip-tls-verify") is not True
        authority = wanted.ca_cert or _data_or_file(cluster, "certificate-authority")
        pair = own_pair or (_data_or_file(user, "client-certificate"), _data_or_file(user, "client-key"))
        return _access(
            url,
            tls=await asyncio.to_thread(_context, url, verify, authority, pair if all(pair) else None),
            server_name=cluster.get("tls-server-name") or None,
            proxy=cluster.get("proxy-url") or None,
            # As with kubectl, the file counts where there are both.
            token=user.get("token") or None,
            token_file=user.get("tokenFile") or api_key_file,
        )


def _access(url: str, **more: Any) -> Access:
    """An access whose address may hold a user and a password, as the Ansible Operator's kubeconfigs do."""
    parts = urlsplit(url)
    login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return Access(url, login=login, **more)


def _with_variables(access: Access, wanted: Connection) -> Access:
    """The access, and what K8S_AUTH_* say beside the server."""
    changes: dict[str, Any] = {"no_proxy": wanted.no_proxy, "proxy": wanted.proxy or access.proxy}
    if wanted.api_key or wanted.username:
        changes.update(token=wanted.api_key, token_file=None)
        if not wanted.api_key:
            changes["login"] = (wanted.username, wanted.password or "")
    changes["impersonation"] = tuple(
        [("Impersonate-User", wanted.impersonate_user)] if wanted.impersonate_user else []
    ) + tuple(("Impersonate-Group", group) for group in wanted.impersonate_groups)
    logins = (("Proxy-Authorization", wanted.proxy_basic_auth), ("Authorization", wanted.basic_auth))
    headers = [(name, _basic(*value.partition(":")[::2])) for name, value in logins if value]
    if wanted.user_agent:
        headers.append(("User-Agent", wanted.user_agent))
    return replace(access, proxy_headers=tuple(headers), **changes)


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _in_pod(connection: Connection) -> bool:
    named = connection.kubeconfig or connection.context or os.environ.get("KUBECONFIG")
    return not named and bool(os.environ.get("KUBERNETES_SERVICE_HOST"))


def _address(address: Any, what: str) -> str:
    """The address without a slash at its end; a message must not quote it, since it may hold a password."""
    try:
        parts = urlsplit(address if isinstance(address, str) else "")
        host = parts.netloc.rpartition("@")[2].encode("idna")
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and host
    except ValueError:
        usable = None
    if not usable:
        raise ConfigurationError(f"{what} must be an address such as https://HOST:6443")
    return str(address).rstrip("/")


def _context(url: str, verify: bool, authority: Any, pair: Any) -> ssl.SSLContext | None:
    """:param authority: a path, or PEM as bytes; the system's where None. ``pair``: certificate and key."""
    if url.startswith("http:"):
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    what = "the CA certificates of the API server"
    try:
        if verify and authority:
            context.load_verify_locations(cadata=_pem(authority, what).decode("ascii"))
        elif verify:
            context.load_default_certs()
        if pair:
            what = "the user's client certificate or its key"
            with in_memory(_pem(pair[0], what)) as certificate, in_memory(_pem(pair[1], what)) as key:
                context.load_cert_chain(certificate, key, password=no_password)
    except (OSError, ValueError) as error:
        # An SSLError is an OSError. Its reason is OpenSSL's constant.
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__
        raise ConfigurationError(f"{what} cannot be used: {reason}") from None
    return context


def _pem(given: Any, what: str) -> bytes:
    if isinstance(given, bytes):
        return given
    return _text(str(given), what).encode()


def _text(path: str, what: str) -> str:
    try:
        return read_regular(os.path.expanduser(path))[0].decode("utf-8").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ConfigurationError(f"{what} {shown_path(path)} cannot be read: {reason}") from None


def _data_or_file(entry: Mapping[str, Any], name: str) -> Any:
    """Bytes from ``NAME-data``, which counts where there are both, or the path."""
    data = entry.get(f"{name}-data")
    if not data:
        return entry.get(name) or None
    try:
        return base64.b64decode(str(data), validate=False)
    except (binascii.Error, ValueError):
        raise ConfigurationError(f"the kubeconfig's {name}-data is not base64") from None


def _as_data(pem: Any) -> str | None:
    return base64.b64encode(pem.encode()).decode() if isinstance(pem, str) and pem else None
