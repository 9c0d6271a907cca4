# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The source `hyperfleet: {cluster_id}`: what it reads, with and without reading ahead, and how it fails."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.errors import (
    BeingDeleted,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.pool import IMPORTING
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    InvalidDocument,
    NotFound,
    PermissionDenied,
    PullSecretError,
    Unavailable,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.hyperfleet_spec import (
    HyperFleetSource,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from tests.hyperfleet_api.unit.support import TRIES, World

CLUSTERS = "/api/hyperfleet/v1/clusters"
DOCUMENT = {"auths": {"quay.io": {"username": "user", "password": "example-password"}}}
TEXT = json.dumps(DOCUMENT, indent=1)


def cluster(cluster_id: str, data: Any = TEXT, field: str = "pullSecret") -> dict[str, Any]:
    return {"id": cluster_id, "spec": {"provider": "gcp", field: {"data": data}}}


def reference(cluster_id: str) -> dict[str, str]:
    return {"cluster_id": cluster_id}


@pytest.mark.parametrize("field", ["pullSecret", "pull_secret"])
@pytest.mark.parametrize("ahead", [False, True])
def test_text_comes_as_it_is_and_an_object_as_json(
    world: World, deadline: Deadline, field: str, ahead: bool
) -> None:
    world.lab.store.seed([cluster("cls-1", field=field), cluster("cls-2", DOCUMENT, field)])
    source = world.source()
    if ahead:
        source.prepare([reference("cls-1"), reference("cls-2")])
    assert source.read(reference("cls-1"), deadline) == TEXT.encode()
    assert json.loads(source.read(reference("cls-2"), deadline)) == DOCUMENT


def test_both_spellings_may_agree_but_not_differ(world: World, deadline: Deadline) -> None:
    both = {"pullSecret": {"data": TEXT}, "pull_secret": {"data": TEXT}}
    world.lab.store.seed(
        [{"id": "cls-1", "spec": both}, {"id": "cls-2", "spec": {**both, "pullSecret": {"data": "{}"}}}]
    )
    assert world.source().read(reference("cls-1"), deadline) == TEXT.encode()
    with pytest.raises(
        InvalidDocument,
        match=r"cls-2: spec.pullSecret.data and spec.pull_secret.data are both set and differ",
    ):
        world.source().read(reference("cls-2"), deadline)


@pytest.mark.parametrize("spec", [{}, {"pullSecret": {}}, {"pullSecret": ""}, {"pullSecret": {"data": ""}}])
def test_a_cluster_without_a_pull_secret_is_named(
    world: World, deadline: Deadline, spec: dict[str, Any]
) -> None:
    world.lab.store.seed([{"id": "cls-1", "spec": spec}])
    with pytest.raises(NotFound, match=r"cluster cls-1 has no spec\.pullSecret\.data"):
        world.source().read(reference("cls-1"), deadline)


@pytest.mark.parametrize("data", [["example-password"], 7, True])
def test_a_pull_secret_of_another_type_is_not_shown(world: World, deadline: Deadline, data: Any) -> None:
    world.lab.store.seed([cluster("cls-1", data)])
    with pytest.raises(
        InvalidDocument, match=r"spec\.pullSecret\.data must be a string or an object"
    ) as caught:
        world.source().read(reference("cls-1"), deadline)
    assert "example-password" not in str(caught.value)


@pytest.mark.parametrize("held", ["example-password", ["example-password"], 7, False], ids=repr)
@pytest.mark.parametrize("field", ["pullSecret", "pull_secret"])
def test_a_pull_secret_that_is_no_mapping_is_not_shown(
    world: World, deadline: Deadline, field: str, held: Any
) -> None:
    world.lab.store.seed([{"id": "cls-1", "spec": {field: held}}])
    with pytest.raises(InvalidDocument, match=f"cluster cls-1: spec.{field} must be a mapping") as caught:
        world.source().read(reference("cls-1"), deadline)
    assert "example-password" not in str(caught.value)


@pytest.mark.parametrize("ahead", [False, True])
def test_a_deleted_cluster_is_refused_although_it_answers(
    world: World, deadline: Deadline, ahead: bool
) -> None:
    world.lab.store.seed([cluster("cls-1"), cluster("cls-2")])
    world.lab.store.delete("cls-1")
    source = world.source()
    if ahead:
        source.prepare([reference("cls-1"), reference("cls-2")])
    with pytest.raises(BeingDeleted, match="cluster cls-1 is being deleted"):
        source.read(reference("cls-1"), deadline)
    assert source.read(reference("cls-2"), deadline) == TEXT.encode()


def test_a_fleet_is_read_in_few_requests(world: World, deadline: Deadline) -> None:
    ids = world.lab.store.seed(
        cluster(f"cls-{number}", f'{{"auths":{{}},"n":{number}}}') for number in range(250)
    )
    source = world.source()
    source.prepare([reference(cluster_id) for cluster_id in ids])
    with ThreadPoolExecutor(8) as pool:
        documents = list(pool.map(lambda cluster_id: source.read(reference(cluster_id), deadline), ids))
    assert [json.loads(document)["n"] for document in documents] == list(range(250))
    assert world.lab.calls.count() == 3


def test_a_read_does_not_wait_for_other_places_imports(world: World, deadline: Deadline) -> None:
    world.lab.store.seed([cluster("cls-1")])
    source = world.source()
    source.read(reference("cls-1"), deadline)
    importing, done = threading.Event(), threading.Event()

    def hold() -> None:
        with IMPORTING:
            importing.set()
            assert done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert importing.wait(60)
        assert source.read(reference("cls-1"), Deadline(50)) == TEXT.encode()
    finally:
        done.set()
        thread.join()


def test_the_second_read_sees_the_world_as_it_is_then(world: World, deadline: Deadline) -> None:
    world.lab.store.seed([cluster("cls-1"), cluster("cls-2")])
    source = world.source()
    source.prepare([reference("cls-1"), reference("cls-2")])
    assert source.read(reference("cls-1"), deadline) == TEXT.encode()
    world.lab.store.patch("cls-1", {"spec": {"pullSecret": {"data": "{}"}}})
    assert source.read(reference("cls-1"), deadline) == b"{}"


def test_a_cluster_that_the_search_does_not_find_fails_alone(world: World, deadline: Deadline) -> None:
    world.lab.store.seed([cluster("cls-1"), cluster("cls-2")])
    source = world.source()
    source.prepare([reference("cls-1"), reference("cls-2"), reference("cls-3"), reference("no id")])
    with pytest.raises(NotFound, match="cluster cls-3 does not exist"):
        source.read(reference("cls-3"), deadline)
    with pytest.raises(ConfigurationError, match="cluster_id"):
        source.read(reference("no id"), deadline)
    assert source.read(reference("cls-1"), deadline) == TEXT.encode()


def test_single_reads_stand_in_for_a_refused_search(world: World, deadline: Deadline) -> None:
    world.lab.store.seed([cluster("cls-1"), cluster("cls-2")])
    world.lab.faults.add(path=CLUSTERS, status=400)
    source = world.source()
    source.prepare([reference("cls-1"), reference("cls-2")])
    assert (
        source.read(reference("cls-1"), deadline)
        == source.read(reference("cls-2"), deadline)
        == TEXT.encode()
    )
    assert world.lab.calls.count("GET", f"{CLUSTERS}/cls-*") == 2


def test_a_single_target_is_not_searched_for(world: World, deadline: Deadline) -> None:
    world.lab.store.seed([cluster("cls-1")])
    source = world.source()
    source.prepare([reference("cls-1"), reference("cls-1")])
    assert world.lab.calls.count() == 0
    assert source.read(reference("cls-1"), deadline) == TEXT.encode()


def test_an_error_while_reading_ahead_fails_every_target_without_retries(
    world: World, deadline: Deadline
) -> None:
    world.lab.store.seed([cluster("cls-1"), cluster("cls-2")])
    fault = world.lab.faults.add(status=503)
    source = world.source()
    source.prepare([reference("cls-1"), reference("cls-2")])
    errors = []
    for cluster_id in ("cls-1", "cls-2"):
        with pytest.raises(Unavailable, match=r"HYPERFLEET-SVC-001 .*tried 3 times") as caught:
            source.read(reference(cluster_id), deadline)
        errors.append(caught.value)
    assert errors[0] is not errors[1], "each target needs its own error, because text is added to it"
    assert fault.hits == TRIES
    world.lab.faults.clear()
    assert source.read(reference("cls-1"), deadline) == TEXT.encode()


def test_trouble_with_one_batch_leaves_the_others(world: World, deadline: Deadline) -> None:
    ids = sorted(world.lab.store.seed(cluster(f"cls-{number:03}") for number in range(101)))
    world.lab.faults.add(path=CLUSTERS, status=500, times=TRIES)
    source = world.source()
    source.prepare([reference(cluster_id) for cluster_id in ids])
    assert world.lab.calls.count() == TRIES + 1
    with pytest.raises(Unavailable):
        source.read(reference(ids[0]), deadline)
    assert source.read(reference(ids[100]), deadline) == TEXT.encode()
    assert world.lab.calls.count() == TRIES + 1, "the search decided both"


def test_an_api_that_is_down_gets_no_request_for_every_batch(world: World, deadline: Deadline) -> None:
    ids = sorted(world.lab.store.seed(cluster(f"cls-{number:03}") for number in range(450)))
    fault = world.lab.faults.add(path=CLUSTERS, status=500)
    source = world.source()
    source.prepare([reference(cluster_id) for cluster_id in ids])
    assert fault.hits == 2 * TRIES
    for cluster_id in (ids[0], ids[449]):
        with pytest.raises(Unavailable):
            source.read(reference(cluster_id), deadline)
    assert fault.hits == 2 * TRIES


def test_the_time_that_reading_ahead_took_is_no_target_s(world: World, deadline: Deadline) -> None:
    """Reading a fleet takes longer than one target may: each search has the time of one target."""
    ids = sorted(world.lab.store.seed(cluster(f"cls-{number:03}") for number in range(450)))
    world.lab.faults.add(path=CLUSTERS, delay=0.9)
    source = world.source(timeout=4.0)
    source.prepare([reference(cluster_id) for cluster_id in ids])
    assert [source.read(reference(cluster_id), deadline) for cluster_id in ids] == [TEXT.encode()] * 450
    assert world.lab.calls.count() == 5, "all clusters were read ahead"


def test_a_search_that_ran_out_of_time_is_no_answer(world: World, deadline: Deadline) -> None:
    world.lab.store.seed([cluster("cls-1"), cluster("cls-2")])
    world.lab.faults.add(path=CLUSTERS, delay=5.0)
    source = world.source(timeout=0.2)
    source.prepare([reference("cls-1"), reference("cls-2")])
    assert source.read(reference("cls-1"), deadline) == TEXT.encode()


@pytest.mark.parametrize("fault", [{"drop": True}, {"status": 502}, {"body": "{"}, {"delay": 60.0}])
def test_a_passing_fault_costs_a_retry_only(world: World, deadline: Deadline, fault: dict[str, Any]) -> None:
    world.lab.store.seed([cluster("cls-1")])
    passing = world.lab.faults.add(times=1, **fault)
    assert world.source(api_timeout=2.0).read(reference("cls-1"), deadline) == TEXT.encode()
    assert passing.hits == 1


def test_no_token_is_every_target_s_failure(start: Callable[..., World], deadline: Deadline) -> None:
    world = start(tokens=frozenset({"example-token"}))
    source = world.source()
    source.prepare([reference("cls-1"), reference("cls-2")])
    with pytest.raises(PermissionDenied, match="HTTP 401"):
        source.read(reference("cls-2"), deadline)
    assert world.lab.calls.count() == 1


def test_reading_ahead_never_raises(world: World, deadline: Deadline) -> None:
    source = world.source(url="no address")
    source.prepare([reference("cls-1"), reference("cls-2")])
    with pytest.raises(ConfigurationError, match=r"hyperfleet\.url"):
        source.read(reference("cls-1"), deadline)


def test_nothing_that_fails_shows_the_document(world: World, deadline: Deadline) -> None:
    """Neither the text, nor the representation, nor the chained exceptions contain the document."""
    world.lab.store.seed([cluster("cls-1", [TEXT]), {"id": "cls-2", "spec": {"pullSecret": {"date": TEXT}}}])
    for cluster_id in ("cls-1", "cls-2"):
        with pytest.raises(PullSecretError) as caught:
            world.source().read(reference(cluster_id), deadline)
        error: BaseException | None = caught.value
        while error is not None:
            assert "example-password" not in f"{error!s}{error!r}{error.args}"
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def test_a_reference_is_described_without_its_content(world: World) -> None:
    assert HyperFleetSource.NAME == "hyperfleet"
    assert world.source().describe(reference("cls-1")) == "hyperfleet:cls-1"
