# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The client with the stand-in: its requests, how it reads the answers, and what it never prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.all_clusters import (
    AllClusters,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.client import (
    HyperFleetClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.errors import (
    RequestRefused,
    hyperfleet_error,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    NotFound,
    PermissionDenied,
    PullSecretError,
    QuotaExceeded,
    TimedOut,
    Unavailable,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.transport import HttpAnswer
from tests.hyperfleet_api.unit.support import TRIES, World

CLUSTERS = "/api/hyperfleet/v1/clusters"
VALUE = "example-password"  # must not occur in the text of an error


def test_a_cluster_comes_whole(world: World, deadline: Deadline) -> None:
    world.lab.store.seed([{"id": "cls-1", "name": "one", "spec": {"provider": "gcp"}, "generation": 4}])
    cluster = world.client().get_cluster("cls-1", deadline)
    assert (cluster["name"], cluster["generation"], cluster["spec"]) == ("one", 4, {"provider": "gcp"})


def test_an_unknown_cluster_does_not_exist(world: World, deadline: Deadline) -> None:
    with pytest.raises(NotFound, match=r"cluster cls-9 does not exist at http://\S+ \(HYPERFLEET-NTF-001\)"):
        world.client().get_cluster("cls-9", deadline)
    assert world.lab.calls.count() == 1, "a missing cluster is not requested again"


def test_retry_after_is_respected(world: World, deadline: Deadline, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway in front of the API sends Retry-After; the stand-in does not."""
    client = world.client()
    answer = HttpAnswer(429, {"Retry-After": "600"}, b"{}")
    monkeypatch.setattr(client._api._transport, "request", lambda *_arguments, **_options: answer)
    with pytest.raises(QuotaExceeded) as raised:
        client.get_cluster("cls-1", deadline)
    assert raised.value.retry_after == 600


def test_an_unknown_route_is_a_wrong_address(start: Callable[..., World], deadline: Deadline) -> None:
    world = start()
    with pytest.raises(
        ConfigurationError, match=r"HYPERFLEET-NTF-000 Endpoint Not Found.*check hyperfleet.url"
    ):
        world.client(url=world.lab.url + "/elsewhere").get_cluster("cls-1", deadline)


@pytest.mark.parametrize("status", [404, 405, 302])
def test_another_server_s_refusal_is_a_wrong_address(world: World, deadline: Deadline, status: int) -> None:
    world.lab.faults.add(body="<html>", status=status)
    with pytest.raises(ConfigurationError, match=f"HTTP {status}: cluster cls-1 .*check hyperfleet.url"):
        world.client().get_cluster("cls-1", deadline)
    assert world.lab.calls.count() == 1


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
def test_trouble_of_the_server_is_tried_again(world: World, deadline: Deadline, status: int) -> None:
    world.lab.store.seed([{"id": "cls-1"}])
    world.lab.faults.add(status=status, times=TRIES - 1)
    assert world.client().get_cluster("cls-1", deadline)["id"] == "cls-1"
    assert world.lab.calls.count() == TRIES


def test_a_lasting_fault_is_reported_with_the_number_of_tries(world: World, deadline: Deadline) -> None:
    fault = world.lab.faults.add(status=500)
    with pytest.raises(Unavailable, match=r"HTTP 500 HYPERFLEET-INT-001 .*tried 3 times") as caught:
        world.client().get_cluster("cls-1", deadline)
    assert fault.hits == TRIES
    assert not caught.value.retryable, "no tries are left"


def test_too_many_requests_are_retried_and_reported(world: World, deadline: Deadline) -> None:
    world.lab.faults.add(status=429)
    with pytest.raises(QuotaExceeded, match="HYPERFLEET-LMT-001 Rate Limit Exceeded"):
        world.client().get_cluster("cls-1", deadline)
    assert world.lab.calls.count() == TRIES


def test_a_dropped_connection_is_tried_again(world: World, deadline: Deadline) -> None:
    world.lab.store.seed([{"id": "cls-1"}])
    world.lab.faults.add(drop=True, times=1)
    assert world.client().get_cluster("cls-1", deadline)["id"] == "cls-1"
    assert [call.status for call in world.lab.calls.matching()] == [0, 200]


def test_the_observer_sees_every_retry(world: World) -> None:
    told: list[tuple[int, str]] = []
    deadline = Deadline(10.0, lambda attempt, _pause, error: told.append((attempt, error.kind)))
    world.lab.faults.add(drop=True)
    with pytest.raises(Unavailable, match="no answer"):
        world.client().get_cluster("cls-1", deadline)
    assert told == [(1, "unavailable"), (2, "unavailable")]


def test_a_slow_answer_is_not_waited_for(world: World, deadline: Deadline) -> None:
    world.lab.faults.add(delay=60.0)
    with pytest.raises(Unavailable, match=r"no answer \(ReadTimeoutError\) \(tried 3 times\)"):
        world.client(api_timeout=1.0).get_cluster("cls-1", deadline)


def test_no_request_is_made_once_the_time_is_up(world: World) -> None:
    with pytest.raises(TimedOut, match="the target's time limit of 0 s has passed"):
        world.client().get_cluster("cls-1", Deadline(0.0))
    assert world.lab.calls.count() == 0


def test_a_closed_port_is_unavailable(deadline: Deadline, start: Callable[..., World]) -> None:
    world = start()
    client = world.client(url="http://127.0.0.1:1")
    with pytest.raises(Unavailable, match=r"cluster cls-1 at http://127\.0\.0\.1:1: no answer"):
        client.get_cluster("cls-1", deadline)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (f'{{"spec": "{VALUE}"', "not JSON"),
        (f'["{VALUE}"]', "not an object"),
        (f'{{"id": "{VALUE}"}}', "not that cluster"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_an_answer_that_is_no_cluster_is_not_quoted(
    world: World, deadline: Deadline, body: str, words: str
) -> None:
    world.lab.faults.add(body=body)
    with pytest.raises(Unavailable, match=words) as caught:
        world.client().get_cluster("cls-1", deadline)
    assert VALUE not in f"{caught.value!s}{caught.value!r}"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 429, 500])
def test_only_code_and_title_of_a_problem_are_quoted(status: int) -> None:
    problem = {"code": "HYPERFLEET-VAL-000", "title": "Validation Failed", "detail": VALUE, "errors": [VALUE]}
    error = hyperfleet_error(
        status, "application/problem+json; charset=utf-8", json.dumps(problem).encode(), "x", "y"
    )
    assert "HYPERFLEET-VAL-000 Validation Failed" in str(error)
    assert VALUE not in str(error)


@pytest.mark.parametrize(
    ("content_type", "problem"),
    [
        ("application/problem+json", {"code": VALUE, "title": f"<{VALUE}>"}),
        ("application/problem+json", {"code": ["HYPERFLEET-VAL-000"], "title": {"a": VALUE}}),
        ("application/json", {"code": "HYPERFLEET-VAL-000", "title": "Validation Failed"}),
        ("application/problem+json", [VALUE]),
    ],
)
def test_what_the_api_does_not_write_is_not_quoted(content_type: str, problem: object) -> None:
    error = hyperfleet_error(500, content_type, json.dumps(problem).encode(), "cluster x", "http://y")
    assert str(error) == "HTTP 500: cluster x at http://y"


def test_without_urllib3_the_message_names_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "urllib3", None)
    with pytest.raises(ConfigurationError, match="the Python package urllib3"):
        world.client()


@pytest.mark.parametrize("cluster_id", ["", "a'b", "a/b", "..", "a b", "a\n", "x" * 129, "a]"])
def test_an_id_that_could_leave_the_path_or_the_search_is_not_sent(
    world: World, deadline: Deadline, cluster_id: str
) -> None:
    client = world.client()
    for ask in (
        lambda: client.get_cluster(cluster_id, deadline),
        lambda: client.find_clusters([cluster_id], deadline),
    ):
        with pytest.raises(ConfigurationError, match="cluster_id"):
            ask()
    assert world.lab.calls.count() == 0


def test_a_rotated_token_is_read_again(
    start: Callable[..., World], deadline: Deadline, tmp_path: Path
) -> None:
    world = start(tokens=frozenset({"example-token-2"}))
    world.lab.store.seed([{"id": "cls-1"}])
    token = tmp_path / "token"
    token.write_text("example-token-1\n")
    client = world.client(token_file=str(token))
    with pytest.raises(PermissionDenied, match=r"HTTP 401 HYPERFLEET-AUT-002 .*check the file of ") as caught:
        client.get_cluster("cls-1", deadline)
    assert "example-token" not in str(caught.value)
    rotated = tmp_path / "next"
    rotated.write_text("example-token-2\n")
    rotated.replace(token)
    assert client.get_cluster("cls-1", deadline)["id"] == "cls-1"
    assert [call.status for call in world.lab.calls.matching()] == [401, 200], "no retry with a refused token"


def test_without_a_token_the_api_says_so(start: Callable[..., World], deadline: Deadline) -> None:
    with pytest.raises(PermissionDenied, match="HYPERFLEET-AUT-001 Authentication Required"):
        start(tokens=frozenset({"example-token"})).client().get_cluster("cls-1", deadline)


def test_extra_headers_are_sent_and_a_missing_one_is_reported(
    start: Callable[..., World], deadline: Deadline
) -> None:
    world = start(required_headers={"X-Tenant": "example"})
    world.lab.store.seed([{"id": "cls-1"}])
    assert world.client(headers={"X-Tenant": "example"}).get_cluster("cls-1", deadline)["id"] == "cls-1"
    with pytest.raises(PermissionDenied, match=r"HTTP 403 HYPERFLEET-AUZ-001 .*hyperfleet.headers"):
        world.client(headers={"X-Tenant": "another"}).get_cluster("cls-1", deadline)


def test_a_list_is_read_page_by_page(world: World, deadline: Deadline) -> None:
    ids = world.lab.store.seed({"id": f"cls-{number:03}", "labels": {"env": "test"}} for number in range(201))
    world.lab.store.seed([{"id": "other"}])
    found = AllClusters(world.client(), lambda: deadline, "labels.env = 'test'")
    assert [cluster["id"] for cluster in found] == ids
    assert world.lab.calls.count("GET", CLUSTERS) == 3
    assert len(list(AllClusters(world.client(), lambda: deadline))) == 202


def test_a_search_that_is_wrong_is_refused(world: World, deadline: Deadline) -> None:
    with pytest.raises(RequestRefused, match="HTTP 400 HYPERFLEET-VAL-005 Bad Request: clusters"):
        world.client().page_of_clusters(1, deadline, "this is no search")


def test_many_are_found_in_one_request(world: World, deadline: Deadline) -> None:
    ids = world.lab.store.seed({"id": f"cls-{number}"} for number in range(150))
    found = world.client().find_clusters(ids[:100], deadline)
    assert sorted(found) == sorted(ids[:100])
    assert world.lab.calls.count() == 1


def test_older_builds_get_their_form_of_a_list_in_all_later_requests(
    start: Callable[..., World], deadline: Deadline
) -> None:
    world = start(search_lists="parentheses")
    world.lab.store.seed([{"id": "cls-1"}, {"id": "cls-2"}])
    client = world.client()
    for _again in range(2):
        assert set(client.find_clusters(["cls-1", "cls-2", "cls-3"], deadline)) == {"cls-1", "cls-2"}
    assert [call.status for call in world.lab.calls.matching()] == [400, 200, 200]


@pytest.mark.parametrize("status", [400, 414, 431])
def test_an_api_without_search_refuses(world: World, deadline: Deadline, status: int) -> None:
    world.lab.faults.add(path=CLUSTERS, status=status)
    with pytest.raises(RequestRefused):
        world.client().find_clusters(["cls-1"], deadline)


@pytest.mark.parametrize("held", ["[" * 2000 + "]" * 2000, "1" * 5000], ids=["deep", "long number"])
def test_unreadable_json_of_one_cluster_does_not_affect_others(
    world: World, deadline: Deadline, monkeypatch: pytest.MonkeyPatch, held: str
) -> None:
    """A tenant writes the spec: if Python cannot read one cluster, a search for many must not fail."""
    client = world.client()
    body = b'{"items": [{"id": "cls-1"}, {"id": "cls-2", "spec": {"x": %s}}], "total": 2}' % held.encode()
    asked: list[str] = []

    def request(_method: str, path: str, **_options: object) -> HttpAnswer:
        asked.append(path)
        return HttpAnswer(200, {}, body)

    monkeypatch.setattr(client._api._transport, "request", request)
    with pytest.raises(RequestRefused, match="cannot be read"):
        client.find_clusters(["cls-1", "cls-2"], deadline)
    assert len(asked) == 2, "one request for each form of the list, and no retry"


def test_a_search_that_is_ignored_counts_as_refused(world: World, deadline: Deadline) -> None:
    world.lab.faults.add(path=CLUSTERS, body='{"items": [{"id": "another"}], "total": 1}')
    with pytest.raises(RequestRefused, match="ignored"):
        world.client().find_clusters(["cls-1"], deadline)


@pytest.mark.parametrize("body", ["{}", '{"items": {}}', '{"items": ["x"]}'])
def test_an_answer_that_is_no_list_is_unavailable(world: World, deadline: Deadline, body: str) -> None:
    world.lab.faults.add(path=CLUSTERS, body=body)
    with pytest.raises(Unavailable, match="not a list of clusters"):
        world.client().find_clusters(["cls-1"], deadline)


def test_batches_keep_to_the_api_s_limits(world: World, deadline: Deadline) -> None:
    client = world.client()
    uuids = [f"01a1fd18-702f-7f2c-958c-{number:012}" for number in range(250)]
    assert [len(batch) for batch in HyperFleetClient.batches(uuids)] == [100, 100, 50]
    longest = [f"{number:03}" + "x" * 125 for number in range(100)]
    batches = list(HyperFleetClient.batches(longest))
    assert [name for batch in batches for name in batch] == longest
    for batch in [*batches, uuids[:100]]:
        assert client.find_clusters(batch, deadline) == {}, "the stand-in refuses a search that is too long"
    assert list(HyperFleetClient.batches([])) == []


def test_errors_are_of_the_family(world: World, deadline: Deadline) -> None:
    world.lab.faults.add(status=418)
    with pytest.raises(PullSecretError, match="HTTP 418"):
        world.client().get_cluster("cls-1", deadline)


def test_a_page_that_is_too_large_is_read_in_parts(world: World) -> None:
    """A single tenant can cause it. A refused search is followed by single reads."""
    world.lab.store.seed([{"id": "cls-1", "spec": {"x": "x" * 5000}}])
    api = world.client()._api
    with pytest.raises(RequestRefused, match="the answer has more than 0 MiB, and cannot be read"):
        api.page("/clusters", "clusters", Deadline(5), [], largest=4000)
    assert len(api.page("/clusters", "clusters", Deadline(5), [], largest=40_000)[0]) == 1
