# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Chooses API server and credentials from a module's options, ``K8S_AUTH_*``, a kubeconfig or the pod."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...model.errors import ConfigurationError
from ...model.shown import shown
from .embedded import Embedded
from .k8s_auth import complete, from_environment, variable_of

if TYPE_CHECKING:
    from .kubeconfig import Kubeconfigs, Login

__all__ = ["Connection", "check_address", "describe_api_server", "kubernetes_connection"]

_ABOUT_HOST = ("host", "api_key", "ca_cert", "validate_certs")
_NO_VARIABLES: Mapping[str, str] = {}


@dataclass(frozen=True)
class Connection:
    """The key of one cluster and one user of it.

    :param variables: the fields from ``K8S_AUTH_*``, each with its variable, for messages.
    """

    kubeconfig: str | None = None
    context: str | None = None
    host: str | None = None
    api_key: str | None = None
    username: str | None = None
    password: str | None = None
    client_cert: str | None = None
    client_key: str | None = None
    ca_cert: str | None = None
    validate_certs: bool = True
    proxy: str | None = None
    no_proxy: str | None = None
    proxy_basic_auth: str | None = None
    basic_auth: str | None = None
    user_agent: str | None = None
    impersonate_user: str | None = None
    impersonate_groups: tuple[str, ...] = ()
    embedded: Embedded | None = None
    variables: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"Connection(host={self.host!r}, context={self.context!r})"

    @property
    def has_credentials(self) -> bool:
        """Whether they replace those of a kubeconfig's user."""
        return bool(self.api_key or self.username or self.client_cert)

    def acting_as(self, headers: dict[str, str]) -> Mapping[str, str]:
        """Return the headers of a request, and those for impersonation."""
        acting = self.impersonation()
        if not acting:
            return headers
        from urllib3 import HTTPHeaderDict

        made = HTTPHeaderDict(headers)
        for name, value in acting:
            made.add(name, value)
        return made

    def impersonation(self) -> tuple[tuple[str, str], ...]:
        """Return the headers for impersonation; a name may appear more than once."""
        user = (("Impersonate-User", self.impersonate_user),) if self.impersonate_user else ()
        return (*user, *(("Impersonate-Group", group) for group in self.impersonate_groups))

    def is_of_pod(self) -> bool:
        """Whether nothing names a server except the pod that this runs in."""
        if self.host or self.kubeconfig or self.context or os.environ.get("KUBECONFIG"):
            return False
        return bool(os.environ.get("KUBERNETES_SERVICE_HOST"))

    def login(self, kubeconfigs: Kubeconfigs) -> Login:
        """Return the kubeconfig's entries for its context, without the user's if there are other credentials.

        :raises ConfigurationError: names the file and what is wrong with it.
        """
        found = kubeconfigs.login(self.kubeconfig, self.context)
        # Otherwise a client certificate of its user would be used before a token.
        return replace(found, user={}) if self.has_credentials else found

    def name_of(self, field: str) -> str:
        """Return a field's name for messages: the option, or the variable that set it."""
        return dict(self.variables).get(field, f"kubernetes.{field}")

    def proxy_setting(self) -> str:
        """Return the setting that may prevent a connection pool."""
        return self.name_of("proxy") if self.proxy else "the kubeconfig's proxy-url and tls-server-name"

    def trust_hint(self) -> str:
        """Return what to check if the API server's certificate is not trusted."""
        named = dict(self.variables)
        if "host" in named and "ca_cert" not in named and not self.ca_cert:
            # AWX's credentials and kubernetes.core's documentation use this name.
            return (
                "check K8S_AUTH_SSL_CA_CERT, which names a file with its certificate authority, and "
                + named["host"]
            )
        if self.host:
            return f"check {self.name_of('ca_cert')} and {self.name_of('host')}"
        return f"check {self.name_of('ca_cert')}, or the kubeconfig's certificate-authority and server"

    def token_hint(self) -> str:
        """Return what to check if a token is missing or not usable."""
        if self.api_key:
            return f"check {self.name_of('api_key')}"
        if self.is_of_pod():
            return "check the token of the pod's service account"
        return "check the token in the kubeconfig, or the output of its exec plugin"


def kubernetes_connection(
    options: Mapping[str, Any],
    context: str | None = None,
    kubeconfig: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
) -> Connection:
    """Return the connection that a module's ``kubernetes`` options describe; the names are kubernetes.core's.

    ``K8S_AUTH_*`` are the defaults, unless ``k8s_auth`` is false among the options: the job contract lists
    every variable that it reads.

    :param context: a target's own. If it or ``kubeconfig`` is set, the task's token, and its ``host`` with
        its certificate, are not used, because they are for another cluster.
    :raises ConfigurationError: a variable cannot be used.
    """
    if context or kubeconfig:
        others = _ABOUT_HOST if options.get("host") else ("api_key",)
        options = {name: value for name, value in options.items() if name not in others}
    given = {name: options.get(name) for name in ("host", "api_key", "ca_cert", "validate_certs")}
    given["kubeconfig"] = kubeconfig or options.get("kubeconfig")
    given["context"] = context or options.get("context")
    if environ is None:
        closed = options.get("plain") or options.get("k8s_auth") is False
        environ = _NO_VARIABLES if closed else os.environ
    found = from_environment(environ)
    made = complete(given, found)
    verify = made.pop("validate_certs", None)
    return Connection(
        **made,
        validate_certs=True if verify is None else bool(verify),
        variables=tuple((name, variable_of(name, environ)) for name in made if made[name] is found.get(name)),
    )


def describe_api_server(connection: Connection) -> str:
    """Return the cluster's printable name: its context and its kubeconfig's, as far as they were given."""
    if connection.embedded is not None:
        return f"the API server of {connection.embedded.where}"
    named = (("context", connection.context), ("kubeconfig", connection.kubeconfig))
    parts = [f"{what} {shown(name)}" for what, name in named if name]
    return f"the API server of {' in '.join(parts)}" if parts else "the API server"


def check_address(address: str, where: str) -> Any:
    """Return the parts of an API server's URL.

    :param where: what to check, in a message that must not quote the URL, which may hold a password.
    """
    from urllib3.exceptions import HTTPError
    from urllib3.util import parse_url

    try:
        url = parse_url(address)
    except (HTTPError, ValueError) as error:
        raise ConfigurationError(
            f"the API server's address cannot be used ({type(error).__name__})",
            f"{where} must be an address such as https://HOST:6443",
        ) from None
    if url.scheme not in (None, "http", "https") or not url.host:
        raise ConfigurationError(
            "the API server's address cannot be used",
            f"{where} must be an address such as https://HOST:6443: http and https only",
        )
    return url
