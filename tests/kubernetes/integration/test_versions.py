# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A Secret names the version of Secret Manager that it holds, and is never overwritten with an older one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import gcp_pull_secret
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.provision import (
    gcp_targets,
    kubernetes_targets,
)
from tests.kubernetes.integration.conftest import Run
from tests.kubernetes.integration.test_secret import NAME, ONE, TWO, desired
from tests.stand_ins.secret_manager.lab import SecretManagerLab
from tests.stand_ins.secret_manager.protos import DESTROYED, DISABLED
from tests.support.docker_configs import KEY, docker_config, encoded, held
from tests.support.kubernetes.running import run_task
from tests.support.kubernetes.world import Api

PROJECT, SECRET = "customer-prod-12345", "hyperfleet-cls-123-pull-secret"
PATH = f"projects/{PROJECT}/secrets/{SECRET}"
ANNOTATION = "hyperfleet.io/gcp-secret-version"


@pytest.fixture
def manager(secret_manager: SecretManagerLab) -> SecretManagerLab:
    """A secret with the versions 1 and 2."""
    _seed(secret_manager, ONE, TWO)
    return secret_manager


def _seed(manager: SecretManagerLab, *configs: Any) -> None:
    versions = [{"data": json.dumps(config)} for config in configs]
    manager.seed([{"project": PROJECT, "secret": SECRET, "versions": versions}])


def _set_state(manager: SecretManagerLab, number: int, state: int) -> None:
    record = manager.store.find(PROJECT, SECRET)
    assert record is not None
    manager.store.set_version_state(record, record.versions[number - 1], state)


def _from(manager: SecretManagerLab, namespace: str, version: str, **more: Any) -> dict[str, Any]:
    reference = {"project": PROJECT, "secret": SECRET, "version": version}
    gcp = {"endpoint": manager.rest, "transport": "rest"}
    return desired(namespace, source={"gcp": reference}, gcp=gcp, **more)


def _says(api: Api, namespace: str) -> Any:
    secret = api.secret(namespace, NAME)
    assert secret is not None
    return secret["metadata"]["annotations"].get(ANNOTATION)


@pytest.mark.parametrize(("version", "number"), [("1", 1), ("2", 2), ("latest", 2)])
def test_the_version_is_named_by_its_number(
    api: Api, namespace: str, run: Run, manager: SecretManagerLab, version: str, number: int
) -> None:
    (target,) = run(**_from(manager, namespace, version))["targets"]
    assert target["version"] == str(number)
    assert _says(api, namespace) == f"{PATH}/versions/{number}"
    (again,) = run(**_from(manager, namespace, version))["targets"]
    assert (again["changed"], again["version"], again["warnings"]) == (False, str(number), [])


@pytest.mark.parametrize("check_mode", [True, False], ids=["check", "run"])
def test_an_older_version_does_not_replace_a_newer_one(
    api: Api, namespace: str, run: Run, manager: SecretManagerLab, check_mode: bool
) -> None:
    run(**_from(manager, namespace, "2"))
    before = api.secret(namespace, NAME)
    (target,) = run(**_from(manager, namespace, "1"), check_mode=check_mode, diff=True)["targets"]
    assert (target["changed"], target["actions"], target["version"]) == (False, [], "2")
    assert target["warnings"] == [
        (
            f"the Kubernetes Secret keeps version 2 of {PATH}, which is newer than version 1 of this run; "
            "disable version 2 if it is not wanted"
        )
    ]
    assert api.secret(namespace, NAME) == before


def test_drift_of_a_newer_version_is_repaired_with_it(
    api: Api, namespace: str, run: Run, manager: SecretManagerLab
) -> None:
    run(**_from(manager, namespace, "2"))
    drift = {KEY: encoded(json.dumps(docker_config(quay_io="drift")))}
    api.merge(namespace, "secrets", NAME, {"data": drift})
    (target,) = run(**_from(manager, namespace, "1"))["targets"]
    assert (target["actions"], target["version"], len(target["warnings"])) == (["updated"], "2", 1)
    assert held(api.secret(namespace, NAME)) == TWO


@pytest.mark.parametrize("state", [DISABLED, DESTROYED], ids=["disabled", "destroyed"])
def test_a_run_whose_version_is_not_enabled_any_more_leaves_the_newer_one(
    api: Api, namespace: str, run: Run, manager: SecretManagerLab, state: int
) -> None:
    """A newer run's retention has disabled the version."""
    _set_state(manager, 1, state)
    (alone,) = run(**_from(manager, namespace, "1"))["targets"]
    assert (alone["failed"], alone["kind"]) == (True, "precondition")
    assert api.secret(namespace, NAME) is None
    run(**_from(manager, namespace, "2"))
    (target,) = run(**_from(manager, namespace, "1"))["targets"]
    assert (target["changed"], target["version"], len(target["warnings"])) == (False, "2", 1)
    assert held(api.secret(namespace, NAME)) == TWO


@pytest.mark.parametrize("immutable", [False, True], ids=["mutable", "immutable"])
@pytest.mark.parametrize("state", [DISABLED, DESTROYED, None], ids=["disabled", "destroyed", "gone"])
def test_a_newer_version_that_cannot_be_read_is_replaced(
    api: Api, namespace: str, run: Run, manager: SecretManagerLab, state: int | None, immutable: bool
) -> None:
    run(**_from(manager, namespace, "2", immutable=immutable))
    if state is None:
        # A new secret starts with version 1.
        manager.store.delete(PROJECT, SECRET)
        _seed(manager, ONE)
    else:
        _set_state(manager, 2, state)
    (target,) = run(**_from(manager, namespace, "1"))["targets"]
    assert (target["version"], target["warnings"]) == ("1", [])
    assert target["actions"] == ["replaced" if immutable else "updated"]
    assert held(api.secret(namespace, NAME)) == ONE
    assert _says(api, namespace) == f"{PATH}/versions/1"


def test_a_newer_version_that_is_enabled_and_not_answered_fails_the_target(
    api: Api, namespace: str, run: Run, manager: SecretManagerLab
) -> None:
    """For example its KMS key is disabled: it is unknown whether the older version is right."""
    run(**_from(manager, namespace, "2"))
    manager.faults.add("AccessSecretVersion", "*/versions/2", code="FAILED_PRECONDITION", message="KMS")
    (target,) = run(**_from(manager, namespace, "1"))["targets"]
    assert (target["failed"], target["kind"]) == (True, "precondition")
    assert held(api.secret(namespace, NAME)) == TWO


@pytest.mark.parametrize("immutable", [False, True], ids=["mutable", "immutable"])
def test_another_source_takes_the_version_away(
    api: Api, namespace: str, run: Run, manager: SecretManagerLab, immutable: bool
) -> None:
    """Otherwise the Secret would name a version that it does not hold."""
    run(**_from(manager, namespace, "2", immutable=immutable))
    other = docker_config(quay_io="other")
    (check,) = run(**desired(namespace, other, gcp_secret_path=PATH), check_mode=True)["targets"]
    assert check["changed"]
    (target,) = run(**desired(namespace, other))["targets"]
    assert "version" not in target
    assert _says(api, namespace) is None
    assert held(api.secret(namespace, NAME)) == other
    assert run(**desired(namespace, other))["changed"] is False


def test_the_same_number_of_another_secret_is_another_version(
    api: Api, namespace: str, run: Run, manager: SecretManagerLab
) -> None:
    run(**_from(manager, namespace, "2"))
    manager.seed([{"project": PROJECT, "secret": "other", "versions": [{"data": json.dumps(ONE)}]}])
    params = _from(manager, namespace, "1")
    params["source"]["gcp"]["secret"] = "other"
    assert run(**params)["targets"][0]["actions"] == ["updated", "annotations updated"]
    assert _says(api, namespace) == f"projects/{PROJECT}/secrets/other/versions/1"


def test_what_is_dropped_is_dropped_of_the_version_that_stays(
    api: Api, namespace: str, run: Run, secret_manager: SecretManagerLab
) -> None:
    two = docker_config(quay_io="two", example_com="two")
    _seed(secret_manager, docker_config(quay_io="one", example_com="one"), two)
    run(**_from(secret_manager, namespace, "2"))
    (target,) = run(**_from(secret_manager, namespace, "1", drop=["example.com"]))["targets"]
    assert (target["version"], target["registries"]) == ("2", {"quay.io": "gcp"})
    assert held(api.secret(namespace, NAME)) == TWO


def test_of_the_version_that_stays_the_warnings_are_reported(
    api: Api, namespace: str, run: Run, secret_manager: SecretManagerLab
) -> None:
    """``strict`` is about the version that the task names."""
    doubtful = {"auths": {"quay.io": {"auth": encoded("user:")}}}
    _seed(secret_manager, ONE, doubtful)
    run(**_from(secret_manager, namespace, "2"))
    (target,) = run(**_from(secret_manager, namespace, "1", strict=True))["targets"]
    assert not target.get("failed"), target
    assert target["version"] == "2"
    assert [warning for warning in target["warnings"] if "[empty-password]" in warning]
    (target,) = run(**_from(secret_manager, namespace, "2", strict=True))["targets"]
    assert (target["failed"], target["kind"]) == (True, "invalid_document")


@pytest.mark.parametrize("text", ["never", f"{PATH}/versions/latest", f"{PATH}/versions/999"])
def test_an_annotation_that_is_wrong_is_corrected(
    api: Api, namespace: str, run: Run, manager: SecretManagerLab, text: str
) -> None:
    run(**_from(manager, namespace, "2"))
    api.merge(namespace, "secrets", NAME, {"metadata": {"annotations": {ANNOTATION: text}}})
    assert run(**_from(manager, namespace, "2"))["targets"][0]["actions"] == ["annotations updated"]
    assert _says(api, namespace) == f"{PATH}/versions/2"


_RELABELLED = {"metadata": {"labels": {"cluster-name": "wrong"}, "annotations": {ANNOTATION: None}}}


@pytest.mark.parametrize(
    ("change", "key", "reads", "actions"),
    [
        pytest.param({}, "one", 0, [], id="nothing to do"),
        pytest.param(_RELABELLED, "one", 0, ["labels updated"], id="metadata"),
        pytest.param({"data": {KEY: encoded(json.dumps(TWO))}}, "one", 1, ["updated"], id="content"),
        pytest.param({"data": {KEY: encoded(json.dumps(ONE, indent=1))}}, "one", 1, [], id="other bytes"),
        pytest.param(None, "one", 1, ["created"], id="missing"),
        pytest.param({}, "two", 1, [], id="another key"),
        pytest.param({}, "", 1, [], id="no digest"),
    ],
)
def test_the_second_step_reads_the_version_only_for_another_digest(
    *,
    api: Api,
    namespace: str,
    run: Run,
    secret_manager: Any,
    change: Any,
    key: str,
    reads: int,
    actions: Any,
) -> None:
    """``key`` is the first step's in the second run; without one, its result has no digest."""
    cluster = {**desired(""), "gcp_project_id": PROJECT, "management_namespace": namespace}
    del cluster["namespace"]
    gcp = {"endpoint": secret_manager.rest, "transport": "rest"}

    def provision(key: str) -> Any:
        params = {"targets": gcp_targets([cluster]), "gcp": gcp, "digest_key": key or "one"}
        stored = run_task(gcp_pull_secret, params)
        if not key:
            del stored["targets"][0]["digest"]
        return run(targets=kubernetes_targets([cluster], stored), gcp=gcp, digest_key="one")["targets"][0]

    first = provision("one")
    if change is None:
        api.delete(namespace, "secrets", NAME)
    else:
        api.merge(namespace, "secrets", NAME, change)
    secret_manager.calls.clear()
    second = provision(key)
    # The first step reads the newest version, and finds that there is no newer one.
    assert secret_manager.calls.count("AccessSecretVersion") == 2 + reads
    assert (second["actions"], second["warnings"], second["registries"]) == (actions, [], {"quay.io": "gcp"})
    assert (second["version"], second["digest"]) == (first["version"], first["digest"])
    assert (held(api.secret(namespace, NAME)), _says(api, namespace)) == (ONE, f"{PATH}/versions/1")
