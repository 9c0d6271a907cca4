# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables ``K8S_AUTH_*``: each name, the order of precedence, and which ones apply to which server."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.connection import (
    Connection,
    describe_api_server,
    kubernetes_connection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.k8s_auth import (
    VARIABLES,
    from_environment,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError

SECRET = "example-password"
# As kubernetes.core 6 reads its options: _create_auth_spec and _create_headers of k8s/client.py.
NAMES: list[tuple[str, str, str, Any]] = [
    ("K8S_AUTH_KUBECONFIG", "/k", "kubeconfig", "/k"),
    ("K8S_AUTH_CONTEXT", "mgmt-1", "context", "mgmt-1"),
    ("K8S_AUTH_HOST", "https://a:6443", "host", "https://a:6443"),
    ("K8S_AUTH_API_KEY", SECRET, "api_key", SECRET),
    ("K8S_AUTH_USERNAME", "user", "username", "user"),
    ("K8S_AUTH_PASSWORD", SECRET, "password", SECRET),
    ("K8S_AUTH_VALIDATE_CERTS", "no", "validate_certs", False),
    ("K8S_AUTH_VERIFY_SSL", "False", "validate_certs", False),
    ("K8S_AUTH_CA_CERT", "/ca", "ca_cert", "/ca"),
    ("K8S_AUTH_SSL_CA_CERT", "/ca", "ca_cert", "/ca"),
    ("K8S_AUTH_CLIENT_CERT", "/cert", "client_cert", "/cert"),
    ("K8S_AUTH_CERT_FILE", "/cert", "client_cert", "/cert"),
    ("K8S_AUTH_CLIENT_KEY", "/key", "client_key", "/key"),
    ("K8S_AUTH_KEY_FILE", "/key", "client_key", "/key"),
    ("K8S_AUTH_PROXY", "http://p:3128", "proxy", "http://p:3128"),
    ("K8S_AUTH_NO_PROXY", "a,b", "no_proxy", "a,b"),
    ("K8S_AUTH_PROXY_HEADERS_PROXY_BASIC_AUTH", f"u:{SECRET}", "proxy_basic_auth", f"u:{SECRET}"),
    ("K8S_AUTH_PROXY_HEADERS_BASIC_AUTH", f"u:{SECRET}", "basic_auth", f"u:{SECRET}"),
    ("K8S_AUTH_PROXY_HEADERS_USER_AGENT", "agent", "user_agent", "agent"),
    ("K8S_AUTH_IMPERSONATE_USER", "jane", "impersonate_user", "jane"),
    ("K8S_AUTH_IMPERSONATE_GROUPS", "one,,two", "impersonate_groups", ("one", "two")),
]


def made(options: dict[str, Any], environ: dict[str, str], **own: str) -> Connection:
    return kubernetes_connection(options, **own, environ=environ)


@pytest.mark.parametrize(("name", "text", "field", "value"), NAMES)
def test_each_name_is_read(name: str, text: str, field: str, value: Any) -> None:
    connection = made({}, {name: text})
    assert getattr(connection, field) == value
    assert made({}, {name: ""}) == Connection()
    # A line break at the end is removed.
    assert made({}, {name: f"{text}\n"}) == connection
    assert SECRET not in repr(connection) + describe_api_server(connection)


def test_the_names_are_all_that_are_read() -> None:
    assert {name for name, *_more in NAMES} == {
        f"K8S_AUTH_{ending}" for endings in VARIABLES.values() for ending in endings
    }


@pytest.mark.parametrize(("text", "groups"), [("a, b, ,c", ("a", "b", "c")), (" , ", ()), ("a b", ("a b",))])
def test_an_empty_group_is_left_out(text: str, groups: tuple[str, ...]) -> None:
    assert made({}, {"K8S_AUTH_IMPERSONATE_GROUPS": text}).impersonate_groups == groups


@pytest.mark.parametrize("text", ["0", "false", "no", "FALSE", "No"])
def test_what_is_false(text: str) -> None:
    assert not made({}, {"K8S_AUTH_VERIFY_SSL": text}).validate_certs


@pytest.mark.parametrize("text", ["1", "true", "yes", "off", "n", ""])
def test_everything_else_is_true(text: str) -> None:
    assert made({}, {"K8S_AUTH_VERIFY_SSL": text}).validate_certs


def test_the_options_own_name_counts_before_the_clients() -> None:
    both = {"K8S_AUTH_CA_CERT": "/first", "K8S_AUTH_SSL_CA_CERT": "/second"}
    assert made({}, both).ca_cert == "/first"
    assert made({}, {**both, "K8S_AUTH_CA_CERT": ""}).ca_cert == "/second"


ALL = {name: text for name, text, *_more in NAMES}
HOST = {
    name: ALL[name]
    for name in ("K8S_AUTH_HOST", "K8S_AUTH_API_KEY", "K8S_AUTH_VERIFY_SSL", "K8S_AUTH_SSL_CA_CERT")
}


@pytest.mark.parametrize(
    ("option", "value"),
    [("host", "https://b"), ("api_key", "t"), ("ca_cert", "/b"), ("validate_certs", True), ("context", "b")],
)
def test_an_option_counts_before_its_variable(option: str, value: Any) -> None:
    assert getattr(made({option: value}, ALL), option) == value


def test_a_host_is_in_place_of_a_kubeconfig() -> None:
    connection = made({}, ALL)
    assert (connection.host, connection.kubeconfig, connection.context) == ("https://a:6443", None, None)


@pytest.mark.parametrize(
    ("options", "own"),
    [
        ({"kubeconfig": "/own"}, {}),
        ({"context": "own"}, {}),
        ({"host": "https://own"}, {}),
        ({}, {"kubeconfig": "/own"}),
        ({}, {"context": "own"}),
        ({"host": "https://task", "api_key": "t"}, {"context": "own"}),
        ({"api_key": "t"}, {"context": "own"}),
        ({"kubeconfig": "/task", "api_key": "t"}, {"kubeconfig": "/own"}),
    ],
)
def test_options_for_one_server_do_not_apply_to_another(options: dict[str, str], own: dict[str, str]) -> None:
    connection = made(options, ALL, **own)
    assert connection.host == (options.get("host") if not own else None)
    for field in ("api_key", "username", "password", "client_cert", "client_key", "ca_cert"):
        assert getattr(connection, field) is None, field
    assert connection.validate_certs
    # Without them a run would have more rights, or could not reach the server.
    assert (connection.impersonate_user, connection.impersonate_groups) == ("jane", ("one", "two"))
    assert connection.proxy == "http://p:3128"


@pytest.mark.parametrize(("options", "own"), [({"kubeconfig": "/own"}, {}), ({}, {"kubeconfig": "/own"})])
def test_a_context_of_the_environment_does_not_redirect_a_kubeconfig(
    options: dict[str, str], own: dict[str, str]
) -> None:
    variables = {"K8S_AUTH_KUBECONFIG": "/k", "K8S_AUTH_CONTEXT": "other"}
    connection = made(options, variables, **own)
    assert (connection.kubeconfig, connection.context) == ("/own", None)
    connection = made({**options, "context": "mine"}, variables, **own)
    assert (connection.kubeconfig, connection.context) == ("/own", "mine")


def test_a_context_by_option_selects_within_the_environments_kubeconfig() -> None:
    connection = made({"context": "mine"}, {"K8S_AUTH_KUBECONFIG": "/k", "K8S_AUTH_CONTEXT": "other"})
    assert (connection.kubeconfig, connection.context) == ("/k", "mine")


def test_a_token_may_be_in_the_environment_and_the_host_an_option() -> None:
    connection = made({"host": "https://b"}, {"K8S_AUTH_API_KEY": SECRET, "K8S_AUTH_VERIFY_SSL": "no"})
    assert (connection.api_key, connection.validate_certs) == (SECRET, False)


def test_the_option_api_key_is_used_with_any_server() -> None:
    """It was ignored without a host, and a wrong token succeeded with the rights of the kubeconfig's user."""
    assert made({"api_key": "t"}, {}).api_key == "t"
    assert made({"api_key": "t", "kubeconfig": "/k"}, {}).api_key == "t"
    assert made({"api_key": "t", "context": "a"}, {}).api_key == "t"
    assert made({"api_key": "t"}, HOST).api_key == "t"


@pytest.mark.parametrize("options", [{}, {"host": "https://b"}])
def test_the_option_api_key_is_in_place_of_all_credentials(options: dict[str, str]) -> None:
    credentials = {
        name: ALL[f"K8S_AUTH_{name}"]
        for name in ("USERNAME", "PASSWORD", "CERT_FILE", "KEY_FILE", "SSL_CA_CERT")
    }
    variables = {f"K8S_AUTH_{name}": text for name, text in credentials.items()}
    if not options:
        variables["K8S_AUTH_HOST"] = "https://a"
    connection = made({**options, "api_key": "t"}, variables)
    given = [connection.api_key, connection.username, connection.password]
    assert given == ["t", None, None]
    assert (connection.client_cert, connection.client_key) == (None, None)
    # The API key does not change the server.
    assert (connection.host, connection.ca_cert) == (options.get("host", "https://a"), "/ca")


def test_the_option_api_key_is_in_place_of_the_variable_with_a_kubeconfig_too() -> None:
    connection = made({"api_key": "t"}, {"K8S_AUTH_KUBECONFIG": "/k", "K8S_AUTH_API_KEY": SECRET})
    assert (connection.kubeconfig, connection.api_key) == ("/k", "t")


def test_a_variable_takes_the_place_of_a_kubeconfigs_user() -> None:
    connection = made({}, {"K8S_AUTH_KUBECONFIG": "/k", "K8S_AUTH_API_KEY": SECRET})
    assert (connection.kubeconfig, connection.api_key) == ("/k", SECRET)


@pytest.mark.parametrize(("name", "field"), [(name, field) for name, _text, field, _value in NAMES])
def test_a_control_character_is_refused_and_not_shown(name: str, field: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} has a line break") as caught:
        from_environment({name: f"{SECRET}\r\nX: y"})
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("options", [{"plain": True}, {"k8s_auth": False}])
def test_the_job_reads_none_of_them(options: dict[str, bool]) -> None:
    assert made_for_job(options) == Connection()


def made_for_job(options: dict[str, bool]) -> Connection:
    patch = pytest.MonkeyPatch()
    with patch.context() as environment:
        for name, text in ALL.items():
            environment.setenv(name, text)
        return kubernetes_connection(options)
