# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The conditions that the adapter reports for a cluster."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.statuses import (
    AdapterStatus,
    Condition,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    PermissionDenied,
    Unavailable,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine import (
    conditions,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.decide import (
    Refuse,
    UnmetPreconditions,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.report import (
    ClusterReport,
    ReportSubject,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.model import (
    CREATED,
    FAILED,
    PENDING,
    RUNNING,
    STUCK,
    SUCCEEDED,
    Observed,
)
from tests.support.adapter_jobs.world import order

ORDER = order(3, cluster_id="cls-1", cluster_name="one", project="customer-1", namespace="clusters-cls-1")
SUBJECT = ReportSubject("cls-1", "pullsecret", 3)
TYPES = ("Applied", "Available", "Health", "Finalized")
PLACES = {
    "gcp_secret": "projects/customer-1/secrets/hyperfleet-cls-1-pull-secret",
    "management_secret": {"namespace": "clusters-cls-1", "name": "cls-1-pull-secret"},
}


def observed(state: str, **more: Any) -> Observed:
    return Observed(state, f"Job{state.title()}", "words", job="pullsecret-cls-1-gen3", **more)


EVERY = [
    conditions.preconditions_unmet(SUBJECT, UnmetPreconditions(("dns is not Available",))),
    conditions.refused(SUBJECT, Refuse("InvalidPullSecret", "quay.io: no auth")),
    *(
        conditions.observed(SUBJECT, ORDER, observed(s))
        for s in (CREATED, PENDING, RUNNING, STUCK, SUCCEEDED)
    ),
    conditions.observed(SUBJECT, ORDER, observed(FAILED)),
    conditions.observed(SUBJECT, ORDER, Observed(FAILED, "PermissionDenied", "no")),
    conditions.observed(SUBJECT, ORDER, Observed(SUCCEEDED, "PullSecretStored", "done")),
    conditions.adapter_failed(SUBJECT, "Kubernetes", Unavailable("no answer"), ORDER),
    conditions.deleting(SUBJECT, ("jobs/a",)),
    conditions.deleting(SUBJECT, (), [("unavailable", "no answer")]),
    conditions.deleted(SUBJECT),
]


def statuses(told: ClusterReport) -> str:
    return "".join(condition.status[0] for condition in told.api_report.conditions)


@pytest.mark.parametrize("told", EVERY, ids=lambda told: f"{told.state}-{told.reason}")
def test_every_report_has_the_four_conditions_and_never_unknown(told: ClusterReport) -> None:
    assert tuple(condition.type for condition in told.api_report.conditions) == TYPES
    for condition in told.api_report.conditions:
        assert condition.status in ("True", "False")
        assert condition.reason.isalnum()
        assert condition.reason[0].isupper()
        assert condition.message
    assert (told.api_report.adapter, told.api_report.generation) == ("pullsecret", 3)


def test_each_outcome_has_its_conditions() -> None:
    """The letters: Applied, Available, Health, Finalized."""
    assert [(told.state, statuses(told), told.requeue_after) for told in EVERY] == [
        ("unmet", "FFTF", None),
        ("refused", "FFTF", None),
        ("created", "TFTF", 2.0),
        ("pending", "TFTF", 2.0),
        ("running", "TFTF", 2.0),
        ("stuck", "TFTF", 30.0),
        ("succeeded", "TTTF", None),
        ("failed", "TFTF", 15.0),
        ("failed", "FFTF", 15.0),
        ("succeeded", "TTTF", None),
        ("failed", "FFFF", 15.0),
        ("deleting", "TFTF", 2.0),
        ("deleting", "TFTF", 15.0),
        ("deleted", "FFTT", 60.0),
    ]


def test_a_lasting_failure_is_requeued_late() -> None:
    assert conditions.observed(SUBJECT, ORDER, observed(FAILED, retry=False)).requeue_after == 60.0
    assert conditions.adapter_failed(SUBJECT, "Kubernetes", PermissionDenied("no")).requeue_after == 60.0
    assert conditions.deleting(SUBJECT, (), [("permission_denied", "no")]).requeue_after == 60.0


def test_data_names_the_places_and_the_version() -> None:
    done = observed(SUCCEEDED, namespace="hyperfleet-system", started="2026-01-01T00:00:00Z", attempt=2)
    done = Observed(**{**vars(done), "result": {"version": "7", "result": "success"}})
    report = conditions.observed(SUBJECT, ORDER, done).api_report
    assert report.data == {**PLACES, "job_name": "pullsecret-cls-1-gen3", "secret_version": "7"}
    assert report.metadata == {
        "job_name": "pullsecret-cls-1-gen3",
        "job_namespace": "hyperfleet-system",
        "attempt": 2,
        "started_time": "2026-01-01T00:00:00Z",
    }


@pytest.mark.parametrize("told", [0, 1, 3, 5])
def test_what_a_removal_needs_is_not_forgotten(told: int) -> None:
    said = {**PLACES, "secret_version": "6", "job_name": "earlier", "odd": 1}
    own = AdapterStatus("pullsecret", 2, {}, said)
    subject = ReportSubject("cls-1", "pullsecret", 3, own)
    made = [
        conditions.preconditions_unmet(subject, UnmetPreconditions(("x",))),
        conditions.refused(subject, Refuse("X", "x")),
        conditions.observed(subject, ORDER, observed(RUNNING)),
        conditions.adapter_failed(subject, "Statuses", Unavailable("x")),
        conditions.deleting(subject, ("x",)),
        conditions.deleted(subject),
    ][told]
    assert dict(made.api_report.data).items() >= {**PLACES, "secret_version": "6"}.items()
    assert "odd" not in made.api_report.data


def test_a_result_without_a_version_does_not_keep_the_earlier_one() -> None:
    own = AdapterStatus("pullsecret", 2, {}, {**PLACES, "secret_version": "6"})
    told = conditions.observed(ReportSubject("cls-1", "pullsecret", 3, own), ORDER, observed(SUCCEEDED))
    assert told.api_report.data == {**PLACES, "job_name": "pullsecret-cls-1-gen3"}


DIGEST, OTHER = f"hmac-sha256:{'1' * 64}", f"hmac-sha256:{'2' * 64}"


def stored(said: str = "True", generation: int = 3, **data: Any) -> AdapterStatus:
    """The adapter's last status."""
    before = {"Available": Condition("Available", said, "R", "m")}
    return AdapterStatus("pullsecret", generation, before, {**PLACES, "content_digest": DIGEST, **data})


@pytest.mark.parametrize(
    ("state", "said", "content", "expected"),
    [
        (CREATED, "True", DIGEST, "TTTF"),
        (PENDING, "True", DIGEST, "TTTF"),
        (RUNNING, "True", DIGEST, "TTTF"),
        (STUCK, "True", DIGEST, "TTFF"),
        (FAILED, "True", DIGEST, "TTFF"),
        (CREATED, "True", OTHER, "TFTF"),
        (STUCK, "True", OTHER, "TFTF"),
        (CREATED, "False", DIGEST, "TFTF"),
        (CREATED, "True", None, "TFTF"),
    ],
)
def test_what_is_stored_stays_available_while_a_job_looks_at_it_again(
    state: str, said: str, content: str | None, expected: str
) -> None:
    subject = ReportSubject("cls-1", "pullsecret", 3, stored(said, 2))
    told = conditions.observed(subject, ORDER, observed(state, content=content))
    assert statuses(told) == expected
    assert told.api_report.data["content_digest"] == DIGEST
    assert told.requeue_after == conditions.observed(SUBJECT, ORDER, observed(state)).requeue_after


@pytest.mark.parametrize("kind", ["unavailable", "timeout", "quota", "permission_denied", "stopped", None])
def test_a_failure_that_saw_nothing_of_the_places_is_ill_health(kind: str | None) -> None:
    told = conditions.observed(
        ReportSubject("cls-1", "pullsecret", 3, stored()), ORDER, Observed(FAILED, "Why", "words", kind=kind)
    )
    assert statuses(told)[1:] == "TFF"
    assert (told.state, told.reason, told.message, told.requeue_after) == ("failed", "Why", "words", 15.0)


@pytest.mark.parametrize(
    ("kind", "drifted"),
    [
        ("ownership", False),
        ("not_found", False),
        ("dependency", False),
        ("verification", False),
        ("invalid_document", False),
        ("input_refused", False),
        ("unavailable", True),
    ],
)
def test_a_failure_that_found_the_places_otherwise_is_not_available(kind: str, drifted: bool) -> None:
    seen = Observed(FAILED, "Why", "words", kind=kind, drifted=drifted)
    told = conditions.observed(ReportSubject("cls-1", "pullsecret", 3, stored()), ORDER, seen)
    assert (statuses(told)[1:], told.failure) == ("FTF", kind)


@pytest.mark.parametrize(
    ("own", "goes", "expected"),
    [
        (stored(), False, "TTFF"),
        (stored(generation=2), False, "FFFF"),
        (stored("False"), False, "FFFF"),
        (None, False, "FFFF"),
        # This form of the API does not return the generation of a status.
        (dataclasses.replace(stored(), dated=False), False, "FFFF"),
        (stored(management_secret={"namespace": "earlier", "name": "x"}), False, "FFFF"),
        (stored(), True, "FFFF"),
    ],
)
def test_an_outage_does_not_take_back_what_was_stored_for_this_generation(
    own: AdapterStatus | None, goes: bool, expected: str
) -> None:
    subject = ReportSubject("cls-1", "pullsecret", 3, own, is_deleting=goes)
    told = conditions.adapter_failed(subject, "Kubernetes", Unavailable("no answer"), ORDER)
    assert statuses(told) == expected
    assert (told.state, told.reason, told.requeue_after) == ("failed", "KubernetesUnavailable", 15.0)
    finalized = told.api_report.conditions[3]
    assert finalized.reason == ("KubernetesUnavailable" if goes else "NotDeleting")


def test_a_dependency_that_flips_does_not_take_back_what_was_stored() -> None:
    told = conditions.preconditions_unmet(
        ReportSubject("cls-1", "pullsecret", 3, stored()), UnmetPreconditions(("dns is not Available",))
    )
    assert (statuses(told), told.state, told.reason) == ("TTTF", "unmet", "PreconditionsNotMet")
    available = told.api_report.conditions[1]
    assert available.reason == "PullSecretStored"
    assert "dns is not Available" in available.message
    told = conditions.preconditions_unmet(
        ReportSubject("cls-1", "pullsecret", 4, stored()), UnmetPreconditions(("dns is not Available",))
    )
    assert statuses(told) == "FFTF"


def test_what_was_stored_does_not_count_in_another_management_cluster() -> None:
    subject = ReportSubject("cls-1", "pullsecret", 3, stored())
    told = conditions.preconditions_unmet(
        subject, UnmetPreconditions(("placement names …",), is_in_other_management_cluster=True)
    )
    assert (statuses(told), told.reason) == ("FFTF", "PreconditionsNotMet")


PLANTED = "s3cr3t-planted"


@pytest.mark.parametrize(
    "data",
    [
        {"gcp_secret": PLANTED},
        {"gcp_secret": {"namespace": "a", "name": "b"}},
        {"gcp_secret": f"projects/customer-1/secrets/{PLANTED}/versions/1"},
        {"management_secret": {"namespace": "a", "name": "b", "password": PLANTED}},
        {"management_secret": {"namespace": "a", "name": {"x": PLANTED}}},
        {"management_secret": [PLANTED]},
        {"secret_version": PLANTED},
        {"secret_version": {"1": PLANTED}},
        {"content_digest": f"hmac-sha256:{PLANTED}"},
        {
            "earlier": [
                PLANTED,
                {"auths": PLANTED},
                [PLANTED],
                {"namespace": PLANTED + "!", "name": "x"},
                None,
            ]
        },
        {"earlier": {"x": PLANTED}},
        {"earlier": [{"namespace": "a", "name": "b", "auths": {"quay.io": PLANTED}}]},
        {PLANTED: PLANTED},
    ],
    ids=str,
)
def test_values_planted_in_the_status_are_not_reported(data: dict[str, Any]) -> None:
    subject = ReportSubject("cls-1", "pullsecret", 3, AdapterStatus("pullsecret", 3, {}, data))
    for told in (
        conditions.preconditions_unmet(subject, UnmetPreconditions(("x",))),
        conditions.adapter_failed(subject, "Kubernetes", Unavailable("x"), ORDER),
        conditions.observed(subject, ORDER, observed(RUNNING)),
        conditions.deleted(subject),
    ):
        assert PLANTED not in str(told.api_report)
    if "password" in str(data) or "auths': {" in str(data):
        held = conditions.preconditions_unmet(subject, UnmetPreconditions(("x",))).api_report.data
        assert {"namespace": "a", "name": "b"} in (held.get("management_secret"), *held.get("earlier", ()))


def test_a_new_place_replaces_the_remembered_one_which_is_not_forgotten() -> None:
    place = {"namespace": "earlier", "name": "x"}
    own = AdapterStatus("pullsecret", 2, {}, {"management_secret": place})
    told = conditions.observed(ReportSubject("cls-1", "pullsecret", 3, own), ORDER, observed(RUNNING))
    assert told.api_report.data["management_secret"] == PLACES["management_secret"]
    assert told.api_report.data["earlier"] == [place]
    own = AdapterStatus("pullsecret", 3, {}, told.api_report.data)
    again = conditions.preconditions_unmet(
        ReportSubject("cls-1", "pullsecret", 4, own), UnmetPreconditions(("x",))
    )
    assert again.api_report.data["earlier"] == [place]


def test_the_current_place_is_no_earlier_one_and_earlier_ones_are_limited() -> None:
    back = {**PLACES, "management_secret": {"namespace": "b", "name": "x"}}
    own = AdapterStatus("pullsecret", 2, {}, {**back, "earlier": [PLACES["management_secret"]]})
    told = conditions.observed(ReportSubject("cls-1", "pullsecret", 3, own), ORDER, observed(RUNNING))
    assert told.api_report.data["earlier"] == [{"namespace": "b", "name": "x"}]
    many = [f"projects/customer-{number}/secrets/s" for number in range(30)]
    own = AdapterStatus("pullsecret", 2, {}, {**PLACES, "earlier": many})
    told = conditions.observed(ReportSubject("cls-1", "pullsecret", 3, own), ORDER, observed(RUNNING))
    assert told.api_report.data["earlier"] == many[-10:]


@pytest.mark.parametrize("traceparent", [None, "00-" + "a" * 32 + "-" + "b" * 16 + "-01"])
def test_a_traceparent_is_carried_on(traceparent: str | None) -> None:
    told = conditions.preconditions_unmet(
        ReportSubject("cls-1", "pullsecret", 3, None, traceparent), UnmetPreconditions(("x",))
    )
    assert told.api_report.metadata.get("traceparent") == traceparent


def test_failures_quote_the_apis_message_up_to_a_limit() -> None:
    told = conditions.deleting(SUBJECT, (), [("permission_denied", "projects/p: " + "x" * 5000)])
    assert told.reason == "RemovalPermissionDenied"
    assert told.message.startswith("projects/p: ")
    assert len(told.message) == 1000


def test_what_is_kept_by_policy_is_named() -> None:
    told = conditions.deleted(SUBJECT, ["projects/p/secrets/s"])
    assert "kept by policy: projects/p/secrets/s" in told.message
