# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paged lists: the client reads all pages, and stops when the API never does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from urllib.parse import parse_qs, urlsplit

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet import (
    all_clusters,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.client import (
    HyperFleetClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.transport import HttpAnswer
from tests.hyperfleet_api.unit.support import World


def answers_in_pages(
    client: HyperFleetClient,
    monkeypatch: pytest.MonkeyPatch,
    pages: Callable[[int], Iterable[int]],
    **total: int,
) -> list[int]:
    """Answer with these clusters, with a total only if one is given. Return the list of requested pages."""
    asked: list[int] = []

    def request(_method: str, path: str, **_options: object) -> HttpAnswer:
        asked.append(int(parse_qs(urlsplit(path).query)["page"][0]))
        items = [{"id": f"cls-{number}"} for number in pages(asked[-1])]
        return HttpAnswer(200, {}, json.dumps({"items": items, **total}).encode())

    monkeypatch.setattr(client._api._transport, "request", request)
    return asked


def test_a_list_of_ever_new_clusters_is_ended(
    world: World, deadline: Deadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = world.client()
    answers_in_pages(client, monkeypatch, lambda page: [page], total=10**12)
    monkeypatch.setattr(all_clusters, "MOST_PAGES", 5)
    found = all_clusters.AllClusters(client, lambda: deadline)
    assert len(list(found)) == 5
    assert "the list does not end: there are more than 5 pages" in str(found.problems[0])


@pytest.mark.parametrize(("clusters", "pages"), [(0, 1), (99, 1), (100, 2), (130, 2), (200, 3), (250, 3)])
def test_a_list_without_a_total_is_read_to_its_end(
    world: World, deadline: Deadline, monkeypatch: pytest.MonkeyPatch, clusters: int, pages: int
) -> None:
    client = world.client()
    asked = answers_in_pages(client, monkeypatch, lambda page: range(clusters)[page * 100 - 100 : page * 100])
    found = all_clusters.AllClusters(client, lambda: deadline)
    assert [cluster["id"] for cluster in found] == [f"cls-{number}" for number in range(clusters)]
    assert asked == list(range(1, pages + 1))
    assert found.problems == []


def test_a_list_without_a_total_that_repeats_itself_is_not_whole(
    world: World, deadline: Deadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = world.client()
    asked = answers_in_pages(client, monkeypatch, lambda _page: range(100))
    found = all_clusters.AllClusters(client, lambda: deadline)
    assert len(list(found)) == 100
    (problem,) = found.problems
    assert "the list does not end: the last 3 pages have nothing new" in str(problem)
    assert asked == [1, 2, 3, 4]
