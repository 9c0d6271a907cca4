# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the stand-in supports beyond the recorded requests: several adapters, searches, options, administration."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.hyperfleet_api.unit.support import World
from tests.stand_ins.hyperfleet.problems import ApiError
from tests.stand_ins.hyperfleet.search import compile_search
from tests.stand_ins.hyperfleet.times import format_time, parse_time, system_clock
from tests.stand_ins.process import stand_in_command

ROOT = Path(__file__).resolve().parents[3]
PREFIX = "/api/hyperfleet/v1/clusters"


def call(method: str, url: str, body: Any = None) -> tuple[int, Any]:
    """Return (status, document). The document is None for an answer without a body."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            raw, status = response.read(), response.status
    except urllib.error.HTTPError as error:
        with error:
            raw, status = error.read(), error.code
    return status, json.loads(raw) if raw else None


def report(
    adapter: str, generation: int, available: str = "True", finalized: str = "False"
) -> dict[str, Any]:
    states = {"Available": available, "Applied": "True", "Health": "True", "Finalized": finalized}
    return {
        "adapter": adapter,
        "observed_generation": generation,
        "conditions": [{"type": name, "status": status} for name, status in states.items()],
    }


def conditions(world: World, cluster_id: str) -> dict[str, dict[str, Any]]:
    found = world.lab.store.get(cluster_id)["status"]["conditions"]
    return {condition["type"]: condition for condition in found}


@pytest.fixture
def two(start: Callable[..., World]) -> World:
    """A cluster `cls-1` that requires the adapters dns and pull-secret."""
    world = start(required_adapters=("dns", "pull-secret"))
    world.lab.store.seed([{"id": "cls-1"}])
    return world


def put(world: World, body: dict[str, Any]) -> int:
    return call("PUT", f"{world.lab.url}{PREFIX}/cls-1/statuses", body)[0]


def test_reconciled_waits_for_every_required_adapter(two: World) -> None:
    assert put(two, report("dns", 1)) == 201
    found = conditions(two, "cls-1")
    assert found["Reconciled"]["message"] == (
        "Required adapters not reporting Available=True: [pull-secret]. Currently reporting: [dns]"
    )
    assert put(two, report("pull-secret", 1)) == 201
    found = conditions(two, "cls-1")
    assert {name: one["status"] for name, one in found.items()} == dict.fromkeys(
        ("Reconciled", "DnsSuccessful", "PullSecretSuccessful"), "True"
    )
    two.lab.store.patch("cls-1", {"labels": {"env": "test"}})
    assert conditions(two, "cls-1")["Reconciled"]["status"] == "False"


def test_a_cluster_goes_when_the_last_adapter_has_cleaned_up(two: World) -> None:
    two.lab.store.delete("cls-1")
    assert put(two, report("dns", 2, "False", "True")) == 201
    assert conditions(two, "cls-1")["Reconciled"]["message"] == (
        "Required adapters not reporting Finalized=True: [pull-secret]. Currently reporting: [dns]"
    )
    assert put(two, report("pull-secret", 2, "False", "True")) == 201
    assert put(two, report("dns", 2, "False", "True")) == 404


def test_an_edit_without_a_change_is_no_new_generation(two: World) -> None:
    assert two.lab.store.patch("cls-1", {"labels": {}})["generation"] == 1
    assert two.lab.store.patch("cls-1", {"labels": {"env": "test"}})["generation"] == 2


def test_the_earlier_design_has_its_own_form(start: Callable[..., World]) -> None:
    world = start(flavour="seed")
    world.lab.store.seed([{"id": "cls-1"}])
    url = f"{world.lab.url}{PREFIX}/cls-1/statuses"
    body = {**report("placement", 1), "observedGeneration": 1, "lastUpdated": format_time(system_clock())}
    body["data"] = {"namespace": "clusters-cls-1"}
    status, answer = call("POST", url, body)
    assert (status, answer["observedGeneration"], answer["lastUpdated"]) == (201, 1, body["lastUpdated"])
    assert "lastTransitionTime" in answer["conditions"][0]
    assert call("POST", url, body)[0] == 200
    assert call("PUT", url, body)[0] == 404
    adapters = call("GET", f"{world.lab.url}{PREFIX}/cls-1")[1]["status"]["adapters"]
    assert adapters == {"placement": {"available": "True", "data": {"namespace": "clusters-cls-1"}}}


CLUSTERS: list[dict[str, Any]] = [
    {"id": "a", "name": "one", "labels": {"env": "test"}},
    {"id": "b", "name": "two", "labels": {"env": "prod"}},
    {"id": "c", "name": "three"},
]


@pytest.mark.parametrize(
    ("search", "ids"),
    [
        ("name = 'one'", "a"),
        ("id in ['a', 'c', 'x']", "ac"),
        ("labels.env = 'test'", "a"),
        ("labels.env in ['test','prod']", "ab"),
        ("name='three'", "c"),
        ("", "abc"),
    ],
)
def test_searches_find(world: World, search: str, ids: str) -> None:
    world.lab.store.seed(CLUSTERS)
    query = urllib.parse.urlencode({"search": search, "order": "id"})
    status, answer = call("GET", f"{world.lab.url}{PREFIX}?{query}")
    assert (status, "".join(item["id"] for item in answer["items"]), answer["total"]) == (200, ids, len(ids))


@pytest.mark.parametrize(
    "search",
    [
        "name",
        "name =",
        "name = one",
        "id in ('a')",
        "id in ['a'",
        "= 'a'",
        "name = 'a' name = 'b'",
        "name = 'a' or name = 'b'",
        "name = 'a' and",
        "name > 'a'",
    ]
    + ["nosuch = 'a'", "spec.pullSecret.data = 'a'", "name = 'a", "id in []", "name = '" + "x" * 4096 + "'"],
)
def test_searches_are_refused(search: str) -> None:
    with pytest.raises(ApiError) as caught:
        compile_search(search)
    assert (caught.value.status, caught.value.code) == (400, "HYPERFLEET-VAL-005")


def test_lists_come_in_pages_in_the_order_asked_for(world: World) -> None:
    world.lab.store.seed({"id": f"cls-{number:03}", "name": f"n{-number}"} for number in range(25))
    url = f"{world.lab.url}{PREFIX}"
    assert call("GET", url)[1]["size"] == 20
    second = call("GET", f"{url}?page=2&size=10&order=id")[1]
    assert [item["id"] for item in second["items"]] == [f"cls-{number:03}" for number in range(10, 20)]
    assert (second["page"], second["size"], second["total"]) == (2, 10, 25)
    for query in ("size=101", "size=0", "page=0", "page=x"):
        assert call("GET", f"{url}?{query}")[0] == 400


@pytest.mark.parametrize(
    "text", ["2026-11-21T07:53:19Z", "2026-11-21T07:53:19.5Z", "2026-11-21T07:53:19.000001Z"]
)
def test_times_are_read_and_written_alike(text: str) -> None:
    assert format_time(parse_time(text)) == text
    assert parse_time(text.replace("Z", "+00:00")) == parse_time(text)


def test_a_time_of_another_zone_is_moved() -> None:
    assert format_time(parse_time("2026-11-21T09:53:19+02:00")) == "2026-11-21T07:53:19Z"
    with pytest.raises(ValueError, match="RFC 3339"):
        parse_time("2026-11-21 07:53:19")


def test_as_a_process_it_says_where_it_is_and_logs_nothing(tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    command = stand_in_command(ready, "hyperfleet")
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            end = time.monotonic() + 180
            while not ready.exists() and process.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            said = json.loads(ready.read_text())
            assert said["pid"] == process.pid
            secret = {"id": "cls-1", "spec": {"pullSecret": {"data": "example-password"}}}
            assert call("POST", f"{said['url']}/_lab/seed", [secret])[0] == 200
            assert call("GET", f"{said['url']}{PREFIX}/cls-1")[1]["spec"] == secret["spec"]
            assert call("POST", f"{said['url']}/_lab/seed", "example-password")[0] == 400
        finally:
            os.kill(process.pid, signal.SIGTERM)
        output, _none = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, b"")
