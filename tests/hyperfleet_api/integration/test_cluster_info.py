# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``hyperfleet_cluster_info``: which clusters it returns, how many requests it needs, and what it omits."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    PullSecretError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    hyperfleet_cluster_info as task,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hyperfleet_status
from tests.hyperfleet_api.integration.support import conditions, run
from tests.stand_ins.hyperfleet import HyperFleetLab

CLUSTERS = "/api/hyperfleet/v1/clusters"
PASSWORD = "example-password-one"
AUTH = base64.b64encode(f"example-user:{PASSWORD}".encode()).decode()
OTHER = base64.b64encode(b"example-user:example-password-two").decode()
DOCUMENT = json.dumps({"auths": {"quay.io": {"auth": AUTH}}})


def report(lab: HyperFleetLab, cluster_id: str, adapter: str = "placement", **params: Any) -> None:
    result = run(
        hyperfleet_status,
        lab,
        {"cluster_id": cluster_id, "adapter": adapter, "conditions": conditions(), **params},
    )
    assert "failed" not in result, result


def test_a_cluster_and_what_its_adapters_say(hyperfleet: HyperFleetLab) -> None:
    hyperfleet.store.seed([{"id": "cls-1", "name": "one", "labels": {"env": "test"}, "generation": 2}])
    report(hyperfleet, "cls-1", data={"namespace": "clusters-cls-1", "managementCluster": "m-1"})
    report(hyperfleet, "cls-1", adapter="dns", generation=1)
    (cluster,) = run(task, hyperfleet, {"cluster_ids": ["cls-1"]})["clusters"]
    assert (cluster["id"], cluster["name"], cluster["generation"]) == ("cls-1", "one", 2)
    assert (cluster["labels"], cluster["deleted"]) == ({"env": "test"}, False)
    assert cluster["conditions"]["Reconciled"]["status"] == "False"
    placement = cluster["statuses"]["placement"]
    assert placement["data"] == {"namespace": "clusters-cls-1", "managementCluster": "m-1"}
    assert placement["conditions"]["Available"] == {"status": "True", "reason": "Tested", "message": "said"}
    assert (placement["current"], cluster["statuses"]["dns"]["current"]) == (True, False)


def test_no_form_of_the_pull_secret_is_returned(hyperfleet: HyperFleetLab) -> None:
    spec = {
        "provider": "gcp",
        "gcp": {"projectId": "customer-prod-12345"},
        "pullSecret": {"data": DOCUMENT, "note": "kept"},
        "pull_secret": {"data": json.loads(DOCUMENT)},
        "copy": base64.b64encode(DOCUMENT.encode()).decode(),
        "other": {"auths": {"registry.example.com": {"auth": OTHER}}},
        "nested": {"list": [DOCUMENT, {"auths": {"quay.io": {"auth": AUTH}}}]},
    }
    hyperfleet.store.seed([{"id": "cls-1", "spec": spec, "labels": {"a": PASSWORD}}])
    said = [{**kind, "text": f"login with {PASSWORD} failed"} for kind in conditions()]
    report(hyperfleet, "cls-1", conditions=said, data={"used": AUTH})
    (cluster,) = run(task, hyperfleet, {"cluster_ids": ["cls-1"]})["clusters"]
    shown = json.dumps(cluster)
    for form in (PASSWORD, AUTH, OTHER, base64.b64encode(DOCUMENT.encode()).decode()):
        assert form not in shown
    assert cluster["spec"]["gcp"] == {"projectId": "customer-prod-12345"}
    assert cluster["spec"]["pullSecret"] == {"note": "kept"}


def test_many_are_read_a_hundred_at_a_time(hyperfleet: HyperFleetLab) -> None:
    ids = hyperfleet.store.seed({"id": f"cls-{number}"} for number in range(150))
    result = run(task, hyperfleet, {"cluster_ids": [*ids, "cls-999", ids[0]], "statuses": False})
    assert [cluster["id"] for cluster in result["clusters"]] == ids
    assert result["missing"] == ["cls-999"]
    assert hyperfleet.calls.count() == 3, "two searches, and one request for the missing cluster"


def test_statuses_take_one_request_a_cluster(hyperfleet: HyperFleetLab) -> None:
    ids = hyperfleet.store.seed({"id": f"cls-{number}"} for number in range(30))
    result = run(task, hyperfleet, {"cluster_ids": ids})
    assert len(result["clusters"]) == 30
    assert hyperfleet.calls.count() == 31


def test_all_of_them_and_those_of_a_search(hyperfleet: HyperFleetLab) -> None:
    hyperfleet.store.seed([{"id": "a", "labels": {"env": "test"}}, {"id": "b"}])
    assert [one["id"] for one in run(task, hyperfleet, {})["clusters"]] == ["a", "b"]
    found = run(task, hyperfleet, {"search": "labels.env = 'test'"})
    assert [one["id"] for one in found["clusters"]] == ["a"]
    assert run(task, hyperfleet, {"cluster_ids": []})["clusters"] == []


def test_an_older_api_and_one_without_search_are_read_as_well(hyperfleet: HyperFleetLab) -> None:
    ids = hyperfleet.store.seed({"id": f"cls-{number}"} for number in range(5))
    hyperfleet.faults.add(path=CLUSTERS, status=400)
    result = run(task, hyperfleet, {"cluster_ids": ids, "statuses": False})
    assert [cluster["id"] for cluster in result["clusters"]] == ids


def test_a_deleted_cluster_is_marked_as_deleted(hyperfleet: HyperFleetLab) -> None:
    hyperfleet.store.seed([{"id": "cls-1"}])
    hyperfleet.store.delete("cls-1")
    (cluster,) = run(task, hyperfleet, {"cluster_ids": ["cls-1"]})["clusters"]
    assert (cluster["deleted"], cluster["generation"]) == (True, 2)
    assert cluster["deleted_time"]


def test_an_unreadable_cluster_does_not_affect_the_others(hyperfleet: HyperFleetLab) -> None:
    hyperfleet.store.seed([{"id": "a"}, {"id": "b"}])
    hyperfleet.faults.add(path=f"{CLUSTERS}/a/statuses", status=500)
    result = run(task, hyperfleet, {"cluster_ids": ["a", "b"]})
    assert result["failed"]
    assert [(one["id"], one["kind"]) for one in result["failed_clusters"]] == [("a", "unavailable")]
    assert "statuses of cluster a" in result["msg"]
    assert [one["id"] for one in result["clusters"]] == ["b"]


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"cluster_ids": ["a"], "search": "id = 'a'"}, "cannot be combined"),
        ({"cluster_ids": ["a'"]}, "cluster_id"),
        ({"hyperfleet": {"url": "x"}}, "hyperfleet.url"),
        ({"search": "no search"}, "HYPERFLEET-VAL-005"),
    ],
)
def test_what_is_wrong_is_named(hyperfleet: HyperFleetLab, params: dict[str, Any], words: str) -> None:
    with pytest.raises(PullSecretError, match=words) as caught:
        run(task, hyperfleet, params)
    assert isinstance(caught.value, ConfigurationError) or "search" in params


def test_the_contract_form_has_statuses_on_the_cluster() -> None:
    with HyperFleetLab(flavour="seed") as lab:
        lab.store.seed([{"id": "a"}, {"id": "b"}])
        report(lab, "a", data={"namespace": "n"})
        lab.calls.clear()
        result = run(task, lab, {"cluster_ids": ["a", "b"]})
        placement = result["clusters"][0]["statuses"]["placement"]
        assert (placement["current"], placement["data"]) == (True, {"namespace": "n"})
        assert lab.calls.count() == 1


@pytest.mark.parametrize("name", ["a\0b", "x" * 100_000, 'a"b', "a\nb", f"Bearer {AUTH}", {"auth": AUTH}, 7])
def test_an_invalid_name_is_not_printed(hyperfleet: HyperFleetLab, name: Any) -> None:
    hyperfleet.store.seed([{"id": "cls-1"}])
    hyperfleet.store._clusters["cls-1"].name = name
    (cluster,) = run(task, hyperfleet, {"cluster_ids": ["cls-1"]})["clusters"]
    assert cluster["name"] == ("(not shown)" if isinstance(name, str) else None)


@pytest.mark.parametrize("cluster_id", ["a\0b", "x" * 100_000, "../clusters", "", "a b", "é"])
@pytest.mark.parametrize("others", [[], ["cls-1", "cls-2"]])
def test_an_invalid_id_is_refused_with_a_message(
    hyperfleet: HyperFleetLab, cluster_id: str, others: list[str]
) -> None:
    with pytest.raises(ConfigurationError, match="cluster_id must be at most 128 letters, digits") as refused:
        run(task, hyperfleet, {"cluster_ids": [*others, cluster_id]})
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize("search", ["a\0b", "x" * 100_000, "a = '\n'"])
def test_an_invalid_search_is_refused_with_a_message(hyperfleet: HyperFleetLab, search: str) -> None:
    with pytest.raises(ConfigurationError, match="search must be at most 4000 printable characters"):
        run(task, hyperfleet, {"search": search})
    assert hyperfleet.calls.count() == 0


def test_an_invalid_id_from_the_api_does_not_affect_other_clusters(hyperfleet: HyperFleetLab) -> None:
    hyperfleet.store.seed([{"id": "cls-1"}, {"id": "a b\0"}])
    result = run(task, hyperfleet, {})
    assert [cluster["id"] for cluster in result["clusters"]] == ["cls-1"]
    (failed,) = result["failed_clusters"]
    assert (failed["id"], failed["kind"]) == ("(not shown)", "unavailable")


def test_answers_and_requests_have_a_size(hyperfleet: HyperFleetLab) -> None:
    hyperfleet.store.seed([{"id": "cls-1", "spec": {"x": "x" * (5 << 20)}}, {"id": "cls-2"}])
    result = run(task, hyperfleet, {"cluster_ids": ["cls-1"]})
    assert "cluster cls-1 at http://" in result["msg"]
    assert "the answer has more than 4 MiB" in result["msg"]
    result = run(
        hyperfleet_status,
        hyperfleet,
        {"cluster_id": "cls-2", "conditions": conditions(), "data": {"x": "x" * (2 << 20)}},
    )
    assert "report on cluster cls-2 must be at most 1 MiB, not 20" in result["msg"]
    assert hyperfleet.calls.count("PUT") == 0
