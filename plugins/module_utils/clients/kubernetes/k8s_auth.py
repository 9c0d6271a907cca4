# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads ``K8S_AUTH_*``, the variables by which AWX's credentials and the Ansible Operator name an API server.

Names, spellings and the parsing of booleans and lists are those of kubernetes.core (``_create_auth_spec`` and
``_create_headers`` of its ``module_utils/k8s/client.py``), except ``K8S_AUTH_PERSIST_CONFIG``: this
collection writes no kubeconfig. One rule is stricter: settings of one API server are not used for another
one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...model.errors import ConfigurationError

__all__ = ["VARIABLES", "complete", "from_environment", "variable_of"]

_PREFIX = "K8S_AUTH_"
VARIABLES = {
    "kubeconfig": ("KUBECONFIG",),
    "context": ("CONTEXT",),
    "host": ("HOST",),
    "api_key": ("API_KEY",),
    "username": ("USERNAME",),
    "password": ("PASSWORD",),
    "validate_certs": ("VALIDATE_CERTS", "VERIFY_SSL"),
    "ca_cert": ("CA_CERT", "SSL_CA_CERT"),
    "client_cert": ("CLIENT_CERT", "CERT_FILE"),
    "client_key": ("CLIENT_KEY", "KEY_FILE"),
    "proxy": ("PROXY",),
    "no_proxy": ("NO_PROXY",),
    "proxy_basic_auth": ("PROXY_HEADERS_PROXY_BASIC_AUTH",),
    "basic_auth": ("PROXY_HEADERS_BASIC_AUTH",),
    "user_agent": ("PROXY_HEADERS_USER_AGENT",),
    "impersonate_user": ("IMPERSONATE_USER",),
    "impersonate_groups": ("IMPERSONATE_GROUPS",),
}
"""Options to the suffixes of their variables. The first that is set and not empty is used."""
_SERVER = ("host", "kubeconfig", "context")
_CREDENTIALS = ("api_key", "username", "password", "client_cert", "client_key")
_TLS = ("ca_cert", "validate_certs")
_FALSE = ("0", "false", "no")
# They are used in HTTP headers unchanged; a token is checked where it is sent.
_HEADERS = ("user_agent", "impersonate_user", "impersonate_groups")


def variable_of(option: str, environ: Mapping[str, str]) -> str:
    """Return the variable that sets an option, or an empty string."""
    names = (_PREFIX + ending for ending in VARIABLES[option])
    return next((name for name in names if environ.get(name, "").strip()), "")


def from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the options that the variables set; an empty variable sets none.

    :raises ConfigurationError: names the variable, and not its value.
    """
    found: dict[str, Any] = {}
    for option in VARIABLES:
        name = variable_of(option, environ)
        if not name:
            continue
        text = environ[name].strip()
        if not text.isprintable() or (option in _HEADERS and not text.isascii()):
            raise ConfigurationError(
                f"{name} has a line break or another character that cannot be used there"
            )
        found[option] = text
    if "validate_certs" in found:
        found["validate_certs"] = found["validate_certs"].lower() not in _FALSE
    if "impersonate_groups" in found:
        groups = (group.strip() for group in found["impersonate_groups"].split(","))
        found["impersonate_groups"] = tuple(group for group in groups if group)
    return found


def complete(options: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """The options, and what the environment says where they say nothing.

    - An option that names a kubeconfig or a context stands for itself: of the environment neither the server
      nor credentials are used with it.
    - The environment's context selects within the environment's kubeconfig or ``KUBECONFIG``. An option that
      names a kubeconfig does not use it: it could lead to another cluster.
    - An option that names a host may take its credentials from the environment, unless the environment has a
      host of its own, to which its credentials and its certificates belong.
    - A token is used with the server that is chosen: a kubeconfig's, too, in place of its user.
    - An option that gives a token takes the place of all credentials of the environment: an API server looks at
      a client certificate first.
    - Proxies and impersonation are always used: without the latter a run would have more rights than it was
      given.
    """
    given = {name: value for name, value in options.items() if value is not None and value != ""}
    left_out: set[str] = set()
    if given.get("kubeconfig") or given.get("context"):
        left_out.update(("host", *_CREDENTIALS))
        if given.get("kubeconfig"):
            left_out.update(_SERVER)
    elif given.get("host"):
        left_out.update(_SERVER)
        if "host" in found:
            left_out.update(_CREDENTIALS)
    if given.get("api_key"):
        left_out.update(_CREDENTIALS)
    if given.keys() & set(_SERVER) and "host" in found:
        left_out.update(_TLS)
    made = {**{name: value for name, value in found.items() if name not in left_out}, **given}
    if not given.get("host") and made.get("host"):
        # In place of a kubeconfig, as the option is.
        made = {name: value for name, value in made.items() if name not in ("kubeconfig", "context")}
    return made
