# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A kubeconfig that was read from a Secret: used in memory, and only for its login.

The official client writes a kubeconfig's certificates and keys to temporary files, and runs its user's
programs (exec plugins). A user who may write the Secret must be able to do neither here.
"""

from __future__ import annotations

import base64
import binascii
import importlib
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ...model.errors import ConfigurationError
from ...runtime.yaml_text import NotYAML, load_yaml
from ..pool import IMPORTING
from .addresses import FORBIDDEN, host_of, is_forbidden, leads_astray, resolved
from .tls import CertificateProblem, tls_context

__all__ = ["Embedded", "astray", "build", "entries", "parse_embedded"]

# Fields that lead to files or programs of the machine that runs the task.
_REFUSED = {
    "cluster": ("certificate-authority",),
    "user": ("client-certificate", "client-key", "tokenFile", "exec", "auth-provider"),
}
# The maximum bytes, as of a Secret, and values, of which a kubeconfig has some twenty: parsing a tenant's
# takes a tenth of a second at most.
_LARGEST = 1 << 20
_MOST = 10_000
_LINES = ("server", "token", "tls-server-name", "proxy-url")
_INSTEAD = {
    "certificate-authority": "certificate-authority-data",
    "client-certificate": "client-certificate-data",
    "client-key": "client-key-data",
    "tokenFile": "token",
}


@dataclass(frozen=True)
class Embedded:
    """The current context of a kubeconfig; ``repr()`` shows only where it is.

    :param name: the cluster's name for messages.
    :param where: where the kubeconfig was read from.
    """

    name: str
    where: str
    server: str
    authority: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = None
    token: str | None = None
    verify: bool = True
    server_name: str | None = None
    proxy: str | None = None

    def __repr__(self) -> str:
        return f"Embedded({self.where})"

    def fill(self, configuration: Any) -> None:
        """Fill in the official client's configuration, except the certificates, which are in ``trust``."""
        configuration.host = self.server
        configuration.verify_ssl = self.verify
        if self.token:
            configuration.api_key = {"authorization": self.token}
            configuration.api_key_prefix = {"authorization": "Bearer"}
        if self.server_name:
            configuration.tls_server_name = self.server_name
        if self.proxy:
            configuration.proxy = self.proxy

    def check_beyond_proxy(self) -> None:
        """Look up the server's name here: a proxy connects to it, and the socket's address is the proxy's.

        Takes as long as a name server does.

        :raises ConfigurationError: it leads to a forbidden address.
        """
        if any(map(is_forbidden, resolved(host_of(self.server) or ""))):
            raise astray(self.where)

    def trust(self) -> ssl.SSLContext:
        """Return the TLS context with the CA and the client certificate.

        :raises ConfigurationError: a certificate or the key cannot be used.
        """
        try:
            return tls_context(
                verify=self.verify,
                authority=self.authority or None,
                certificate=self.certificate or None,
                key=self.key or None,
            )
        except CertificateProblem as error:
            raise ConfigurationError(
                f"{self.where}: its certificates or its key cannot be used ({error.reason})"
            ) from None


def parse_embedded(document: bytes, name: str, where: str) -> Embedded:
    """Parse the current context of a kubeconfig.

    :param name: the cluster's name for messages.
    :param where: printable name of where it was read from.
    :raises ConfigurationError: names the field, and quotes nothing of it.
    """
    return build(*entries(document, where), name, where)


def entries(document: bytes, where: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the cluster and the user of a kubeconfig's current context.

    :raises ConfigurationError: names a field that leads to files or programs.
    """
    config = _loaded(document, where)
    context = _named(config, "context", config.get("current-context"), where)
    cluster = _named(config, "cluster", context.get("cluster"), where)
    user = _named(config, "user", context.get("user"), where)
    for kind, entry in (("cluster", cluster), ("user", user)):
        for field in _REFUSED[kind]:
            instead = _INSTEAD.get(field)
            if entry.get(field) and not (instead and entry.get(instead)):
                raise ConfigurationError(
                    f"{where}: the kubeconfig's {kind} has {field}, which is not allowed, because it refers to "
                    "a file or a program on the machine that runs the task",
                    f"replace it with {instead or 'a token or a client certificate'}",
                )
    return cluster, user


def build(cluster: Mapping[str, Any], user: Mapping[str, Any], name: str, where: str) -> Embedded:
    """Build it from a cluster and a user; raises as ``parse_embedded`` does."""
    found = Embedded(
        name=name,
        where=where,
        server=_text(cluster, "server", where) or "",
        authority=_bytes(cluster, "certificate-authority-data", where),
        certificate=_bytes(user, "client-certificate-data", where),
        key=_bytes(user, "client-key-data", where),
        token=_text(user, "token", where),
        # A string such as "false" turns nothing off.
        verify=cluster.get("insecure-skip-tls-verify") is not True,
        server_name=_text(cluster, "tls-server-name", where),
        proxy=_text(cluster, "proxy-url", where),
    )
    if not found.server:
        _fail(where, "has no server")
    for field, address in (("server", found.server), ("proxy-url", found.proxy)):
        host = host_of(address) if address else ""
        if host is None:
            _fail(where, f"has a {field} that is not an address such as https://HOST:6443")
        if leads_astray(host):
            _fail(where, f"has a {field} that is not allowed: {FORBIDDEN}")
    if not (found.token or (found.certificate and found.key)):
        _fail(where, "has neither a token nor a client certificate with its key")
    return found


def astray(where: str) -> ConfigurationError:
    """Return the error for a kubeconfig whose server or proxy has a forbidden address."""
    return ConfigurationError(
        f"{where}: the cluster's kubeconfig leads to an address that is not allowed: {FORBIDDEN}",
        "ask its owner to set another server or proxy-url",
    )


def _fail(where: str, problem: str) -> NoReturn:
    raise ConfigurationError(f"{where}: the kubeconfig {problem}")


def _loaded(document: bytes, where: str) -> Mapping[str, Any]:
    with IMPORTING:
        importlib.import_module("yaml")
    try:
        config = load_yaml(document, most=_MOST, largest=_LARGEST)
    except NotYAML as error:
        _fail(where, str(error))
    if not isinstance(config, Mapping):
        _fail(where, "must be a mapping")
    return config


def _named(config: Mapping[str, Any], kind: str, name: Any, where: str) -> Mapping[str, Any]:
    entries = config.get(f"{kind}s")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and entry.get("name") == name and isinstance(entry.get(kind), Mapping):
            found: Mapping[str, Any] = entry[kind]
            return found
    if name is None:
        _fail(
            where,
            "has no current-context" if kind == "context" else f"has a current context without a {kind}",
        )
    source = "in current-context" if kind == "context" else "that its current context refers to"
    _fail(where, f"has no usable {kind} entry with the name {source}")


def _text(entry: Mapping[str, Any], name: str, where: str) -> str | None:
    value = entry.get(name)
    if value is not None and not isinstance(value, str):
        _fail(where, f"has a {name} that is not a string")
    if value and name in _LINES and not value.isprintable():
        # Libraries quote a header that they refuse.
        _fail(where, f"has a {name} with a line break or another control character in it")
    return value or None


def _bytes(entry: Mapping[str, Any], name: str, where: str) -> bytes | None:
    text = _text(entry, name, where)
    try:
        return base64.b64decode("".join(text.split()), validate=True) if text else None
    except (binascii.Error, ValueError):
        _fail(where, f"has a {name} that is not base64")
