# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports: the body in each form, its times, and how the stand-in answers."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.errors import (
    RequestRefused,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.report_format import (
    FLAVOURS,
    ObservedTimes,
    clock_trouble,
    find_flavour,
    format_time,
    parse_time,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.status_parser import (
    statuses_of_cluster,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.statuses import (
    Condition,
    Report,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    NotFound,
    Unavailable,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from tests.hyperfleet_api.unit.support import TRIES, World
from tests.stand_ins.hyperfleet import times as lab_times

STATUSES = "/api/hyperfleet/v1/clusters/cls-1/statuses"
VALUE = "example-password"


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def report(generation: int = 1, available: str = "True", **fields: object) -> Report:
    statuses = {"Applied": "True", "Available": available, "Health": "True", "Finalized": "False"}
    conditions = tuple(Condition(kind, status, "Tested", "said") for kind, status in statuses.items())
    return Report("pullsecret", generation, conditions, **fields)  # type: ignore[arg-type]


def stored(world: World) -> str:
    """The time of the report in the API."""
    return str(world.lab.ask("GET", "/clusters/cls-1/statuses")[1]["items"][0]["last_report_time"])


@pytest.fixture
def one(world: World) -> World:
    world.lab.store.seed([{"id": "cls-1"}])
    return world


def test_today_s_form() -> None:
    said = report(2, data={"secret_version": "3"}, metadata={"attempt": 1})
    assert FLAVOURS["current"].body(said, "2026-01-01T00:00:00.000001Z") == {
        "adapter": "pullsecret",
        "observed_generation": 2,
        "observed_time": "2026-01-01T00:00:00.000001Z",
        "conditions": [
            {"type": kind, "status": status, "reason": "Tested", "message": "said"}
            for kind, status in [
                ("Applied", "True"),
                ("Available", "True"),
                ("Health", "True"),
                ("Finalized", "False"),
            ]
        ],
        "data": {"secret_version": "3"},
        "metadata": {"attempt": 1},
    }


def test_the_contract_form() -> None:
    body = FLAVOURS["contract"].body(report(2), "2026-01-01T00:00:00.000001Z")
    assert (body["observedGeneration"], body["lastUpdated"]) == (2, "2026-01-01T00:00:00.000001Z")
    assert {condition["lastTransitionTime"] for condition in body["conditions"]} == {body["lastUpdated"]}
    assert not {"observed_generation", "observed_time", "metadata"} & set(body)


def test_transitions_of_the_contract_form_come_from_the_status_and_not_the_report() -> None:
    first, later = "2026-01-01T00:00:00.000001Z", "2026-01-01T00:05:00.000001Z"
    body = FLAVOURS["contract"].body(report(2, data={"a": 1}), first)
    cluster = {
        "generation": 2,
        "status": {"adapters": {"pullsecret": {"available": "True", "data": body["data"]}}},
    }
    held = statuses_of_cluster(cluster)["pullsecret"]
    assert (held.data, held.dated) == ({"a": 1}, False)
    said = report(2, data={"a": 1})
    other = dataclasses.replace(said.conditions[2], status="False")
    body = FLAVOURS["contract"].body(
        dataclasses.replace(said, conditions=(*said.conditions[:2], other, said.conditions[3])), later, held
    )
    assert {one["type"]: one["lastTransitionTime"] for one in body["conditions"]} == {
        "Applied": first,
        "Available": first,
        "Health": later,
        "Finalized": first,
    }
    assert body["lastUpdated"] == later
    assert body["data"]["transitions"]["Health"] == {"status": "False", "since": later}
    # Where the API returns conditions, the times come from them.
    shown = {"conditions": body["conditions"], "observedGeneration": 2}
    held = statuses_of_cluster({"generation": 2, "status": {"adapters": {"pullsecret": shown}}})["pullsecret"]
    assert held.transitions["Health"] == ("False", later)
    assert held.dated


@pytest.mark.parametrize(
    "planted",
    [
        "x",
        ["x"],
        {"Health": "x"},
        {"Health": {"status": "True", "since": "s3cr3t"}},
        {"Health": {"since": 5}},
        {"Health": {"status": [], "since": "2026-01-01T00:00:00Z"}},
        {"Health": {"status": "True", "since": "9" * 99}},
    ],
    ids=str,
)
def test_transitions_of_another_shape_are_not_heeded(planted: Any) -> None:
    said = {"available": "True", "data": {"transitions": planted}}
    held = statuses_of_cluster({"generation": 2, "status": {"adapters": {"pullsecret": said}}})["pullsecret"]
    assert held.transitions == {}
    assert held.data == {"transitions": planted}, "the data may be another adapter's"
    body = FLAVOURS["contract"].body(report(2), "2026-01-01T00:00:00.000001Z", held)
    assert {one["lastTransitionTime"] for one in body["conditions"]} == {body["lastUpdated"]}


def test_an_unknown_form_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"hyperfleet\.flavour must be one of current, contract"):
        find_flavour("today")


def test_times_are_later_than_all_before_for_a_cluster_and_for_no_other() -> None:
    clock = iter([100, 100, 90, 100])
    times = ObservedTimes(lambda: next(clock))
    assert [times.next("a"), times.next("a"), times.next("a"), times.next("b")] == [
        format_time(instant) for instant in (100, 101, 102, 100)
    ]


@pytest.mark.parametrize(
    ("after", "chosen"),
    [
        ("1970-01-01T00:00:00.000500Z", 501),
        ("1970-01-01T00:00:00.0005000Z", 501),
        ("1970-01-01T00:00:00.000500001Z", 502),
        ("1970-01-01T02:00:00.000500+02:00", 501),
        ("1970-01-01T00:00:00.000099Z", 100),
        ("yesterday", 100),
        ("", 100),
        (None, 100),
    ],
)
def test_times_are_later_than_the_stored_report(after: str | None, chosen: int) -> None:
    assert ObservedTimes(lambda: 100).next("a", after) == format_time(chosen)


@given(st.integers(0, 4_000_000_000_000_000))
def test_times_are_read_as_they_are_written(instant: int) -> None:
    assert parse_time(format_time(instant)) == instant
    assert lab_times.parse_time(format_time(instant)) == EPOCH + timedelta(microseconds=instant)


@pytest.mark.parametrize("text", ["", "2026-01-01", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00", "x" * 99])
def test_an_invalid_time_is_none(text: str) -> None:
    assert parse_time(text) is None


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        (0, None),
        (290, None),
        (-1700, None),
        (310, "310 s ahead of the API's clock"),
        (-1810, "1810 s behind"),
    ],
)
def test_a_wrong_clock_is_reported(ahead: int, said: str | None) -> None:
    trouble = clock_trouble(
        format_time((1_800_000_000 + ahead) * 1_000_000), formatdate(1_800_000_000, usegmt=True)
    )
    assert trouble is None if said is None else said in str(trouble)
    assert clock_trouble(format_time(0), None) is clock_trouble(format_time(0), "soon") is None


def test_a_report_is_accepted(one: World, deadline: Deadline) -> None:
    client = one.client()
    first = client.report("cls-1", report(data={"a": 1}, metadata={"attempt": 1}), deadline)
    again = client.report("cls-1", report(), deadline)
    assert (first.accepted, first.status, again.status) == (True, 201, 201)
    assert again.observed_time > first.observed_time
    assert parse_time(stored(one)) == parse_time(again.observed_time)
    assert one.lab.calls.count("PUT", STATUSES) == 2


def test_a_discarded_report_is_reported(one: World, deadline: Deadline) -> None:
    client = one.client()
    client.report("cls-1", report(), deadline)
    discarded = client.report("cls-1", report(available="Unknown"), deadline)
    assert (discarded.accepted, discarded.status) == (False, 204)


def test_a_report_comes_after_another_machine_s_whose_clock_is_ahead(one: World, deadline: Deadline) -> None:
    ahead = format_time(time.time_ns() // 1000 + 200_000_000)
    assert one.client().report("cls-1", report(), deadline, after=ahead).observed_time > ahead
    client = one.client()
    assert not client.report("cls-1", report(), deadline).accepted, (
        "the API discards a report that is not newer"
    )
    held = client.statuses("cls-1", deadline)["pullsecret"]
    assert client.report("cls-1", report(), deadline, after=held.observed_time).accepted


def test_a_repeated_try_has_a_time_of_its_own(
    one: World, deadline: Deadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, sent = one.client(), []
    ask = client._api._transport.request

    def noted(*arguments: object, **options: object) -> object:
        sent.append(json.loads(options["body"])["observed_time"])  # type: ignore[arg-type]
        return ask(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(client._api._transport, "request", noted)
    one.lab.faults.add(method="PUT", status=500, times=1)
    one.lab.faults.add(method="PUT", drop=True, times=1)
    said = client.report("cls-1", report(), deadline)
    assert said.observed_time == sent[-1]
    assert len(sent) == 3
    assert all(before < after for before, after in pairwise(sent))


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_trouble_of_the_server_is_tried_again(one: World, deadline: Deadline, status: int) -> None:
    one.lab.faults.add(method="PUT", status=status, times=TRIES - 1)
    assert one.client().report("cls-1", report(), deadline).accepted
    assert one.lab.calls.count("PUT") == TRIES


def test_a_report_whose_answer_is_lost_is_sent_again_and_accepted(one: World, deadline: Deadline) -> None:
    one.lab.faults.add(method="PUT", lost=True, times=1)
    said = one.client().report("cls-1", report(), deadline)
    assert said.accepted
    assert parse_time(stored(one)) == parse_time(said.observed_time)
    assert [call.status for call in one.lab.calls.matching()] == [201, 201]


def test_the_last_report_on_a_deleted_cluster_whose_answer_is_lost_finds_it_gone(
    one: World, deadline: Deadline
) -> None:
    one.lab.store.delete("cls-1")
    said = report(2, available="False")
    finalized = Report("pullsecret", 2, (*said.conditions[:3], Condition("Finalized", "True", "Gone", "")))
    one.lab.faults.add(method="PUT", lost=True, times=1)
    with pytest.raises(NotFound):
        one.client().report("cls-1", finalized, deadline)


def test_a_lasting_fault_is_reported(one: World, deadline: Deadline) -> None:
    one.lab.faults.add(method="PUT", status=500)
    with pytest.raises(Unavailable, match=r"HTTP 500 .*report on cluster cls-1 at .*tried 3 times"):
        one.client().report("cls-1", report(), deadline)


def test_a_cluster_that_is_gone_is_not_found(one: World, deadline: Deadline) -> None:
    with pytest.raises(NotFound, match=r"report on cluster cls-9 does not exist .*NTF-001"):
        one.client().report("cls-9", report(), deadline)
    assert one.lab.calls.count() == 1


@pytest.mark.parametrize(("url", "status"), [("/elsewhere", None), ("", 405), ("", 404)])
def test_an_address_that_takes_no_reports_is_a_wrong_one(
    one: World, deadline: Deadline, url: str, status: int | None
) -> None:
    if status:
        one.lab.faults.add(status=status, body="<html>")
    with pytest.raises(ConfigurationError, match=r"hyperfleet.flavour is current, .* with PUT; check it and"):
        one.client(url=one.lab.url + url).report("cls-1", report(), deadline)
    assert one.lab.calls.count() == 1


@pytest.mark.parametrize(("lab", "client"), [("seed", "current"), ("today", "contract")])
def test_the_wrong_flavour_is_reported(
    start: Callable[..., World], deadline: Deadline, lab: str, client: str
) -> None:
    world = start(flavour=lab)
    world.lab.store.seed([{"id": "cls-1"}])
    with pytest.raises(ConfigurationError, match=f"hyperfleet.flavour is {client}, "):
        world.client(flavour=client).report("cls-1", report(), deadline)


def test_a_refused_report_shows_only_its_code(one: World, deadline: Deadline) -> None:
    wrong = Report("pullsecret", 1, (Condition("Available", VALUE, "R", VALUE),))
    with pytest.raises(
        RequestRefused, match="HTTP 400 HYPERFLEET-VAL-000 Validation Failed: report"
    ) as caught:
        one.client().report("cls-1", wrong, deadline)
    assert VALUE not in str(caught.value)
    assert caught.value.hint is None
    assert one.lab.calls.count() == 1


@pytest.mark.parametrize(
    ("ahead", "words"), [(-400, "s ahead of the API's clock"), (2000, "s behind the API's")]
)
def test_a_report_that_is_refused_for_its_time_says_to_check_the_clocks(
    start: Callable[..., World], deadline: Deadline, ahead: int, words: str
) -> None:
    world = start(clock=lambda: lab_times.system_clock() + timedelta(seconds=ahead))
    world.lab.store.seed([{"id": "cls-1"}])
    with pytest.raises(RequestRefused, match=words):
        world.client().report("cls-1", report(), deadline)


def test_the_contract_form_takes_reports_and_has_them_on_the_cluster(
    start: Callable[..., World], deadline: Deadline
) -> None:
    world = start(flavour="seed")
    world.lab.store.seed([{"id": "cls-1", "generation": 4}])
    client = world.client(flavour="contract")
    first = client.report("cls-1", report(4, data={"namespace": "n"}), deadline)
    again = client.report("cls-1", report(4, data={"namespace": "m"}), deadline)
    assert [(said.accepted, said.status) for said in (first, again)] == [(True, 201), (True, 200)]
    world.lab.calls.clear()
    status = client.statuses("cls-1", deadline)["pullsecret"]
    assert (status.generation, status.is_true("Available"), status.data) == (4, True, {"namespace": "m"})
    cluster = client.get_cluster("cls-1", deadline)
    assert client.statuses("cls-1", deadline, cluster) == {"pullsecret": status}
    assert [call.path for call in world.lab.calls.matching()] == ["/api/hyperfleet/v1/clusters/cls-1"] * 2


def test_a_trace_goes_with_the_request(start: Callable[..., World], deadline: Deadline) -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    world = start(required_headers={"traceparent": trace})
    world.lab.store.seed([{"id": "cls-1"}])
    assert world.client().report("cls-1", report(), deadline, traceparent=trace).accepted
    assert set(world.client().statuses("cls-1", deadline, traceparent=trace)) == {"pullsecret"}
    assert world.client().get_cluster("cls-1", deadline, traceparent=trace)["id"] == "cls-1"
