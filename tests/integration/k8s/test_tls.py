# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whose certificates are trusted: the API server's, behind TLS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.client import connect
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import k8s_pull_secret
from tests.integration.gcp.login import TlsFront
from tests.integration.k8s.running import run_task
from tests.integration.k8s.test_secret import NAME, ONE, desired
from tests.integration.k8s.world import Api, held
from tests.lab.kubernetes.kubeconfig import Cluster, write_kubeconfig

Front = Callable[[], TlsFront]


@pytest.fixture
def front(api: Api, tmp_path: Path) -> Iterator[Front]:
    """Makes TLS fronts of the API server, each with an authority of its own."""
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


def test_what_is_said_of_the_tasks_certificate_does_not_hold_for_a_targets_own_cluster(
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
def test_without_a_host_the_tasks_choice_holds_for_every_cluster(own: dict[str, str]) -> None:
    """It is a choice about the kubeconfig's clusters then."""
    connection = connect({"kubeconfig": "/task", "ca_cert": "/ca.pem", "validate_certs": False}, **own)
    assert (connection.ca_cert, connection.validate_certs) == ("/ca.pem", False)
