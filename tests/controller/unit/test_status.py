# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Statuses, and which of two objects has a place."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.managed_object import (
    ManagedObject,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.custom_resources import KINDS
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.operator.claims import Claims
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.operator.status import (
    TargetRow,
    next_status,
)

NOW = 1_700_000_000.0


def item(name: str = "a", created: str = "2026-01-01T00:00:00Z", **more: Any) -> ManagedObject:
    metadata = {
        "name": name,
        "namespace": "n",
        "uid": f"uid-{name}",
        "creationTimestamp": created,
        "generation": 3,
    }
    return ManagedObject.of(
        {"kind": "PullSecret", "metadata": {**metadata, **more.pop("metadata", {})}, **more}
    )


def conditions(status: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    return {each["type"]: (each["status"], each["reason"], each["message"]) for each in status["conditions"]}


def test_everything_is_right() -> None:
    status = next_status(item(), [TargetRow("cls-1", version="4")], "clusters", NOW)
    assert conditions(status) == {
        "Ready": ("True", "UpToDate", "up to date"),
        "Degraded": ("False", "UpToDate", "up to date"),
    }
    assert (status["observedGeneration"], "nextAttempt" in status) == (3, False)
    assert status["targets"] == [{"id": "cls-1", "state": "current", "version": "4"}]


def test_one_wrong_cluster_costs_a_row() -> None:
    rows = [TargetRow(f"cls-{number}") for number in range(200)]
    rows.append(TargetRow("cls-bad", reason="namespace x does not exist", kind="not_found"))
    status = next_status(item(), rows, "clusters", NOW)
    assert conditions(status)["Degraded"][:2] == ("True", "NotFound")
    assert status["summary"] == {"total": 201, "changed": 0, "failed": 1}
    assert (len(status["targets"]), status["targets"][0]["id"]) == (100, "cls-bad")


@pytest.mark.parametrize(("attempts", "pause"), [(0, 30), (1, 60), (5, 960), (6, 1800), (500, 1800)])
def test_attempts_get_rarer(attempts: int, pause: int) -> None:
    status = next_status(item(status={"attempts": attempts}), [TargetRow("a", reason="no")], "clusters", NOW)
    assert status["attempts"] == attempts + 1
    assert (
        status["nextAttempt"]
        == next_status(item(), [], "clusters", NOW + pause)["conditions"][0]["lastTransitionTime"]
    )


def test_a_condition_keeps_its_time_while_it_stays() -> None:
    before = [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    status = next_status(item(status={"conditions": before}), [], "clusters", NOW)
    assert status["conditions"][0]["lastTransitionTime"] == "2026-01-01T00:00:00Z"
    assert status["conditions"][1]["lastTransitionTime"] == "2023-11-14T22:13:20Z"


def test_a_deletion_ends_after_its_time() -> None:
    metadata = {"deletionTimestamp": "2023-11-14T22:13:20Z"}
    deleted = item(metadata=metadata, spec={"deletionTimeout": 60, "deletionPolicy": "Delete"})
    assert (deleted.deletes, deleted.is_overdue(NOW + 59), deleted.is_overdue(NOW + 60)) == (
        True,
        False,
        True,
    )
    # An older CRD allowed it.
    assert item(metadata=metadata, spec={"deletionTimeout": "soon"}).is_overdue(NOW + 900)


def test_what_waits_is_tried_again_too() -> None:
    rows = [TargetRow("a"), TargetRow("b", state="waiting", detail="3 of 5 nodes have it")]
    status = next_status(item(status={"attempts": 2}), rows, "clusters", NOW)
    assert conditions(status)["Ready"] == (
        "False",
        "Waiting",
        "1 of 2 clusters wait; b: 3 of 5 nodes have it",
    )
    assert conditions(status)["Degraded"][0] == "False"
    assert (status["attempts"], [row["id"] for row in status["targets"]]) == (3, ["b", "a"])


@pytest.mark.parametrize(
    ("theirs", "mine", "what"),
    [
        ({}, {}, "cluster"),
        ({"cluster_id": "b"}, {"secret_name": "hyperfleet-b-pull-secret"}, "secret in Secret Manager"),
        ({"cluster_id": "b", "k8s_secret_name": "a-pull-secret"}, {}, "Secret"),
        ({"cluster_id": "b"}, {"secret_name": "b", "k8s_secret_name": "b"}, None),
        ({"cluster_id": "b"}, {"cluster_id": "No!"}, None),
    ],
)
def test_the_older_object_has_the_place(
    theirs: dict[str, str], mine: dict[str, str], what: str | None
) -> None:
    cluster = {"cluster_id": "a", "gcp_project_id": "p", "management_namespace": "n"}
    places = KINDS["PullSecret"].places
    claims = Claims(item("b", "2026-01-02T00:00:00Z"))
    claims.add(item("c", "2026-01-03T00:00:00Z"), places({**cluster, **theirs}))
    assert claims.owner_of(places({**cluster, **mine})) is None
    claims.add(item("a"), places({**cluster, **theirs}))
    claim = claims.owner_of(places({**cluster, **mine}))
    assert (claim[0], str(claim[1])) == (what, "PullSecret n/a") if claim else what is None
