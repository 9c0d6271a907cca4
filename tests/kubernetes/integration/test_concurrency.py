# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Several runs at the same time: each change is made once, and none is lost."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    k8s_pull_secret,
)
from tests.kubernetes.integration.conftest import Run
from tests.kubernetes.integration.test_secret import NAME, ONE, TWO, desired
from tests.support.docker_configs import docker_config, held
from tests.support.kubernetes.running import run_task
from tests.support.kubernetes.world import Api


def test_two_runs_create_the_same_secret(api: Api, namespace: str, run: Run) -> None:
    """The other run's POST arrives just before this one's."""
    api.before("create", f"*/{namespace}/secrets", lambda: run(**desired(namespace)))
    result = run(**desired(namespace))
    assert "failed" not in result
    assert result["changed"] is False, "the other run created it"
    assert held(api.secret(namespace, NAME)) == ONE
    assert [call.status for call in api.calls.matching("create")] == [201, 409]


def test_the_last_of_two_different_runs_wins_whole(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace))
    three = docker_config(quay_io="three")
    api.before("patch", f"*/secrets/{NAME}", lambda: run(**desired(namespace, three, labels={"team": "a"})))
    result = run(**desired(namespace, TWO))
    assert result["targets"][0]["actions"] == ["updated"]
    secret = api.secret(namespace, NAME)
    assert held(secret) == TWO
    assert secret["metadata"]["labels"]["team"] == "a"


def test_a_secret_deleted_between_look_and_write_is_created(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace))
    api.before("patch", f"*/secrets/{NAME}", lambda: api.delete(namespace, "secrets", NAME))
    result = run(**desired(namespace, TWO))
    assert result["targets"][0]["actions"] == ["created"]
    assert held(api.secret(namespace, NAME)) == TWO


def test_many_runs_over_many_targets(api: Api, namespace: str) -> None:
    targets = [{"cluster_id": f"cls-{number}"} for number in range(20)]
    params = {
        "namespace": namespace,
        "source": {"inline": ONE},
        "targets": targets,
        "kubernetes": {"host": api.url, "api_key": api.token},
    }
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _number: run_task(k8s_pull_secret, params), range(4)))
    assert all("failed" not in result for result in results)
    made = [target["id"] for result in results for target in result["targets"] if target["changed"]]
    assert sorted(made) == sorted(target["cluster_id"] for target in targets), "each Secret is created once"
    versions = {
        name["cluster_id"]: api.secret(namespace, f"{name['cluster_id']}-pull-secret") for name in targets
    }
    assert all(held(secret) == ONE for secret in versions.values())
    assert len([call for call in api.calls.matching("create") if call.status == 201]) == 20
    assert api.calls.count("patch") == 0
