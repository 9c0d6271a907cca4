# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Common clients: a kubeconfig, ``kubernetes.dynamic`` and ``CoreV1Api``; connections are reused."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import kubernetes.client
import kubernetes.config
import pytest
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import ConflictError, ForbiddenError, NotFoundError

from tests.kubernetes.contract.support import Client, Place, names, pull_secret, secret
from tests.lab.session import KubernetesEnv


@pytest.fixture
def dynamic(server: KubernetesEnv, tmp_path: Path) -> DynamicClient:
    path = server.kubeconfig(tmp_path / "kubeconfig")
    return DynamicClient(kubernetes.config.new_client_from_config(str(path), context="mgmt-1"))


def test_a_kubeconfig_is_private(server: KubernetesEnv, tmp_path: Path) -> None:
    path = server.kubeconfig(tmp_path / "kubeconfig")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_dynamic_client_finds_and_writes_secrets(dynamic: DynamicClient, place: Place) -> None:
    secrets = dynamic.resources.get(api_version="v1", kind="Secret")
    made = secrets.create(body=pull_secret("s", labels={"a": "b"}), namespace=place.namespace)
    with pytest.raises(ConflictError):
        secrets.create(body=pull_secret("s"), namespace=place.namespace)
    patched = secrets.patch(
        name="s",
        namespace=place.namespace,
        body={"metadata": {"annotations": {"n": "1"}, "resourceVersion": made.metadata.resourceVersion}},
        content_type="application/merge-patch+json",
    )
    body = patched.to_dict()
    body["metadata"]["labels"] = {"a": "c"}
    secrets.replace(body=body, namespace=place.namespace)
    with pytest.raises(ConflictError):
        secrets.replace(body=body, namespace=place.namespace)
    listed = secrets.get(namespace=place.namespace, label_selector="a=c").items
    assert [item.metadata.annotations.n for item in listed] == ["1"]
    assert (listed[0].kind, listed[0].apiVersion) == ("Secret", "v1")
    secrets.delete(name="s", namespace=place.namespace, body={"preconditions": {"uid": made.metadata.uid}})
    with pytest.raises(NotFoundError):
        secrets.get(name="s", namespace=place.namespace)


def test_the_dynamic_client_of_a_user_without_rights(
    server: KubernetesEnv, tmp_path: Path, place: Place
) -> None:
    if not server.viewer_token:
        pytest.skip("K8S_CONTRACT_VIEWER_TOKEN is not set")
    path = server.kubeconfig(tmp_path / "viewer", token=server.viewer_token)
    client = DynamicClient(kubernetes.config.new_client_from_config(str(path)))
    secrets = client.resources.get(api_version="v1", kind="Secret")
    with pytest.raises(ForbiddenError):
        secrets.get(name="s", namespace=place.namespace)


def test_core_v1_api_works_too(admin: Client, place: Place) -> None:
    core: Any = kubernetes.client.CoreV1Api(admin.api())
    core.create_namespaced_secret(place.namespace, pull_secret("s"))
    assert core.read_namespaced_secret("s", place.namespace).type == "kubernetes.io/dockerconfigjson"
    assert [s.metadata.name for s in core.list_namespaced_secret(place.namespace).items] == ["s"]
    core.delete_namespaced_secret("s", place.namespace)
    with pytest.raises(ApiException) as caught:
        core.read_namespaced_secret("s", place.namespace)
    assert caught.value.status == 404


def test_many_writers_at_once(admin: Client, place: Place) -> None:
    expected = [f"s{number:03}" for number in range(100)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: place.made(secret(name)), expected))
    assert names(admin.get(place.secrets).ok()) == expected


def test_a_refusal_leaves_the_connection_usable(server: KubernetesEnv, place: Place) -> None:
    client = Client(server, server.token)
    for dummy in range(3):
        client.post(place.secrets, "{no json").refused(400, "BadRequest")
        client.get(place.at("none")).refused(404, "NotFound")
    # urllib3 opens a connection only if it has no free one.
    pool = client._pool.connection_from_url(server.url)
    assert pool.num_connections == 1
