# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which TLS certificates of the API server are trusted."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.connection import (
    kubernetes_connection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    k8s_pull_secret,
)
from tests.kubernetes.integration.test_secret import NAME, ONE, desired
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.support.docker_configs import held
from tests.support.kubernetes.running import run_task
from tests.support.kubernetes.world import Api
from tests.support.login import TlsFront

Front = Callable[[], TlsFront]


@pytest.fixture
def front(api: Api, tmp_path: Path) -> Iterator[Front]:
    """Creates TLS proxies in front of the API server, each with its own CA."""
    made: list[TlsFront] = []

    def make() -> TlsFront:
        directory = tmp_path / f"front-{len(made)}"
        directory.mkdir()
        made.append(TlsFront(api.url.removeprefix("http://"), directory))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def put(namespace: str, **params: Any) -> dict[str, Any]:
    return run_task(k8s_pull_secret, {**desired(namespace), **params})


def test_the_tasks_certificate_options_do_not_apply_to_a_targets_own_cluster(
    api: Api, namespace: str, front: Front, tmp_path: Path
) -> None:
    task, target = front(), front()
    clusters = [Cluster("mgmt-1", target.url, api.token, target.authority.read_bytes())]
    config = write_kubeconfig(tmp_path / "config", clusters)
    options = {"host": task.url, "api_key": api.token, "ca_cert": str(task.authority)}
    for own in ({"kubeconfig": str(config)}, {"kubeconfig": str(config), "context": "mgmt-1"}):
        assert "failed" not in put(namespace, kubernetes=options, **own)
    assert held(api.secret(namespace, NAME)) == ONE


def test_a_targets_own_cluster_is_checked_though_the_tasks_is_not(
    api: Api, namespace: str, front: Front, tmp_path: Path
) -> None:
    target, other = front(), front()
    clusters = [Cluster("mgmt-1", target.url, api.token, other.authority.read_bytes())]
    config = write_kubeconfig(tmp_path / "config", clusters)
    options = {"host": api.url, "api_key": api.token, "validate_certs": False}
    assert "failed" in put(namespace, kubernetes=options, kubeconfig=str(config))
    assert len(api.calls) == 0


@pytest.mark.parametrize(
    "own", [{"context": "mgmt-1"}, {"kubeconfig": "/own"}], ids=["context", "kubeconfig"]
)
def test_without_a_host_the_tasks_choice_holds_for_every_cluster(own: dict[str, Any]) -> None:
    """The task's option is then about the clusters of the kubeconfig."""
    connection = kubernetes_connection(
        {"kubeconfig": "/task", "ca_cert": "/ca.pem", "validate_certs": False}, **own
    )
    assert (connection.ca_cert, connection.validate_certs) == ("/ca.pem", False)


def test_an_untrusted_certificate_is_reported_at_once(api: Api, namespace: str, front: Front) -> None:
    server, other = front(), front()
    address = server.url.removeprefix("https://")
    for options in ({}, {"ca_cert": str(other.authority)}):
        given = {"host": server.url, "api_key": "example-token-for-nobody", **options}
        result = put(namespace, kubernetes=given)
        (failure,) = result["failed_targets"]
        assert failure["kind"] == "configuration", failure["msg"]
        assert f"the certificate of the API server {address} is not trusted (self-signed" in failure["msg"]
        assert "check kubernetes.ca_cert and kubernetes.host" in failure["msg"]
        assert result["targets"][0]["retries"] == 0
        assert "example-token-for-nobody" not in str(result)
    assert len(api.calls) == 0
    trusted = {"host": server.url, "api_key": api.token, "ca_cert": str(server.authority)}
    assert "failed" not in put(namespace, kubernetes=trusted)


def test_a_certificate_for_another_name_is_not_trusted_either(namespace: str, front: Front) -> None:
    server = front()
    # The certificate is for localhost and 127.0.0.1.
    url = server.url.replace("localhost", "0.0.0.0")
    result = put(namespace, kubernetes={"host": url, "ca_cert": str(server.authority)})
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "configuration", failure["msg"]
    assert "is not trusted (IP address mismatch" in failure["msg"]


def test_a_connection_that_is_cut_in_the_middle_of_tls_is_tried_again(
    api: Api, namespace: str, front: Front
) -> None:
    server = front()
    options = {"host": server.url, "api_key": api.token, "ca_cert": str(server.authority)}
    api.faults.add(drop=True, times=1)
    result = put(namespace, kubernetes=options)
    assert "failed" not in result, result["msg"]
    assert result["targets"][0]["retries"] == 1


def test_a_server_that_ends_the_handshake_is_tried_again(namespace: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        address = f"127.0.0.1:{listener.getsockname()[1]}"

        def hang_up() -> int:
            listener.settimeout(30)
            greetings = 0
            while greetings < 5:
                connection = listener.accept()[0]
                with connection:
                    connection.recv(65536)
                greetings += 1
            return greetings

        greeted = pool.submit(hang_up)
        user = "https://example-user:example-password@"
        result = put(namespace, kubernetes={"host": f"{user}{address}/path"})
        assert greeted.result() == 5
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "unavailable"
    assert f"no answer from the API server {address} (" in failure["msg"]
    assert "tried 5 times" in failure["msg"]
    assert "example-" not in str(result)


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "No such file"), ("no certificate", "NO_CERTIFICATE_OR_CRL_FOUND")],
)
def test_unreadable_authorities_are_reported_at_once(
    api: Api, namespace: str, front: Front, tmp_path: Path, content: str | None, said: str
) -> None:
    authority = tmp_path / "ca.pem"
    if content is not None:
        authority.write_text(content)
    options = {"host": front().url, "api_key": api.token, "ca_cert": str(authority)}
    (failed,) = put(namespace, kubernetes=options)["failed_targets"]
    assert failed["kind"] == "configuration"
    assert said in failed["msg"]
    assert "kubernetes.ca_cert" in failed["msg"]
