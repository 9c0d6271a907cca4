# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sources of the docker config: Secret Manager, another Secret, several layers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.kubernetes.integration.conftest import Run
from tests.kubernetes.integration.test_secret import NAME, ONE, TWO, desired
from tests.stand_ins.secret_manager.lab import SecretManagerLab
from tests.support.docker_configs import KEY, TYPE, docker_config, encoded, held
from tests.support.kubernetes.world import Api

PROJECT, SECRET = "customer-prod-12345", "hyperfleet-cls-123-pull-secret"
THREE = docker_config(quay_io="three")


@pytest.fixture
def manager() -> Iterator[SecretManagerLab]:
    """A secret with the versions 1, 2 and 3. Version 3 is disabled."""
    with SecretManagerLab() as lab:
        versions: list[dict[str, Any]] = [{"data": json.dumps(config)} for config in (ONE, TWO, THREE)]
        versions[2]["state"] = "DISABLED"
        lab.seed([{"project": PROJECT, "secret": SECRET, "versions": versions}])
        yield lab


@pytest.mark.parametrize("transport", ["grpc", "rest"])
@pytest.mark.parametrize(
    ("version", "config"), [(None, TWO), ("latest", TWO), ("1", ONE)], ids=["default", "latest", "pinned"]
)
def test_secret_manager(
    api: Api,
    namespace: str,
    run: Run,
    manager: SecretManagerLab,
    version: str | None,
    config: Any,
    transport: str,
) -> None:
    reference = {"project": PROJECT, "secret": SECRET} | ({"version": version} if version else {})
    endpoint = manager.grpc if transport == "grpc" else manager.rest
    gcp = {"endpoint": f"http://{endpoint.removeprefix('http://')}", "transport": transport}
    params = desired(namespace, gcp=gcp, source={"gcp": reference})
    result = run(**params)
    secret = api.secret(namespace, NAME)
    assert held(secret) == config
    assert result["targets"][0]["registries"] == {"quay.io": "gcp"}
    path = f"projects/{PROJECT}/secrets/{SECRET}/versions/latest"
    assert secret["metadata"]["annotations"]["hyperfleet.io/gcp-secret-path"] == path
    assert run(**params)["changed"] is False


@pytest.mark.parametrize(
    ("reference", "kind", "word"),
    [
        ({"secret": "absent"}, "not_found", "absent"),
        ({"version": "9"}, "not_found", "versions/9"),
        ({"version": "3"}, None, "DISABLED"),
    ],
)
def test_a_version_that_cannot_be_read(
    api: Api,
    namespace: str,
    run: Run,
    manager: SecretManagerLab,
    reference: dict[str, str],
    kind: str | None,
    word: str,
) -> None:
    source = {"gcp": {"project": PROJECT, "secret": SECRET, **reference}}
    result = run(**desired(namespace, source=source, gcp={"endpoint": f"http://{manager.grpc}"}))
    (failure,) = result["failed_targets"]
    assert kind in (None, failure["kind"])
    assert word.lower() in failure["msg"].lower()
    assert api.writes() == []


def test_another_secret(api: Api, namespace: str, run: Run) -> None:
    api.create(
        namespace,
        "secrets",
        {
            "metadata": {"name": "from"},
            "data": {KEY: encoded(json.dumps(ONE)), "other": encoded(json.dumps(TWO))},
        },
    )
    place = {"namespace": namespace, "name": "from"}
    run(**desired(namespace, source={"kubernetes": place}))
    assert held(api.secret(namespace, NAME)) == ONE
    run(**desired(namespace, source={"kubernetes": {**place, "key": "other"}}))
    assert held(api.secret(namespace, NAME)) == TWO
    legacy = {".dockercfg": encoded(json.dumps(THREE["auths"]))}
    api.put_secret(namespace, "legacy", legacy, "kubernetes.io/dockercfg")
    run(**desired(namespace, source={"kubernetes": {**place, "name": "legacy"}}))
    assert held(api.secret(namespace, NAME)) == THREE
    local = {"localhost": next(iter(ONE["auths"].values()))}
    api.put_secret(namespace, "local", {".dockercfg": encoded(json.dumps(local))}, "kubernetes.io/dockercfg")
    run(**desired(namespace, source={"kubernetes": {**place, "name": "local"}}))
    assert held(api.secret(namespace, NAME)) == {"auths": local}


@pytest.mark.parametrize(
    ("place", "word"),
    [({"name": "absent"}, "does not exist"), ({"name": "from", "key": "absent"}, "no key absent")],
)
def test_another_secret_that_is_not_there(
    api: Api, namespace: str, run: Run, place: dict[str, str], word: str
) -> None:
    api.create(namespace, "secrets", {"metadata": {"name": "from"}})
    result = run(**desired(namespace, source={"kubernetes": {"namespace": namespace, **place}}))
    assert result["failed_targets"][0]["kind"] == "not_found"
    assert word in result["msg"]
    assert api.writes() == []


def test_layers_are_merged(api: Api, namespace: str, run: Run) -> None:
    api.create(
        namespace,
        "secrets",
        {
            "metadata": {"name": "team"},
            "type": TYPE,
            "data": {KEY: encoded(json.dumps(docker_config(quay_io="team", team_example_com="team")))},
        },
    )
    platform = docker_config(quay_io="platform", cloud_openshift_com="platform")
    layers: list[dict[str, Any]] = [
        {"name": "platform", "source": {"inline": platform}},
        {"name": "team", "source": {"kubernetes": {"namespace": namespace, "name": "team"}}},
    ]
    params: dict[str, Any] = {"cluster_id": "cls-123", "namespace": namespace, "layers": layers}
    result = run(**params)
    (target,) = result["targets"]
    assert target["registries"] == {
        "quay.io": "team",
        "cloud.openshift.com": "platform",
        "team.example.com": "team",
    }
    assert [conflict["registry"] for conflict in target["conflicts"]] == ["quay.io"]
    merged = docker_config(quay_io="team", cloud_openshift_com="platform", team_example_com="team")
    assert held(api.secret(namespace, NAME)) == merged
    assert run(**params)["changed"] is False
    other = run(**params, policy={"quay.io": "platform"})
    assert other["targets"][0]["registries"]["quay.io"] == "platform"
    assert other["targets"][0]["actions"] == ["updated"]
