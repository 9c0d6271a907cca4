# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which API server is asked and as whom: the module's options, a kubeconfig, or the pod's own account."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...model.errors import ConfigurationError, PullSecretError
from ...model.shown import shown, shown_path
from ...runtime.atomic_file import read_regular
from .embedded import Embedded
from .kubeconfig import load, problem

__all__ = ["Connection", "check_address", "configure", "connect", "describe"]

_ABOUT_HOST = ("host", "api_key", "ca_cert", "validate_certs")


@dataclass(frozen=True)
class Connection:
    """What tells one cluster, and one user of it, from another."""

    kubeconfig: str | None = None
    context: str | None = None
    host: str | None = None
    api_key: str | None = None
    ca_cert: str | None = None
    validate_certs: bool = True
    embedded: Embedded | None = None

    def __repr__(self) -> str:
        return f"Connection(host={self.host!r}, context={self.context!r})"


def connect(
    options: Mapping[str, Any], context: str | None = None, kubeconfig: str | None = None
) -> Connection:
    """The connection that a module's ``kubernetes`` options describe; the names are kubernetes.core's.

    :param context: a target's own, and likewise ``kubeconfig``: they lead away from the task's ``host``, and
        what was said of its token and its certificate is not said of another cluster's.
    """
    if (context or kubeconfig) and options.get("host"):
        options = {name: value for name, value in options.items() if name not in _ABOUT_HOST}
    verify = options.get("validate_certs")
    return Connection(
        kubeconfig=kubeconfig or options.get("kubeconfig") or None,
        context=context or options.get("context") or None,
        host=options.get("host") or None,
        api_key=options.get("api_key") or None,
        ca_cert=options.get("ca_cert") or None,
        validate_certs=True if verify is None else bool(verify),
    )


def describe(connection: Connection) -> str:
    """The cluster's printable name: its context and its kubeconfig's, as far as they were given."""
    if connection.embedded is not None:
        return f"the API server of {connection.embedded.where}"
    named = (("context", connection.context), ("kubeconfig", connection.kubeconfig))
    parts = [f"{what} {shown(name)}" for what, name in named if name]
    return f"the API server of {' in '.join(parts)}" if parts else "the API server"


def configure(connection: Connection, concurrency: int) -> tuple[Any, bool]:
    """The official client's configuration, and whether to ask it for a token may take long.

    :param concurrency: how many connections are kept.
    :raises ConfigurationError: naming what cannot be used, and no value of it.
    """
    from kubernetes.client.configuration import Configuration
    from kubernetes.config import incluster_config

    configuration = Configuration()
    plugin = False
    try:
        if connection.embedded is not None:
            connection.embedded.fill(configuration)
        elif connection.host:
            check_address(connection.host, "kubernetes.host")
            configuration.host = connection.host
            if connection.api_key:
                configuration.api_key = {"authorization": connection.api_key}
                configuration.api_key_prefix = {"authorization": "Bearer"}
        elif _in_cluster(connection):
            incluster_config.load_incluster_config(client_configuration=configuration)
        else:
            plugin = load(connection.kubeconfig, connection.context, configuration)
    except PullSecretError:
        raise
    except Exception as error:  # noqa: BLE001 - yaml's errors, and those of older clients
        if _in_cluster(connection):
            raise ConfigurationError(
                f"the pod's service account cannot be used ({type(error).__name__})"
            ) from None
        raise problem(error, connection.kubeconfig) from None
    if connection.ca_cert:
        configuration.ssl_ca_cert = connection.ca_cert
    if not connection.validate_certs:
        configuration.verify_ssl = False
    _check_authorities(configuration, connection)
    configuration.connection_pool_maxsize = max(concurrency, 4)
    return configuration, plugin


def check_address(address: str, where: str) -> Any:
    """The parts of an API server's address.

    :param where: what to check, in a message that must not quote the address: it may hold a password.
    """
    from urllib3.exceptions import HTTPError
    from urllib3.util import parse_url

    try:
        url = parse_url(address)
    except (HTTPError, ValueError) as error:
        raise ConfigurationError(
            f"the API server's address cannot be used ({type(error).__name__})",
            f"{where} is not an address such as https://HOST:6443",
        ) from None
    if url.scheme not in (None, "http", "https") or not url.host:
        raise ConfigurationError(
            "the API server's address cannot be used",
            f"{where} is not an address such as https://HOST:6443: http and https only",
        )
    return url


def _check_authorities(configuration: Any, connection: Connection) -> None:
    """What cannot be read would look like a server that does not answer."""
    if not (configuration.verify_ssl and configuration.ssl_ca_cert):
        return
    try:
        # A pipe would be waited for without end.
        read_regular(configuration.ssl_ca_cert)
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(configuration.ssl_ca_cert)
    except OSError as error:
        # An SSLError is one, too.
        reason = getattr(error, "reason", None) or error.strerror or type(error).__name__
        # A kubeconfig's may be in a temporary file, whose name says nothing.
        kubeconfig = f"the kubeconfig {shown_path(connection.kubeconfig)}" if connection.kubeconfig else None
        given = f"kubernetes.ca_cert {shown_path(connection.ca_cert)}" if connection.ca_cert else kubeconfig
        where = given or "the kubeconfig"
        raise ConfigurationError(
            f"the certificates of the API server's authority cannot be read: {where}: {reason}",
            "check kubernetes.ca_cert, or the cluster's entry in the kubeconfig",
        ) from None


def _in_cluster(connection: Connection) -> bool:
    if connection.kubeconfig or connection.context or os.environ.get("KUBECONFIG"):
        return False
    return bool(os.environ.get("KUBERNETES_SERVICE_HOST"))
