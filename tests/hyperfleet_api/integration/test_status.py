# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``hyperfleet_status``: what it sends, how the API answers, and what the result contains."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hyperfleet_status as task
from tests.hyperfleet_api.integration.support import conditions, run
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.hyperfleet.times import format_time, system_clock
from tests.support.processes import Ansible

STATUSES = "/api/hyperfleet/v1/clusters/*/statuses"


def target(result: dict[str, Any]) -> dict[str, Any]:
    assert len(result["targets"]) == 1, result
    return dict(result["targets"][0])


@pytest.fixture
def one(hyperfleet: HyperFleetLab) -> HyperFleetLab:
    hyperfleet.store.seed([{"id": "cls-1", "generation": 3}])
    return hyperfleet


def test_a_report_is_sent_for_the_generation_that_the_cluster_has(one: HyperFleetLab) -> None:
    params = {"cluster_id": "cls-1", "conditions": conditions(), "data": {"secret_version": "3"}}
    entry = target(run(task, one, params))
    assert entry["place"] == "clusters/cls-1/statuses/pullsecret"
    assert (entry["changed"], entry["accepted"], entry["generation"]) == (True, True, 3)
    assert entry["actions"] == ["reported"]
    held = one.store.statuses("cls-1")[0]
    assert (held.generation, held.data) == (3, {"secret_version": "3"})


def test_the_same_again_is_reported_and_no_change(one: HyperFleetLab) -> None:
    params = {"cluster_id": "cls-1", "conditions": conditions(), "metadata": {"attempt": 1}}
    first = target(run(task, one, params))
    again = target(run(task, one, params))
    assert (again["changed"], again["accepted"]) == (False, True)
    assert again["observed_time"] > first["observed_time"]
    assert one.calls.count("PUT", STATUSES) == 2


def test_another_status_is_a_change_and_its_diff_says_which(one: HyperFleetLab) -> None:
    run(task, one, {"cluster_id": "cls-1", "conditions": conditions(Available="False")})
    result = run(task, one, {"cluster_id": "cls-1", "conditions": conditions()}, diff=True)
    assert target(result)["actions"] == ["updated"]
    assert "Available: False Tested: said" in result["diff"][0]["before"]
    assert "Available: True Tested: said" in result["diff"][0]["after"]


def test_a_report_comes_after_the_one_that_the_api_holds(one: HyperFleetLab) -> None:
    """Another machine wrote the stored report, and its clock is ahead."""
    ahead = system_clock() + timedelta(seconds=200)
    body = {"adapter": "pullsecret", "observed_generation": 3, "observed_time": format_time(ahead)}
    body["conditions"] = conditions(Available="False")
    assert one.ask("PUT", "/clusters/cls-1/statuses", body)[0] == 201
    entry = target(run(task, one, {"cluster_id": "cls-1", "conditions": conditions()}))
    assert (entry["accepted"], entry["actions"]) == (True, ["updated"])


def test_check_mode_sends_nothing(one: HyperFleetLab) -> None:
    result = run(task, one, {"cluster_id": "cls-1", "conditions": conditions()}, check_mode=True, diff=True)
    assert (target(result)["changed"], target(result)["accepted"]) == (True, None)
    assert one.calls.count("PUT") == 0


def test_a_discarded_report_is_a_warning_and_no_change(one: HyperFleetLab) -> None:
    params = {"cluster_id": "cls-1", "conditions": conditions()}
    run(task, one, params)
    entry = target(run(task, one, {**params, "conditions": conditions(Available="Unknown")}))
    assert (entry["changed"], entry["accepted"], entry["actions"]) == (False, False, [])
    assert "discarded the report (HTTP 204)" in entry["warnings"][0]
    assert not target(run(task, one, {**params, "generation": 9}))["accepted"], "a generation of the future"


def test_a_cluster_that_is_gone_is_no_failure_unless_it_is_to_be(one: HyperFleetLab) -> None:
    params = {"cluster_id": "cls-9", "conditions": conditions()}
    result = run(task, one, params)
    assert "failed" not in result
    entry = target(result)
    assert (entry["gone"], entry["accepted"], entry["changed"]) == (True, False, False)
    result = run(task, one, {**params, "when_gone": "fail"})
    assert result["failed_targets"][0]["kind"] == "not_found"
    assert "gone" in target(run(task, one, {**params, "generation": 1}))


def test_many_clusters_are_read_in_few_requests_and_each_has_its_own_result(one: HyperFleetLab) -> None:
    ids = one.store.seed({"id": f"cls-{number}", "generation": number % 5 + 1} for number in range(100, 250))
    one.faults.add(method="PUT", path="/api/hyperfleet/v1/clusters/cls-111/statuses", status=400)
    result = run(
        task, one, {"conditions": conditions(), "targets": [{"cluster_id": cluster_id} for cluster_id in ids]}
    )
    assert [failure["id"] for failure in result["failed_targets"]] == ["cls-111"]
    assert result["failed_targets"][0]["kind"] == "request_refused"
    assert result["summary"] == {"total": 150, "changed": 149, "failed": 1}
    assert {one.store.statuses(name)[0].generation for name in ids if name != "cls-111"} == {1, 2, 3, 4, 5}
    assert one.calls.count("GET", "/api/hyperfleet/v1/clusters") == 2
    assert one.calls.count("GET", "/api/hyperfleet/v1/clusters/cls-???") == 0


def test_trouble_is_retried_and_counted(one: HyperFleetLab) -> None:
    one.faults.add(method="PUT", status=503, times=2)
    entry = target(run(task, one, {"cluster_id": "cls-1", "conditions": conditions()}))
    assert (entry["accepted"], entry["retries"]) == (True, 2)


def test_an_api_that_does_not_answer_fails_each_cluster(one: HyperFleetLab) -> None:
    one.store.seed([{"id": "cls-2"}])
    one.faults.add(drop=True)
    targets = [{"cluster_id": "cls-1"}, {"cluster_id": "cls-2"}]
    result = run(task, one, {"conditions": conditions(), "targets": targets})
    assert [failure["kind"] for failure in result["failed_targets"]] == ["unavailable"] * 2
    assert one.calls.count() == 5, "one search with all its tries"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"cluster_id": None}, "cluster_id is missing"),
        ({"cluster_id": "../x"}, "cluster_id"),
        ({"adapter": "a b"}, "adapter must be at most 128 letters"),
        ({"generation": 0}, "generation must be a number from 1"),
        (
            {"conditions": conditions()[1:]},
            "conditions must have Available, Applied, Health; missing: Applied",
        ),
        ({"conditions": [*conditions(), conditions()[0]]}, "Applied is given twice"),
        (
            {"conditions": [{"type": "A b", "status": "True", "reason": "x"}]},
            "conditions[0].type must be a word",
        ),
        (
            {"conditions": [{"type": "A", "status": "True", "reason": "no word"}]},
            "conditions[0].reason must be a word",
        ),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_sent(
    one: HyperFleetLab, wrong: dict[str, Any], words: str
) -> None:
    result = run(task, one, {"cluster_id": "cls-1", "conditions": conditions(), **wrong})
    assert result["failed_targets"][0]["kind"] == "configuration"
    assert words in result["msg"]
    assert one.calls.count() == 0


def test_two_reports_of_one_adapter_on_one_cluster_are_refused(one: HyperFleetLab) -> None:
    targets = [{"id": "a", "cluster_id": "cls-1"}, {"id": "b", "cluster_id": "cls-1"}]
    with pytest.raises(ConfigurationError, match="1 and 2 are both clusters/cls-1/statuses/pullsecret"):
        run(task, one, {"conditions": conditions(), "targets": targets})


def test_reports_to_the_contract_form() -> None:
    with HyperFleetLab(flavour="seed") as lab:
        lab.store.seed([{"id": "cls-1", "generation": 2}])
        params = {"cluster_id": "cls-1", "conditions": conditions(), "data": {"version": "1"}}
        assert target(run(task, lab, params))["actions"] == ["reported"]
        assert not target(run(task, lab, params))["changed"]
        assert target(run(task, lab, {**params, "data": {"version": "2"}}))["actions"] == ["updated"]
        assert lab.store.statuses("cls-1")[0].generation == 2


@pytest.mark.cores
def test_the_module_in_a_playbook(one: HyperFleetLab, ansible: Ansible) -> None:
    one.store.seed([{"id": "cls-2"}])
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "module_defaults": {"group/hyperfleet.pull_secret.pull_secret": {"hyperfleet": {"url": one.url}}},
        "tasks": [
            {
                "hyperfleet.pull_secret.hyperfleet_status": {
                    # YAML reads True without quotes as a boolean.
                    "conditions": [{**given, "status": given["status"] == "True"} for given in conditions()],
                    "targets": [{"cluster_id": "cls-1"}, {"cluster_id": "cls-2", "data": {"a": "b"}}],
                }
            },
            {"hyperfleet.pull_secret.hyperfleet_cluster_info": {"cluster_ids": ["cls-1", "cls-2", "cls-3"]}},
            {
                "hyperfleet.pull_secret.hyperfleet_cluster_info": {},
                # With an environment the module runs in its own process.
                "environment": {"SOME": "thing"},
            },
        ],
    }
    finished = ansible.playbook([play])
    assert finished.code == 0, finished.output
    assert finished.of("hyperfleet_status")[0]["summary"] == {"total": 2, "changed": 2, "failed": 0}
    by_id, every = finished.of("hyperfleet_cluster_info")
    assert by_id["missing"] == ["cls-3"]
    assert by_id["clusters"] == every["clusters"]
    assert by_id["clusters"][1]["statuses"]["pullsecret"]["data"] == {"a": "b"}
