# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading the statuses of adapters, from answers of the real API and from malformed ones."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.status_parser import (
    statuses_of_cluster,
    statuses_of_items,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.statuses import (
    AdapterStatus,
    Condition,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import NotFound, Unavailable
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from tests.hyperfleet_api.story import EXCHANGES
from tests.hyperfleet_api.unit.support import World
from tests.hyperfleet_api.unit.test_report_format import STATUSES, report


def test_the_real_api_s_list_is_read() -> None:
    recorded = next(e.response_body for e in EXCHANGES if e.name == "list-statuses")
    assert statuses_of_items(recorded["items"]) == {
        "pullsecret": AdapterStatus(
            "pullsecret",
            1,
            {
                "Available": Condition("Available", "True", "SecretStored", "pull secret stored"),
                "Applied": Condition("Applied", "True", "Applied", "applied"),
                "Health": Condition("Health", "True", "Healthy", "ok"),
                "Finalized": Condition("Finalized", "False", "NotDeleting", ""),
            },
            {"secret": {"name": "hyperfleet-x-pull-secret", "version": "1"}},
            {},
            "2026-11-21T07:53:20.815165Z",
        )
    }


@pytest.mark.parametrize(
    "item",
    [
        "text",
        None,
        {},
        {"adapter": "a"},
        {"adapter": "", "observed_generation": 1},
        {"adapter": ["a"], "observed_generation": 1},
        {"adapter": "a", "observed_generation": "1"},
        {"adapter": "a", "observed_generation": True},
        {"adapter": "a", "observed_generation": 0},
    ],
)
def test_items_that_are_not_understood_are_left_out(item: Any) -> None:
    good = {"adapter": "good", "observed_generation": 1}
    assert list(statuses_of_items([item, good])) == ["good"]


def test_parts_that_are_not_understood_are_left_out() -> None:
    conditions = [None, {}, {"type": "A", "status": "true"}, {"type": 1, "status": "True"}]
    conditions += [{"type": "B", "status": "False", "reason": 7}]
    item = {"adapter": "a", "observed_generation": 2, "conditions": conditions, "data": [], "metadata": "x"}
    status = statuses_of_items([item])["a"]
    assert status == AdapterStatus("a", 2, {"B": Condition("B", "False", "", "")})


@pytest.mark.parametrize("given", [None, {}, [], {"status": None}, {"status": {"adapters": ["a"]}}])
def test_a_cluster_without_adapters_has_no_statuses(given: Any) -> None:
    assert statuses_of_cluster(given if isinstance(given, dict) else {"status": given}) == {}


def test_the_contract_form_is_read() -> None:
    adapters = {
        "validation": {"available": "True"},
        "dns": {"available": False},
        "placement": {"available": "True", "data": {"namespace": "n"}, "observedGeneration": 2},
        "odd": "True",
        "silent": {"available": "maybe"},
    }
    found = statuses_of_cluster({"generation": 3, "status": {"adapters": adapters}})
    assert {name: (status.generation, status.is_true("Available")) for name, status in found.items()} == {
        "validation": (3, True),
        "dns": (3, False),
        "placement": (2, True),
        "silent": (3, False),
    }
    assert found["placement"].data == {"namespace": "n"}


def test_statuses_are_read_page_by_page(world: World, deadline: Deadline) -> None:
    world.lab.store.seed([{"id": "cls-1"}])
    client = world.client()
    for number in range(101):
        said = report()
        assert client.report("cls-1", type(said)(f"a-{number}", 1, said.conditions), deadline).accepted
    assert len(client.statuses("cls-1", deadline)) == 101
    assert world.lab.calls.count("GET", STATUSES) == 2


def test_statuses_of_a_cluster_that_is_gone(world: World, deadline: Deadline) -> None:
    with pytest.raises(NotFound, match="statuses of cluster cls-9 does not exist"):
        world.client().statuses("cls-9", deadline)


def test_an_answer_that_is_no_list_is_unavailable(world: World, deadline: Deadline) -> None:
    world.lab.faults.add(body='{"items": {"adapter": "a"}}')
    with pytest.raises(Unavailable, match="not a list of statuses of cluster cls-1"):
        world.client().statuses("cls-1", deadline)
