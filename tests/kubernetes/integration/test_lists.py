# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists without an end, from a server or from a proxy in front of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.client import (
    KubernetesClient,
    KubernetesClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.plain_http import PlainTransport
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    k8s_pull_secret,
)
from tests.kubernetes.integration.test_answers import server
from tests.support.docker_configs import docker_config
from tests.support.kubernetes.running import run_task

NAMES = ["one", "two", "three"]
# The continue token that the Ansible Operator's proxy sends with every list from its cache.
NOT_SUPPORTED = "continue-not-supported"


class Api:
    """An API server that answers every list with the same objects and the same continue token."""

    def __init__(self, token: Any = NOT_SUPPORTED, **headers: str) -> None:
        self.lists: list[str] = []
        self._token = token
        self._headers = headers

    def answer(self, request: BaseHTTPRequestHandler, _sent: list[int]) -> None:
        parts = urlsplit(request.path)
        query = parse_qs(parts.query)
        is_list = "limit" in query
        if is_list:
            self.lists.extend(query.get("continue", [""]))
        items = [{"metadata": {"name": name, "namespace": "clusters"}} for name in NAMES]
        body = json.dumps({"metadata": {"continue": self._token}, "items": items}).encode()
        request.send_response(200 if is_list else 404)
        request.send_header("Content-Length", str(len(body)))
        for name, value in self._headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(body)


@pytest.fixture(params=["official", "plain"])
def connect(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], KubernetesClient]:
    """A client with the transport of the official client, or with that of the standard library."""

    def made(url: str) -> KubernetesClient:
        settings = RunSettings(connections={"kubernetes": {"host": url, "api_key": "example-token"}})
        client = KubernetesClients(settings).get(settings.deadline())
        if request.param == "plain":
            parts = urlsplit(url)
            transport: Any = PlainTransport(parts.hostname or "", parts.port or 0)
            monkeypatch.setattr(client, "_transport", transport)
        return client

    return made


def names(client: KubernetesClient) -> Iterator[str]:
    for item in client.list_all("secrets", "a=b", RunSettings().deadline()):
        yield item["metadata"]["name"]


def test_a_token_that_comes_again_ends_the_list(connect: Callable[[str], KubernetesClient]) -> None:
    api = Api()
    with server(api.answer) as (url, _sent), pytest.raises(PullSecretError) as caught:
        list(names(connect(url)))
    said = "GET secrets: the list does not end: the token of the next page is continue-not-supported again; "
    assert str(caught.value).startswith(said)
    assert not caught.value.retryable
    assert api.lists == ["", NOT_SUPPORTED]


@pytest.mark.parametrize("headers", [{"X_Cache": "HIT"}, {"x_cache": "hit"}, {"X_CACHE": "HIT"}])
def test_the_ansible_operators_cache_has_the_whole_list(
    connect: Callable[[str], KubernetesClient], headers: dict[str, str]
) -> None:
    api = Api(**headers)
    with server(api.answer) as (url, _sent):
        assert list(names(connect(url))) == NAMES
    assert api.lists == [""]


def test_a_miss_of_a_cache_is_the_servers_own_list(connect: Callable[[str], KubernetesClient]) -> None:
    api = Api("", X_Cache="MISS")
    with server(api.answer) as (url, _sent):
        assert list(names(connect(url))) == NAMES


def test_a_run_does_without_such_a_list() -> None:
    """Each target then reads its own Secret."""
    api = Api()
    with server(api.answer) as (url, _sent):
        result = run_task(
            k8s_pull_secret,
            {
                "targets": [{"cluster_id": f"cls-{name}", "name": name} for name in NAMES],
                "namespace": "clusters",
                "source": {"inline": docker_config(quay_io="one")},
                "state": "absent",
                "kubernetes": {"host": url, "api_key": "example-token"},
            },
        )
    assert not result.get("failed"), result
    assert api.lists == ["", NOT_SUPPORTED]
