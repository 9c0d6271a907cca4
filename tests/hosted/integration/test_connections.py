# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Connections to the hosted cluster: a kubeconfig in a Secret, one in a file, or a context."""

from __future__ import annotations

import base64
import copy
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.embedded import (
    parse_embedded,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hosted_cluster_pull_secret
from tests.hosted.integration.world import OURS, World
from tests.stand_ins.kubeconfig import write_kubeconfig
from tests.stand_ins.kubernetes.hypershift import BASE
from tests.stand_ins.metadata_server import ADDRESS, metadata_server
from tests.support.docker_configs import docker_config, encoded
from tests.support.kubernetes.running import run_task
from tests.support.login import TlsFront
from tests.support.yaml_bombs import MERGES

_WRITING = os.O_WRONLY | os.O_RDWR
_watching: list[list[str]] = []


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    """Record paths that are opened for writing. An audit hook cannot be removed, so it checks a list."""
    if event == "open" and _watching and isinstance(arguments[2], int) and arguments[2] & _WRITING:
        _watching[-1].append(str(arguments[0]))


sys.addaudithook(_hook)


@pytest.fixture
def written() -> Iterator[list[str]]:
    """The files that were opened for writing during the test."""
    paths: list[str] = []
    _watching.append(paths)
    yield paths
    _watching.pop()


@pytest.fixture
def wanted(world: World) -> World:
    world.additional(docker_config(registry_example_com="tenant"))
    return world


@pytest.mark.parametrize(("said", "verify"), [(True, False), ("false", True), ("true", True), (None, True)])
def test_only_a_boolean_turns_the_check_of_certificates_off(said: object, verify: bool) -> None:
    cluster = {"server": "https://127.0.0.1:1", "insecure-skip-tls-verify": said}
    document = {
        "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "example-token"}}],
    }
    assert parse_embedded(json.dumps(document).encode(), "cls-1", "a secret").verify is verify


def test_a_clusters_connections_end_with_it(world: World) -> None:
    """One process handles thousands of hosted clusters and may have a limit of a thousand open files."""
    count, held = 12, []
    for number in range(count):
        data = {"kubeconfig": encoded(json.dumps(world.kubeconfig))}
        world.management.create(
            world.control_plane,
            "secrets",
            {"metadata": {"name": f"admin-{number}"}, "type": "Opaque", "data": data},
        )
    world.hosted.before(
        "get", "*/additional-pull-secret", lambda: held.append(len(os.listdir("/proc/self/fd"))), times=count
    )
    targets = [
        {
            **world.options(),
            "cluster_id": f"{world.id}-{number}",
            "hosted_kubeconfig_secret": {"name": f"admin-{number}"},
        }
        for number in range(count)
    ]
    params = {**world.connection(), "targets": targets, "concurrency": 1}
    result = run_task(hosted_cluster_pull_secret, params)
    assert not result.get("failed"), result["msg"]
    assert len(held) == count
    # The client's, the proxy's and the server's sockets are all in this process.
    assert max(held) - min(held) < count


def test_the_kubeconfig_of_the_control_plane_is_written_to_no_file(wanted: World, written: list[str]) -> None:
    wanted.kubeconfig["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = True
    wanted.put_kubeconfig(wanted.kubeconfig)
    assert not wanted.run().get("failed")
    assert wanted.there() == {*OURS, "leases"}
    assert [path for path in written if not path.startswith("/dev/")] == []


def test_a_file_and_a_context(wanted: World, tmp_path: Path) -> None:
    path = write_kubeconfig(
        tmp_path / "hosted", [wanted.hosted.cluster("other", "no-token"), wanted.hosted.cluster("hosted")]
    )
    # The context of the task does not exist in this file.
    connection = {"kubeconfig": str(wanted.management.kubeconfig(tmp_path / "mgmt")), "context": "mgmt-1"}
    options: dict[str, Any] = {"kubernetes": connection, "hosted_kubeconfig": str(path)}
    assert wanted.run(**options)["kind"] == "permission_denied"
    assert not wanted.run(**options, hosted_context="hosted").get("failed")
    assert wanted.there() == {*OURS, "leases"}


def test_two_contexts_of_one_kubeconfig(wanted: World, tmp_path: Path) -> None:
    clusters = [wanted.management.cluster("mgmt"), wanted.hosted.cluster("hosted")]
    path = write_kubeconfig(tmp_path / "both", clusters)
    result = wanted.run(
        kubernetes={"kubeconfig": str(path)}, management_context="mgmt", hosted_context="hosted"
    )
    assert not result.get("failed"), result
    assert result["place"].startswith("hosted:namespaces/")


def test_secrets_that_are_named_need_no_hosted_control_plane(wanted: World) -> None:
    wanted.management.request("DELETE", wanted.plane)
    assert wanted.run()["kind"] == "not_found"
    result = wanted.run(
        control_plane_namespace=None,
        original={"namespace": wanted.control_plane, "name": "pull-secret"},
        hosted_kubeconfig_secret={"namespace": wanted.control_plane, "name": "admin-kubeconfig"},
    )
    assert not result.get("failed"), result


def test_of_several_control_planes_one_has_to_be_named(wanted: World) -> None:
    plane = {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedControlPlane",
        "metadata": {"name": "another"},
        "spec": {"pullSecret": {"name": "other"}},
    }
    wanted.management.post(f"{BASE}/namespaces/{wanted.control_plane}/hostedcontrolplanes", plane)
    result = wanted.run()
    assert (result["kind"], wanted.there()) == ("configuration", set())
    assert "hosted_control_plane" in result["msg"]
    assert not wanted.run(hosted_control_plane=wanted.id).get("failed")
    # This control plane is not ready yet.
    assert wanted.run(hosted_control_plane="another")["kind"] == "dependency"


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "exec": ("users", {"exec": {"command": "/bin/sh", "apiVersion": "client.authentication.k8s.io/v1"}}),
    "auth-provider": ("users", {"auth-provider": {"name": "oidc"}, "token": "t"}),
    "tokenFile": ("users", {"tokenFile": "/etc/hostname"}),
    "client-key": ("users", {"client-certificate-data": "YQ==", "client-key": "/etc/hostname"}),
    "certificate-authority": (
        "clusters",
        {"server": "https://h:1", "certificate-authority": "/etc/hostname"},
    ),
    "neither a token": ("users", {"username": "user", "password": "example-password"}),
    "line break": ("users", {"token": "example-password\nX: y"}),
    "not base64": ("users", {"client-certificate-data": "example-password", "client-key-data": "?"}),
    "has no server": ("clusters", {}),
    "cannot be used": (
        "users",
        {
            "client-certificate-data": encoded("example-password"),
            "client-key-data": encoded("example-password"),
        },
    ),
}


@pytest.mark.parametrize(("what", "field", "entry"), [(k, *v) for k, v in REFUSED.items()], ids=REFUSED)
def test_a_kubeconfig_of_a_secret_may_not_do_more_than_log_in(
    wanted: World, what: str, field: str, entry: dict[str, Any]
) -> None:
    document = copy.deepcopy(wanted.kubeconfig)
    document[field][0][field[:-1]] = entry
    if what == "cannot be used":
        # The port is closed. Without TLS the certificate is not read.
        document["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    wanted.put_kubeconfig(document)
    result = wanted.run()
    assert result["kind"] == "configuration", result
    assert what in result["msg"]
    assert "secrets/admin-kubeconfig" in result["msg"]
    assert "example-password" not in json.dumps(result)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "null",
        "{}",
        "a: &a [*a]",
        '{"contexts":[{"name":"hosted"}]}',
        MERGES,
    ],
)
def test_an_invalid_kubeconfig(wanted: World, text: str) -> None:
    wanted.put_kubeconfig(text)
    assert wanted.run()["kind"] == "configuration"


ASTRAY: dict[str, tuple[list[str], dict[str, str]]] = {
    "a name": ([ADDRESS], {"server": "http://api.example:{port}"}),
    "a name, TLS": ([ADDRESS], {"server": "https://api.example:{port}"}),
    "a name that leads elsewhere the second time": (
        ["127.0.0.1", ADDRESS],
        {"server": "http://api.example:{port}"},
    ),
    "a proxy": ([ADDRESS], {"server": "http://127.0.0.1:9", "proxy-url": "http://api.example:{port}"}),
    "a proxy, TLS": ([ADDRESS], {"server": "https://127.0.0.1:9", "proxy-url": "http://api.example:{port}"}),
    "beyond a proxy": ([ADDRESS], {"server": "http://api.example:{port}", "proxy-url": "http://127.0.0.1:9"}),
}


@pytest.mark.parametrize("what", ASTRAY)
def test_nothing_is_sent_to_where_clouds_keep_credentials_of_machines(
    wanted: World, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, cluster = ASTRAY[what]
    with metadata_server(monkeypatch, api_example=found) as (metadata, received):
        entry = {name: text.format(port=metadata.port) for name, text in cluster.items()}
        wanted.kubeconfig["clusters"][0]["cluster"] = {**entry, "insecure-skip-tls-verify": True}
        wanted.put_kubeconfig(wanted.kubeconfig)
        # The first of the two addresses is closed.
        result = wanted.run(retry={"tries": 2, "delay": 0.01})
    assert result["kind"] == "configuration", result
    assert "kubeconfig leads to an address that is not allowed: a link-local address" in result["msg"]
    assert b"".join(received) == b""


def test_tls_is_checked_against_the_kubeconfigs_own_authority(
    wanted: World, written: list[str], tmp_path: Path
) -> None:
    front = TlsFront(wanted.hosted.url.removeprefix("http://"), tmp_path)
    try:
        authority = base64.b64encode(front.authority.read_bytes()).decode()
        cluster = {"server": front.url, "certificate-authority-data": authority}
        wanted.kubeconfig["clusters"][0]["cluster"] = cluster
        del written[:]

        def run() -> dict[str, Any]:
            wanted.put_kubeconfig(wanted.kubeconfig)
            return wanted.run()

        assert not run().get("failed")
        assert wanted.there() == {*OURS, "leases"}
        cluster["tls-server-name"] = "another.example.com"
        assert run()["failed"]
        del cluster["certificate-authority-data"], cluster["tls-server-name"]
        result = run()
        assert (result["kind"], "is not trusted" in result["msg"]) == ("configuration", True)
        wanted.kubeconfig["clusters"][0]["cluster"] = {**cluster, "insecure-skip-tls-verify": True}
        assert not run().get("failed")
        assert [path for path in written if not path.startswith("/dev/")] == []
    finally:
        front.stop()
