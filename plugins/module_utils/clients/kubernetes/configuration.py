# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The official client's configuration for a connection: its kubeconfig loader, exec plugins and pod account."""

from __future__ import annotations

import logging
import os
import re
import ssl
from collections.abc import Mapping
from typing import Any

from ...model.errors import ConfigurationError, PermissionDenied, PullSecretError
from ...model.shown import is_name, shown_path
from ...runtime.atomic_file import read_regular
from .connection import Connection, check_address
from .kubeconfig import Kubeconfigs, Login, paths_of, shown_paths
from .tls import no_password

__all__ = ["configure"]

# The client's messages with names and keys. A node's own name, after "in", may be its entire content.
_SENTENCES = (
    (re.compile(r"Expected key ([\w-]+) in "), "it, or one of its entries, has no {}"),
    (re.compile(r"File does not exist: (.+)\Z"), "{} does not exist or is not a file"),
)


def configure(connection: Connection, concurrency: int, kubeconfigs: Kubeconfigs) -> tuple[Any, bool]:
    """Return the official client's configuration, and whether its token may take long.

    :param concurrency: how many connections are kept.
    :raises ConfigurationError: names what cannot be used, and no value of it.
    """
    from kubernetes.client.configuration import Configuration
    from kubernetes.config import incluster_config

    configuration = Configuration()
    plugin = False
    try:
        if connection.embedded is not None:
            connection.embedded.fill(configuration)
        elif connection.host:
            check_address(connection.host, connection.name_of("host"))
            configuration.host = connection.host
        elif connection.is_of_pod():
            incluster_config.load_incluster_config(client_configuration=configuration)
        else:
            plugin = _load(connection.login(kubeconfigs), configuration)
    except PullSecretError:
        raise
    except Exception as error:  # noqa: BLE001 - older clients raise others than their own
        if connection.is_of_pod():
            raise ConfigurationError(
                f"the pod's service account cannot be used ({type(error).__name__})"
            ) from None
        raise _problem(error, connection.kubeconfig) from None
    _apply(connection, configuration)
    _check_authorities(configuration, connection)
    _check_client_certificate(connection)
    configuration.connection_pool_maxsize = max(concurrency, 4)
    return configuration, plugin


def _apply(connection: Connection, configuration: Any) -> None:
    """Apply the settings that override a kubeconfig: the options, and K8S_AUTH_*."""
    from urllib3.util import make_headers

    if connection.api_key:
        configuration.api_key = {"authorization": connection.api_key}
        configuration.api_key_prefix = {"authorization": "Bearer"}
        configuration.refresh_api_key_hook = None
    elif connection.username:
        login = make_headers(basic_auth=_as_utf8(f"{connection.username}:{connection.password or ''}"))
        configuration.api_key = {"authorization": login["authorization"]}
        configuration.api_key_prefix = {}
        configuration.refresh_api_key_hook = None
    if connection.client_cert:
        configuration.cert_file, configuration.key_file = connection.client_cert, connection.client_key
    if connection.ca_cert:
        configuration.ssl_ca_cert = connection.ca_cert
    if not connection.validate_certs:
        configuration.verify_ssl = False
    if connection.proxy:
        configuration.proxy = connection.proxy
    if connection.no_proxy:
        configuration.no_proxy = connection.no_proxy
    headers: dict[str, Any] = {
        name: _as_utf8(value)
        for name in ("proxy_basic_auth", "basic_auth", "user_agent")
        if (value := getattr(connection, name))
    }
    if headers:
        configuration.proxy_headers = make_headers(**headers)


def _as_utf8(text: str) -> str:
    """urllib3 encodes a login as Latin-1; this makes it send UTF-8, as the watches do."""
    return text.encode().decode("latin-1")


def _load(login: Login, configuration: Any) -> bool:
    """Fill in the configuration with the official loader; return whether its token is a plugin's, which may
    take long.
    """
    from kubernetes.config.kube_config import KubeConfigLoader

    _hush()
    name = "chosen"
    document = {
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": dict(login.cluster)}],
        "users": [{"name": name, "user": dict(login.user)}],
    }
    # Files are absolute already; an exec plugin is started in this directory.
    KubeConfigLoader(document, config_base_path=login.directory).load_and_set(configuration)
    if "exec" in login.user and not _has_credentials(configuration):
        raise _nothing_of(login.user["exec"])
    plugin = "exec" in login.user or "auth-provider" in login.user
    if not plugin:
        # It would set again, at each request, values from files that were read once.
        configuration.refresh_api_key_hook = None
    return plugin


def _problem(error: Exception, kubeconfig: str | None) -> ConfigurationError:
    """Return the message for an exception of the official client, whose own text may quote a user's token."""
    text = " ".join(str(error).split())
    said = type(error).__name__
    for pattern, words in _SENTENCES:
        found = pattern.search(text)
        if found and all(is_name(part) for part in found.groups()):
            said = words.format(*found.groups())
            break
    if isinstance(error, OSError) and isinstance(error.filename, str):
        said = f"{shown_path(error.filename)}: {error.strerror}"
    named = shown_paths(paths_of(kubeconfig))
    return ConfigurationError(
        f"no usable kubeconfig: {named}: {said}",
        "check the cluster and the user of the context in the kubeconfig",
    )


def _has_credentials(configuration: Any) -> bool:
    # Older clients have the other name. "Bearer None" is what they make of a null token.
    token = configuration.api_key.get("BearerToken") or configuration.api_key.get("authorization") or ""
    return token.strip() not in ("", "Bearer", "Bearer None") or bool(configuration.cert_file)


def _nothing_of(plugin: Any) -> PermissionDenied:
    """Refuse a plugin without credentials: the client would continue without a token, and the API server
    would get the blame.
    """
    command = plugin.get("command") if isinstance(plugin, Mapping) else None
    command = os.path.basename(str(command or ""))
    named = f"{command}: " if is_name(command) else ""
    return PermissionDenied(
        "the exec plugin of the kubeconfig's user gave no credentials",
        f"{named}run it by hand as the user who runs the task; its output is not shown here",
    )


def _hush() -> None:
    """Silence the client's log of a failed plugin's stderr, which may hold anything and would be printed."""
    logging.getLogger().addFilter(_not_of_the_client)


def _not_of_the_client(record: logging.LogRecord) -> bool:
    return not record.pathname.endswith(os.path.join("kubernetes", "config", "kube_config.py"))


def _check_authorities(configuration: Any, connection: Connection) -> None:
    """Check the CA files first: an unreadable file would look like a server that does not answer."""
    if not (configuration.verify_ssl and configuration.ssl_ca_cert):
        return
    try:
        # Reading a pipe could wait forever.
        read_regular(configuration.ssl_ca_cert)
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(configuration.ssl_ca_cert)
    except OSError as error:
        # An SSLError is one, too.
        reason = getattr(error, "reason", None) or error.strerror or type(error).__name__
        # A kubeconfig's may be in a temporary file, whose name says nothing.
        kubeconfig = f"the kubeconfig {shown_path(connection.kubeconfig)}" if connection.kubeconfig else None
        named = connection.name_of("ca_cert")
        given = f"{named} {shown_path(connection.ca_cert)}" if connection.ca_cert else kubeconfig
        where = given or "the kubeconfig"
        raise ConfigurationError(
            f"the CA certificates of the API server cannot be read: {where}: {reason}",
            f"check {named}" if connection.ca_cert else "check the cluster's entry in the kubeconfig",
        ) from None


def _check_client_certificate(connection: Connection) -> None:
    """Check the client certificate first: a problem would otherwise appear in the middle of a request."""
    if not connection.client_cert:
        return
    fields = ("client_cert", "client_key") if connection.client_key else ("client_cert",)
    named = " and ".join(map(connection.name_of, fields))
    try:
        for path in (connection.client_cert, connection.client_key):
            if path:
                read_regular(path)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_cert_chain(connection.client_cert, connection.client_key, password=no_password)
    except (OSError, ValueError) as error:
        # An SSLError is an OSError.
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__
        raise ConfigurationError(
            f"the client certificate or its key cannot be used: {named}: {reason}"
        ) from None
