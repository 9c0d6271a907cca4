# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Several targets and several API servers: one LIST for all, contexts, kubeconfigs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    k8s_pull_secret,
)
from tests.kubernetes.integration.conftest import Run
from tests.kubernetes.integration.test_secret import ONE, TWO
from tests.lab.session import STAND_IN
from tests.stand_ins.kubeconfig import write_kubeconfig
from tests.support.docker_configs import held
from tests.support.kubernetes.running import api_server, run_task
from tests.support.kubernetes.world import Api

IDS = [f"cls-{number}" for number in range(1, 6)]
TARGETS: list[dict[str, Any]] = [{"cluster_id": name} for name in IDS]


@pytest.fixture
def other() -> Iterator[Api]:
    """A second API server, always the stand-in."""
    with api_server(STAND_IN) as api:
        yield api


def test_one_list_for_many_targets(api: Api, namespace: str, run: Run) -> None:
    first = run(namespace=namespace, source={"inline": ONE}, targets=TARGETS)
    assert first["summary"] == {"total": 5, "changed": 5, "failed": 0}
    # A Secret that is not in the LIST is created without another read.
    assert api.calls.count("get") == 0
    assert api.calls.count("create") == 5
    api.calls.clear()
    again = run(namespace=namespace, source={"inline": ONE}, targets=TARGETS)
    assert again["summary"] == {"total": 5, "changed": 0, "failed": 0}
    assert {call.verb for call in api.calls.matching()} == {"list"}
    (call, *pages) = api.calls.matching()
    assert "labelSelector=managed-by%3Dhyperfleet" in call.query
    assert all("continue=" in page.query for page in pages), "only further pages of the same list"


def test_two_targets_are_read_one_by_one(api: Api, namespace: str, run: Run) -> None:
    run(namespace=namespace, source={"inline": ONE}, targets=TARGETS[:2])
    assert (api.calls.count("list"), api.calls.count("get")) == (0, 2)


def test_without_the_right_to_list_each_is_read(api: Api, namespace: str, run: Run) -> None:
    run(namespace=namespace, source={"inline": ONE}, targets=TARGETS)
    api.calls.clear()
    api.faults.add(verb="list", status=403, times=None)
    result = run(namespace=namespace, source={"inline": ONE}, targets=TARGETS)
    assert result["summary"] == {"total": 5, "changed": 0, "failed": 0}
    assert (api.calls.count("list"), api.calls.count("get")) == (1, 5)


def test_a_role_in_one_namespace_is_enough(api: Api, namespace: str, run: Run) -> None:
    """The user may not LIST in all namespaces: real RBAC, or a fault in the stand-in, which has no RBAC."""
    token = api.token
    if api.real:
        token = api.viewer_token
        group = "/apis/rbac.authorization.k8s.io/v1/namespaces/" + namespace
        rule = {"apiGroups": [""], "resources": ["secrets"]}
        verbs = ["get", "list", "create", "patch", "delete"]
        api.post(f"{group}/roles", {"metadata": {"name": "puller"}, "rules": [{**rule, "verbs": verbs}]})
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "puller"}
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "viewer"}
        body = {"metadata": {"name": "puller"}, "roleRef": reference, "subjects": [subject]}
        api.post(f"{group}/rolebindings", body)
        api.wait_allowed(token, f"/api/v1/namespaces/{namespace}/secrets")
    else:
        api.faults.add(verb="list", path="/api/v1/secrets", status=403, times=None)
    for expected in (5, 0):
        result = run(
            namespace=namespace,
            source={"inline": ONE},
            targets=TARGETS,
            kubernetes={"host": api.url, "api_key": token},
        )
        assert result["summary"] == {"total": 5, "changed": expected, "failed": 0}
    assert [call.status for call in api.calls.matching("list")] == [403, 403]


def test_a_foreign_secret_among_many_is_seen_though_the_list_does_not_show_it(
    api: Api, namespace: str, run: Run
) -> None:
    api.create(namespace, "secrets", {"metadata": {"name": "cls-3-pull-secret"}})
    for state in ("present", "absent"):
        for check_mode in (True, False):
            result = run(
                namespace=namespace,
                source={"inline": ONE},
                targets=TARGETS,
                state=state,
                check_mode=check_mode,
            )
            assert [(entry["id"], entry["kind"]) for entry in result["failed_targets"]] == [
                ("cls-3", "ownership")
            ]


def test_what_the_list_showed_is_outdated(api: Api, namespace: str, run: Run) -> None:
    run(namespace=namespace, source={"inline": ONE}, targets=TARGETS)
    name = "cls-2-pull-secret"
    api.before(
        "patch",
        f"*/secrets/{name}",
        lambda: api.merge(namespace, "secrets", name, {"metadata": {"labels": {"team": "late"}}}),
    )
    result = run(namespace=namespace, source={"inline": TWO}, targets=TARGETS)
    assert result["summary"] == {"total": 5, "changed": 5, "failed": 0}
    secret = api.secret(namespace, name)
    assert held(secret) == TWO
    assert secret["metadata"]["labels"]["team"] == "late"
    assert [call.status for call in api.calls.matching("patch", f"*/{name}")] == [409, 200]


def test_several_contexts_of_one_kubeconfig(api: Api, other: Api, namespace: str, tmp_path: Path) -> None:
    other.namespace(namespace)
    config = write_kubeconfig(tmp_path / "config", [api.cluster("mgmt-1"), other.cluster("mgmt-2")])
    params = {
        "namespace": namespace,
        "kubernetes": {"kubeconfig": str(config)},
        "targets": [
            {"cluster_id": "cls-1", "source": {"inline": ONE}},
            {"cluster_id": "cls-2", "source": {"inline": TWO}, "context": "mgmt-2"},
            {"cluster_id": "cls-3", "source": {"inline": TWO}, "context": "mgmt-9"},
        ],
    }
    result = run_task(k8s_pull_secret, params)
    places = [entry["place"] for entry in result["targets"]]
    assert places[:2] == [
        f"namespaces/{namespace}/secrets/cls-1-pull-secret",
        f"mgmt-2:namespaces/{namespace}/secrets/cls-2-pull-secret",
    ]
    (failure,) = result["failed_targets"]
    assert (failure["id"], failure["kind"]) == ("cls-3", "configuration")
    assert "mgmt-9" in failure["msg"]
    assert held(api.secret(namespace, "cls-1-pull-secret")) == ONE
    assert held(other.secret(namespace, "cls-2-pull-secret")) == TWO
    assert api.secret(namespace, "cls-2-pull-secret") is None
    assert other.secret(namespace, "cls-1-pull-secret") is None


def test_a_kubeconfig_for_each_target(api: Api, other: Api, namespace: str, tmp_path: Path) -> None:
    other.namespace(namespace)
    second = other.kubeconfig(tmp_path / "second")
    params = {
        "namespace": namespace,
        "source": {"inline": ONE},
        # The connection of the task is not the connection of this target.
        "kubernetes": {"host": api.url, "api_key": api.token},
        "targets": [{"cluster_id": "cls-1"}, {"cluster_id": "cls-2", "kubeconfig": str(second)}],
    }
    result = run_task(k8s_pull_secret, params)
    assert "failed" not in result
    assert held(api.secret(namespace, "cls-1-pull-secret")) == ONE
    assert held(other.secret(namespace, "cls-2-pull-secret")) == ONE
    assert api.secret(namespace, "cls-2-pull-secret") is None


def test_one_server_that_is_down_fails_its_own_targets(
    api: Api, other: Api, namespace: str, tmp_path: Path
) -> None:
    other.faults.add(status=503, times=None)
    config = write_kubeconfig(tmp_path / "config", [api.cluster("mgmt-1"), other.cluster("mgmt-2")])
    targets = [
        {"cluster_id": name, "context": f"mgmt-{1 + index % 2}"}
        for index, name in enumerate([*IDS, "cls-6", "cls-7", "cls-8"])
    ]
    result = run_task(
        k8s_pull_secret,
        {
            "namespace": namespace,
            "source": {"inline": ONE},
            "kubernetes": {"kubeconfig": str(config)},
            "targets": targets,
        },
    )
    assert result["summary"] == {"total": 8, "changed": 4, "failed": 4}
    assert all(failure["place"].startswith("mgmt-2:") for failure in result["failed_targets"])


def test_the_environment_names_the_kubeconfig(
    api: Api, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig(tmp_path / "config")))
    result = run_task(
        k8s_pull_secret, {"cluster_id": "cls-1", "namespace": namespace, "source": {"inline": ONE}}
    )
    assert result["changed"] is True
    assert held(api.secret(namespace, "cls-1-pull-secret")) == ONE


@pytest.mark.parametrize("content", ["", "{", "apiVersion: v1\nkind: Config\n"])
def test_an_unusable_kubeconfig_is_a_failure_of_the_target(
    api: Api, namespace: str, tmp_path: Path, content: str
) -> None:
    path = tmp_path / "config"
    path.write_text(content)
    params = {
        "cluster_id": "cls-1",
        "namespace": namespace,
        "source": {"inline": ONE},
        "kubernetes": {"kubeconfig": str(path)},
    }
    result = run_task(k8s_pull_secret, params)
    assert result["failed_targets"][0]["kind"] == "configuration"
    assert "kubeconfig" in result["msg"]


def test_duplicate_ids_are_refused_before_any_call(api: Api, namespace: str, run: Run) -> None:
    with pytest.raises(Exception, match="targets 1 and 3 have the same id cls-1"):
        run(namespace=namespace, source={"inline": ONE}, targets=[*TARGETS[:2], dict(TARGETS[0])])
    assert len(api.calls) == 0
