# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sweep: all clusters of the API, and what is left of clusters that no longer exist."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hyperfleet_adapter
from tests.adapter.world import TWO, World
from tests.support.nightly import some
from tests.support.secret_manager import PROJECT


def test_all_clusters_page_by_page(world: World) -> None:
    clusters = [world.cluster(ready=False) for _number in range(230)]
    handled = world.handle(all=True)
    assert sorted(one.cluster_id for one in handled) == sorted(clusters)
    assert {one.entry()["state"] for one in handled} == {"unmet"}
    assert world.hyperfleet.calls.count("GET", "*/clusters") == 3


def test_what_is_left_of_a_cluster_that_is_gone_is_removed(world: World) -> None:
    lost, kept = world.cluster(), world.cluster()
    world.handle(lost, kept)
    assert len(world.jobs()) == 2
    cluster = world.read(kept)
    world.hyperfleet.store.reset()
    world.hyperfleet.store.seed([{"id": kept, "spec": cluster["spec"]}])
    checked = {one.cluster_id: one for one in world.handle(all=True, check_mode=True)}
    assert checked[lost].actions
    assert len(world.jobs()) == 2
    handled = {one.cluster_id: one for one in world.handle(all=True)}
    assert (handled[lost].outcome, handled[kept].outcome) == ("gone", "reported")
    assert world.jobs() == [f"pullsecret-{kept}-gen1"]
    assert world.data_secrets() == [f"cluster-{kept}-pullsecret-data"]


def test_what_the_api_does_not_answer_for_stays(world: World) -> None:
    """The adapter removes secrets only if the API says that the cluster does not exist."""
    lost, kept = world.cluster(), world.cluster()
    world.one(lost)
    forget(world, kept)
    world.hyperfleet.faults.add(method="GET", path=f"*/clusters/{lost}", status=500)
    handled = {one.cluster_id: one for one in world.handle(all=True)}
    assert handled[lost].outcome == "failed"
    assert f"pullsecret-{lost}-gen1" in world.jobs()


def test_an_api_that_lists_nothing_may_be_another_one(world: World) -> None:
    """A wrong address, or a missing tenant header, must not delete the secrets of a fleet."""
    lost = world.cluster()
    world.one(lost)
    world.hyperfleet.store.reset()
    ran = world.ran(all=True)
    assert [problem.kind for problem in ran.problems] == ["unavailable"]
    assert (
        "the API lists no clusters, but Jobs or Secrets of 1 clusters exist; nothing was removed"
        in ran.result(None)["msg"]
    )
    assert len(world.jobs()) == 1


def forget(world: World, *kept: str) -> None:
    """Make the API lose all clusters but these."""
    specs = {one: world.read(one)["spec"] for one in kept}
    world.hyperfleet.store.reset()
    world.hyperfleet.store.seed([{"id": one, "spec": spec} for one, spec in specs.items()])


def many(world: World, number: int) -> list[str]:
    """Create this number of clusters, ordered by id, and a Job whose cluster does not exist."""
    world.one(world.cluster())
    world.hyperfleet.store.reset()
    return [
        str(one)
        for one in world.hyperfleet.store.seed(
            [{"id": f"cls-{index:04}"} for index in range(1000, 1000 + number)]
        )
    ]


@pytest.mark.parametrize(
    "fault",
    some(
        [
            {"status": 500},
            {"body": "<html>"},
            {"body": '{"items": 7}'},
            {"body": "[" * 100_000},
            {"drop": True},
        ]
    ),
    ids=lambda fault: next(iter(fault)),
)
def test_a_page_that_cannot_be_read_ends_nothing(world: World, fault: dict[str, Any]) -> None:
    clusters = many(world, 330)
    world.hyperfleet.faults.add(path="*/clusters", query="page=2&*", **fault)
    ran = world.ran(all=True)
    assert sorted(one.cluster_id for one in ran.results) == [*clusters[:100], *clusters[200:]]
    assert len(world.jobs()) == 1, "the API did not say that the cluster is gone"
    result = ran.result(None)
    assert result["failed"] is True
    assert result["summary"]["reported"] == 230
    (problem,) = result["problems"]
    assert problem["msg"].startswith("page 2 of the clusters was not read: ")
    assert "the sweep is incomplete: page 2 of the clusters was not read: " in result["msg"]
    (line,) = [entry for entry in world.log if entry["operation"] == "list-clusters"]
    assert (line["level"], line["message"]) == ("error", problem["msg"])


def test_the_first_page_cannot_be_read_and_the_others_can(world: World) -> None:
    clusters = many(world, 130)
    world.hyperfleet.faults.add(path="*/clusters", query="page=1&*", status=503)
    ran = world.ran(all=True)
    assert sorted(one.cluster_id for one in ran.results) == clusters[100:]
    assert len(ran.problems) == 1


def test_an_api_that_is_down_is_given_up(world: World) -> None:
    world.hyperfleet.faults.add(path="*/clusters", status=503)
    ran = world.ran(all=True)
    assert (ran.results, len(ran.problems)) == ([], 3)
    world.hyperfleet.faults.clear()
    world.hyperfleet.faults.add(path="*/clusters", status=403)
    ran = world.ran(all=True)
    assert [problem.kind for problem in ran.problems] == ["permission_denied"]


@pytest.mark.parametrize(
    "item",
    some(
        [None, 7, "cls-1", [], {}, {"id": 7}, {"id": ""}, {"id": "../../x"}, {"id": "a\nb"}],
        7,
        {"id": "../../x"},
    ),
    ids=repr,
)
def test_an_item_that_is_no_cluster_does_not_affect_others(
    world: World, monkeypatch: pytest.MonkeyPatch, item: Any
) -> None:
    clusters = many(world, 120)
    answer_with(world, monkeypatch, lambda items, total, _start: ([*items[:4], item, *items[5:]], total))
    ran = world.ran(all=True)
    assert len(ran.results) == len(clusters) - 2
    assert len(world.jobs()) == 1
    assert [problem.message.partition(" (")[0] for problem in ran.problems] == [
        "item 5 on page 1 of the clusters has no id",
        "item 5 on page 2 of the clusters has no id",
    ]


def answer_with(world: World, monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Change the lists that the API returns."""
    store = world.hyperfleet.store
    select = store.select

    def changed(wanted: Any, order: Any, start: int, size: int) -> Any:
        items, total = select(wanted, order, start, size)
        return (items, total) if wanted is not None else change(items, total, start)

    monkeypatch.setattr(store, "select", changed)


def test_a_page_that_is_given_twice_is_handled_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    clusters = many(world, 130)
    store = world.hyperfleet.store
    select = store.select
    monkeypatch.setattr(store, "select", lambda wanted, order, _start, size: select(wanted, order, 0, size))
    ran = world.ran(all=True)
    assert sorted(one.cluster_id for one in ran.results) == clusters[:100]
    assert [problem.message.partition(" (")[0] for problem in ran.problems] == [
        "the API reports 130 clusters but listed 100"
    ]
    assert len(world.jobs()) == 1


@pytest.mark.parametrize("total", some([10**9, None, "many", -5, True, 1.5]), ids=repr)
def test_a_total_that_cannot_be_ends(world: World, monkeypatch: pytest.MonkeyPatch, total: Any) -> None:
    clusters = many(world, 130)
    answer_with(world, monkeypatch, lambda items, _total, _start: (items, total))
    ran = world.ran(all=True)
    assert sorted({one.cluster_id for one in ran.results} & set(clusters)) == clusters
    assert len(ran.problems) == (total == 10**9)
    assert world.hyperfleet.calls.count("GET", "*/clusters") < 15


def test_a_cluster_that_is_deleted_while_pages_are_read_hides_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clusters behind it move to a page that was already read."""
    clusters = many(world, 230)
    monkeypatch.setattr(hyperfleet_adapter, "_CHUNK", 50)
    gone: list[str] = []

    def change(items: Any, total: int, start: int) -> Any:
        if start == 0 and not gone:
            gone.append(clusters[7])
            del world.hyperfleet.store._clusters[clusters[7]]
        return items, total

    answer_with(world, monkeypatch, change)
    ran = world.ran(all=True)
    assert ran.problems == ()
    listed = [one.cluster_id for one in ran.results if one.outcome == "reported"]
    assert sorted(listed) == sorted(set(clusters) - set(gone))


def test_a_cluster_that_is_created_while_pages_are_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    clusters = many(world, 230)
    made: list[str] = []

    def change(items: Any, total: int, start: int) -> Any:
        if start == 0 and not made:
            made.extend(world.hyperfleet.store.seed([{"id": "cls-1000-before-all"}]))
        return items, total

    answer_with(world, monkeypatch, change)
    ran = world.ran(all=True)
    assert ran.problems == ()
    assert sorted(one.cluster_id for one in ran.results if one.outcome == "reported") == sorted(
        clusters + made
    )


def lost_and_kept(world: World, *, finished: bool = True) -> tuple[str, str]:
    """A deleted cluster whose Job has filled both places, and a cluster that still exists."""
    lost, kept = world.cluster(), world.cluster()
    world.handle(lost, kept)
    job = f"pullsecret-{lost}-gen1"
    world.do_the_job(lost, job)
    if finished:
        world.one(lost)
    forget(world, kept)
    return lost, kept


def test_a_gone_clusters_places_are_emptied_as_its_job_names_them(world: World) -> None:
    lost, kept = lost_and_kept(world)
    world.manager.calls.clear()
    (checked,) = [one for one in world.handle(all=True, check_mode=True) if one.cluster_id == lost]
    assert len(checked.actions) == 3, checked.actions
    assert (world.versions(lost), len(world.jobs())) == (1, 2)
    handled = {one.cluster_id: one for one in world.handle(all=True)}
    assert (handled[lost].outcome, handled[lost].message) == ("gone", "")
    assert handled[lost].actions == (
        f"deleted namespaces/clusters-{lost}/secrets/{lost}-pull-secret",
        f"deleted projects/{PROJECT}/secrets/hyperfleet-{lost}-pull-secret",
        f"deleted job pullsecret-{lost}-gen1",
    )
    assert (world.versions(lost), placed(world, lost), world.jobs()) == (
        0,
        404,
        [f"pullsecret-{kept}-gen1"],
    )


@pytest.mark.parametrize(
    ("header", "is_tenants"),
    [
        ("X-Tenant", True),
        ("x-tenant-id", True),
        ("X-TENANT-NAME", True),
        ("X-HyperFleet-System", False),
        ("My-X-Tenant", False),
    ],
)
def test_with_a_tenants_header_a_sweep_removes_nothing(world: World, header: str, is_tenants: bool) -> None:
    """The API may hide other tenants' clusters, which are not gone."""
    lost, kept = lost_and_kept(world)
    ran = world.ran(all=True, overrides={"headers": {header: "example-tenant"}})
    assert (world.versions(lost), placed(world, lost)) == ((1, 200) if is_tenants else (0, 404))
    assert [one.outcome for one in ran.results if one.cluster_id == kept] == ["reported"]
    result = ran.result(None)
    assert "failed" not in result
    warnings = result.get("warnings", [])
    assert [text.partition(":")[0] for text in warnings] == [
        "the sweep removed nothing that deleted clusters left"
    ] * is_tenants
    lines = [entry for entry in world.log if entry["operation"] == "remove-leftovers"]
    assert [(line["level"], line["message"]) for line in lines] == [("warn", text) for text in warnings]
    assert "example-tenant" not in str([result, world.log])


def placed(world: World, cluster: str) -> int:
    return world.request("GET", f"/api/v1/namespaces/clusters-{cluster}/secrets/{cluster}-pull-secret")[0]


def test_the_deletion_policy_is_a_sweeps_as_well(world: World) -> None:
    lost, _kept = lost_and_kept(world)
    world.spec = {"deletion": {"store": "keep"}}
    handled = {one.cluster_id: one for one in world.handle(all=True)}
    assert (
        f"kept by policy: projects/{PROJECT}/secrets/hyperfleet-{lost}-pull-secret" in handled[lost].message
    )
    assert (world.versions(lost), placed(world, lost)) == (1, 404)


def test_a_place_that_refuses_keeps_the_job_that_names_it(world: World) -> None:
    """The next sweep needs the Job to continue."""
    lost, _kept = lost_and_kept(world)
    world.manager.faults.add(method="DeleteSecret", code="PERMISSION_DENIED")
    handled = {one.cluster_id: one for one in world.handle(all=True)}
    assert (handled[lost].outcome, handled[lost].kind) == ("failed", "permission_denied")
    assert f"projects/{PROJECT}/secrets/hyperfleet-{lost}-pull-secret" in handled[lost].message
    assert f"pullsecret-{lost}-gen1" in world.jobs()
    world.manager.faults.clear()
    handled = {one.cluster_id: one for one in world.handle(all=True)}
    assert handled[lost].outcome == "gone"
    assert (world.versions(lost), len(world.jobs())) == (0, 1)


def test_a_job_that_is_at_work_is_ended_before_its_places_are_emptied(world: World) -> None:
    lost, kept = world.cluster(), world.cluster()
    world.handle(lost, kept)
    job = f"pullsecret-{lost}-gen1"
    pod = world.playing.run(job)["metadata"]["name"]
    forget(world, kept)
    handled = {one.cluster_id: one for one in world.handle(all=True)}
    assert (handled[lost].outcome, handled[lost].kind) == ("failed", "conflict")
    assert f"pods/{pod}" in handled[lost].message
    found = world.playing.job(job)
    assert found is not None
    assert found["spec"]["suspend"] is True
    # The Job controller deletes the pods of a suspended Job.
    assert world.request("DELETE", f"/api/v1/namespaces/{world.home}/pods/{pod}")[0] == 200
    handled = {one.cluster_id: one for one in world.handle(all=True)}
    assert handled[lost].outcome == "gone"
    assert world.jobs() == [f"pullsecret-{kept}-gen1"]


def test_a_job_that_a_sweep_suspended_does_not_block_a_restored_cluster(world: World) -> None:
    """The API had lost the cluster, or the tenant header was wrong. Nothing else resumes the suspended Job."""
    lost, kept = world.cluster(), world.cluster()
    before = world.read(lost)
    world.handle(lost, kept)
    job = f"pullsecret-{lost}-gen1"
    pod = world.playing.run(job)["metadata"]["name"]
    forget(world, kept)
    handled = {one.cluster_id: one for one in world.handle(all=True)}
    assert handled[lost].kind == "conflict"
    world.hyperfleet.store.seed([{name: before[name] for name in ("id", "name", "spec")}])
    world.depend(lost)
    assert world.request("DELETE", f"/api/v1/namespaces/{world.home}/pods/{pod}")[0] == 200
    assert world.one(lost).entry()["reason"] == "EarlierJobEnding"
    world.playing.end_deleted()
    assert world.one(lost).job_created
    found = world.playing.job(job)
    assert found is not None
    assert found["spec"]["suspend"] is False


def test_what_was_made_before_a_last_job_is_the_sweeps(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster was deleted while another Job was created: only the Jobs name the places of its secrets."""
    cluster, kept = world.cluster(), world.cluster()
    world.handle(cluster, kept)
    world.do_the_job(cluster, f"pullsecret-{cluster}-gen1")
    world.one(cluster)
    world.edit(cluster, TWO)
    report = world.hyperfleet.store.report

    def goes(cluster_id: str, new: Any) -> Any:
        world.hyperfleet.store._clusters.pop(cluster, None)
        return report(cluster_id, new)

    monkeypatch.setattr(world.hyperfleet.store, "report", goes)
    handled = world.one(cluster)
    assert (handled.outcome, handled.job_created) == ("gone", True)
    found = world.playing.job(f"pullsecret-{cluster}-gen2")
    assert found is not None
    assert found["spec"]["suspend"] is True, "the Job must not create the secrets again"
    swept = {one.cluster_id: one for one in world.handle(all=True)}
    assert swept[cluster].outcome == "gone"
    assert (world.versions(cluster), placed(world, cluster)) == (0, 404)
    assert world.jobs() == [f"pullsecret-{kept}-gen1"]
    assert world.data_secrets() == [f"cluster-{kept}-pullsecret-data"]


def test_a_cluster_without_a_job_is_reported(world: World) -> None:
    lost, kept = world.cluster(), world.cluster()
    world.handle(lost, kept)
    path = f"/apis/batch/v1/namespaces/{world.home}/jobs/pullsecret-{lost}-gen1"
    assert world.request("DELETE", path)[0] == 200
    forget(world, kept)
    handled = {one.cluster_id: one for one in world.handle(all=True)}
    assert handled[lost].outcome == "gone"
    assert "no Job says where the cluster's secrets are" in handled[lost].message
    assert world.data_secrets() == [f"cluster-{kept}-pullsecret-data"]
    (line,) = [e for e in world.log if e["cluster_id"] == lost and "no Job says where" in e["message"]]
    assert line["outcome"] == "gone"


@pytest.mark.parametrize("planted", ["another's secret", "an unlabelled one", "another id", "another label"])
def test_a_planted_job_deletes_no_secret(world: World, planted: str) -> None:
    lost, kept = lost_and_kept(world)
    victim = world.cluster()
    world.manager.seed(
        [
            {
                "project": PROJECT,
                "secret": f"hyperfleet-{victim}-pull-secret",
                "labels": {"managed-by": "hyperfleet", "cluster-id": victim},
                "versions": [{"data": "x"}],
            },
            {"project": PROJECT, "secret": "payroll", "versions": [{"data": "x"}]},
        ]
    )
    for name, labels in (
        (f"{victim}-pull-secret", {"managed-by": "hyperfleet", "cluster-id": victim}),
        ("payroll", {}),
    ):
        body = {"metadata": {"name": name, "labels": labels}}
        assert world.request("POST", f"/api/v1/namespaces/clusters-{victim}/secrets", body)[0] == 201
    job = world.playing.job(f"pullsecret-{lost}-gen1")
    assert job is not None
    metadata: dict[str, Any] = {
        "name": "planted",
        "labels": dict(job["metadata"]["labels"]),
        "annotations": dict(job["metadata"]["annotations"]),
    }
    template = job["spec"]["template"]
    environment = {item["name"]: item.get("value") for item in template["spec"]["containers"][0]["env"]}
    names = ("payroll", "payroll")
    if planted == "another's secret":
        names = (f"hyperfleet-{victim}-pull-secret", f"{victim}-pull-secret")
    elif planted == "another id":
        names = (f"hyperfleet-{victim}-pull-secret", f"{victim}-pull-secret")
        environment["CLUSTER_ID"] = victim
    elif planted == "another label":
        metadata["annotations"]["hyperfleet.io/cluster-id"] = victim
    environment.update(
        MANAGEMENT_NAMESPACE=f"clusters-{victim}", SECRET_NAME=names[0], K8S_SECRET_NAME=names[1]
    )
    container = dict(template["spec"]["containers"][0])
    container["env"] = [{"name": name, "value": value} for name, value in environment.items() if value]
    spec = {"template": {"metadata": {}, "spec": {**template["spec"], "containers": [container]}}}
    path = f"/apis/batch/v1/namespaces/{world.home}/jobs"
    status, answer = world.request("POST", path, {"metadata": metadata, "spec": spec})
    assert status == 201, answer
    handled = {one.cluster_id: one for one in world.handle(all=True)}
    assert handled[lost].outcome == "gone"
    if planted != "another id":
        assert (
            f"do not belong to this cluster: namespaces/clusters-{victim}/secrets/{names[1]}"
            in handled[lost].message
        )
    assert world.versions(lost) == 0
    assert world.versions(victim) == 1
    assert world.manager.store.find(PROJECT, "payroll") is not None
    for name in (f"{victim}-pull-secret", "payroll"):
        assert world.request("GET", f"/api/v1/namespaces/clusters-{victim}/secrets/{name}")[0] == 200
    assert world.jobs() == [f"pullsecret-{kept}-gen1", f"pullsecret-{victim}-gen1"]


def test_what_is_left_cannot_be_listed(world: World) -> None:
    cluster = world.cluster(ready=False)
    world.kubernetes.faults.add(verb="list", path="*/jobs", status=403, reason="Forbidden", times=None)
    ran = world.ran(all=True)
    assert [one.cluster_id for one in ran.results] == [cluster]
    assert [problem.kind for problem in ran.problems] == ["permission_denied"]
