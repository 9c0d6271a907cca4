# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter's playbooks, as users and the event source start them: options, the log, the run's directory."""

from __future__ import annotations

import fcntl
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.adapter.world import FAST, TRACE, World
from tests.support.processes import Ansible, Finished

PLAYBOOK, SWEEP = "hyperfleet.pull_secret.adapter", "hyperfleet.pull_secret.reconcile"


def play(
    world: World, ansible: Ansible, playbook: str = PLAYBOOK, *, check: bool = False, **variables: Any
) -> Finished:
    given = {"adapter_config": str(world.config()), "adapter_retry": FAST["retry"], **variables}
    return ansible.playbook(playbook, given, flags=["--check"] * check)


def lines(finished: Finished) -> list[dict[str, Any]]:
    """The entries of the structured log in the output."""
    return [json.loads(line) for line in finished.stdout.splitlines() if line.startswith('{"timestamp"')]


def result_of(finished: Finished) -> dict[str, Any]:
    (result,) = finished.of("hyperfleet_adapter")
    return result


@pytest.mark.cores
def test_a_batch_leaves_its_log_and_its_result(world: World, ansible: Ansible, tmp_path: Path) -> None:
    ready, unmet = world.cluster(), world.cluster(ready=False)
    run = tmp_path / "run"
    run.mkdir()
    (run / "lock").touch()
    finished = play(
        world,
        ansible,
        cluster_ids=[ready, unmet, ready, "cls-nowhere"],
        adapter_run=str(run),
        adapter_traceparents={ready: TRACE},
    )
    assert finished.code == 0, finished.output
    result = result_of(finished)
    assert result["changed"] is True
    assert result["summary"]["states"] == {"created": 1, "unmet": 1}
    assert [entry["id"] for entry in result["clusters"]] == [ready, unmet, "cls-nowhere"]
    document = json.loads((run / "result.json").read_text())
    assert document["version"] == 1
    assert document["started"] <= document["ended"]
    assert [(entry["id"], entry["outcome"], entry["state"]) for entry in document["clusters"]] == [
        (ready, "reported", "created"),
        (unmet, "reported", "unmet"),
        ("cls-nowhere", "gone", None),
    ]
    assert document["clusters"][0]["again"] == 2.0
    assert document["clusters"][0]["traceparent"] == TRACE
    assert sorted(os.listdir(run)) == ["lock", "result.json"]
    told = lines(finished)
    assert {entry["cluster_id"] for entry in told} == {ready, unmet, "cls-nowhere"}
    assert {entry["component"] for entry in told} == {"pullsecret-adapter"}
    for entry in told:
        assert {"timestamp", "level", "phase", "operation", "message"} <= set(entry)
    (last,) = [e for e in told if e["cluster_id"] == ready and e["operation"] == "report-status"]
    assert last["trace_id"] == "a" * 32
    assert last["duration_ms"] >= 0


@pytest.mark.nightly
def test_events_say_which_clusters_are_meant(world: World, ansible: Ansible) -> None:
    cluster = world.cluster(ready=False)
    finished = play(world, ansible, events=[{"id": cluster, "traceparent": TRACE, "generation": 1}])
    assert finished.code == 0, finished.output
    assert world.status(cluster)["metadata"]["traceparent"] == TRACE


@pytest.mark.nightly
def test_a_cluster_that_cannot_be_reported_fails_the_run_at_its_end(
    world: World, ansible: Ansible, tmp_path: Path
) -> None:
    good, bad = world.cluster(ready=False), world.cluster(ready=False)
    world.hyperfleet.faults.add(method="PUT", path=f"*/{bad}/statuses", status=500)
    (tmp_path / "lock").touch()
    finished = play(world, ansible, cluster_ids=[good, bad], adapter_run=str(tmp_path))
    assert finished.code == 2, finished.output
    assert world.said(good) == "FFTF PreconditionsNotMet"
    assert [task.status for task in finished.tasks[-2:]] == ["ok", "failed"]
    assert f"1 of 2 clusters failed: {bad}: status not reported" in str(finished.result["msg"])
    document = json.loads((tmp_path / "result.json").read_text())
    assert [entry["outcome"] for entry in document["clusters"]] == ["reported", "failed"]


@pytest.mark.nightly
def test_another_runs_directory_is_left_alone(world: World, ansible: Ansible, tmp_path: Path) -> None:
    cluster = world.cluster()
    with open(tmp_path / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        finished = play(world, ansible, cluster_ids=[cluster], adapter_run=str(tmp_path))
    assert finished.code == 2
    assert "is in use by another run" in str(finished.result["msg"])
    assert world.jobs() == []
    assert not (tmp_path / "result.json").exists()


@pytest.mark.nightly
def test_a_wrong_configuration_is_reported_with_its_path(world: World, ansible: Ansible) -> None:
    world.spec = {"exekution": "inline"}
    finished = play(world, ansible, cluster_ids=["cls-1"])
    assert finished.code == 2
    assert "spec.exekution" in str(finished.result["msg"])
    assert finished.result["kind"] == "configuration"


@pytest.mark.nightly
def test_overrides_replace_what_the_configuration_says(world: World, ansible: Ansible) -> None:
    cluster = world.cluster()
    finished = play(world, ansible, cluster_ids=[cluster], adapter_overrides={"execution": "inline"})
    assert finished.code == 0, finished.output
    assert world.said(cluster) == "TTTF PullSecretStored"


@pytest.mark.cores
def test_check_mode_reports_and_writes_nothing(world: World, ansible: Ansible) -> None:
    cluster = world.cluster()
    finished = play(world, ansible, cluster_ids=[cluster], check=True)
    assert finished.code == 0, finished.output
    (entry,) = result_of(finished)["clusters"]
    assert f"created job pullsecret-{cluster}-gen1" in entry["actions"]
    assert [condition["type"] for condition in entry["conditions"]] == [
        "Applied",
        "Available",
        "Health",
        "Finalized",
    ]
    assert result_of(finished)["changed"] is True
    assert world.jobs() == []
    assert world.reports(cluster) == []
    assert [line["message"] for line in lines(finished)] == [
        f"check mode: created secret cluster-{cluster}-pullsecret-data",
        f"check mode: created job pullsecret-{cluster}-gen1",
        f"check mode: JobCreated: job pullsecret-{cluster}-gen1 was created for generation 1",
    ]


@pytest.mark.parametrize("empty", ["", []])
@pytest.mark.nightly
def test_a_batch_that_names_no_clusters_by_mistake_is_no_success(
    world: World, ansible: Ansible, empty: object
) -> None:
    finished = play(world, ansible, cluster_ids=empty)
    assert finished.code == 2
    assert finished.result["msg"] == "cluster_ids or events is required, to name the clusters"


def test_the_sweep_by_its_playbook(world: World, ansible: Ansible) -> None:
    clusters = [world.cluster(ready=False) for _number in range(60)]
    finished = play(world, ansible, SWEEP)
    assert finished.code == 0, finished.output
    result = result_of(finished)
    assert result["summary"]["total"] == len(clusters)
    assert result["clusters"] == [], "the clusters must be in the log only"
    assert len({entry["cluster_id"] for entry in lines(finished)}) == len(clusters)
    assert re.search(r"localhost .* changed=0 .* failed=0", finished.stdout)


@pytest.mark.nightly
def test_the_module_in_a_process_of_its_own_does_the_same(
    world: World, ansible: Ansible, tmp_path: Path
) -> None:
    """With an environment the task runs the module in its own process."""
    cluster = world.cluster()
    (tmp_path / "lock").touch()
    arguments = {
        "config": str(world.config()),
        "cluster_ids": [cluster],
        "run_directory": str(tmp_path),
        "retry": FAST["retry"],
    }
    task = {"hyperfleet.pull_secret.hyperfleet_adapter": arguments, "environment": {"SOME": "thing"}}
    finished = ansible.playbook([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}])
    assert finished.code == 0, finished.output
    assert world.jobs() == [f"pullsecret-{cluster}-gen1"]
    document = json.loads((tmp_path / "result.json").read_text())
    assert [entry["state"] for entry in document["clusters"]] == ["created"]
    assert {entry["cluster_id"] for entry in lines(finished)} == {cluster}
    assert not {"entries", "log"} & set(finished.result)
