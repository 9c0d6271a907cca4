# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replication is chosen when a secret is created. A later difference is reported and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.secret_manager import PROJECT, Module, document


def _key(location: str, name: str = "one") -> str:
    return f"projects/customer-prod-12345/locations/{location}/keyRings/ring/cryptoKeys/{name}"


_WISHES: dict[str, tuple[dict[str, Any], str]] = {
    "automatic": ({"replication": "automatic"}, "automatic"),
    "automatic with a key": ({"kms_key": _key("global")}, f"automatic (with key {_key('global')})"),
    "another key": ({"kms_key": _key("global", "two")}, f"automatic (with key {_key('global', 'two')})"),
    "two locations": (
        {"replication": "user_managed", "locations": ["europe-west1", "europe-west4"]},
        "user_managed (europe-west1, europe-west4)",
    ),
    "one location": (
        {"replication": "user_managed", "locations": ["europe-west1"]},
        "user_managed (europe-west1)",
    ),
    "a location with a key": (
        {
            "replication": "user_managed",
            "locations": ["europe-west1"],
            "location_kms_keys": {"europe-west1": _key("europe-west1")},
        },
        f"user_managed (europe-west1 with key {_key('europe-west1')})",
    ),
}


@pytest.mark.parametrize("wish", _WISHES)
@pytest.mark.parametrize("there", _WISHES)
def test_another_replication_is_told_and_left(module: Module, there: str, wish: str) -> None:
    (had, found), (wanted, asked) = _WISHES[there], _WISHES[wish]
    assert module.put(**had)["warnings"] == []
    before = module.secret().SerializeToString()
    module.lab.calls.clear()

    for check in (True, False):
        result = module.put(**wanted, check=check)
        assert not result["changed"]
        expected = f"the secret's replication is {found}, not {asked}; it is set when a secret is created"
        assert [warning.partition(" and was")[0] for warning in result["warnings"]] == (
            [] if there == wish else [expected]
        )
    assert module.writes() == 0
    assert module.secret().SerializeToString() == before


@pytest.mark.parametrize("there", _WISHES)
def test_who_wants_no_certain_replication_is_told_nothing(module: Module, there: str) -> None:
    module.put(**_WISHES[there][0])
    assert module.put()["warnings"] == []


def test_the_order_of_locations_means_nothing(module: Module) -> None:
    locations = ["europe-west1", "europe-west4", "us-east1"]
    module.put(replication="user_managed", locations=locations)
    assert module.put(replication="user_managed", locations=locations[::-1])["warnings"] == []


def test_it_is_told_once_and_in_a_batch_as_well(module: Module) -> None:
    module.put("old", replication="user_managed", locations=["europe-west1"])
    automatic: dict[str, Any] = {"replication": "automatic"}
    # A conflict makes the run start again.
    module.lab.faults.add("UpdateSecret", code="FAILED_PRECONDITION", times=1)
    assert len(module.put("new", **automatic)["warnings"]) == 1
    targets = [{"cluster_id": f"cls-{number}"} for number in (1, 2, 3)]
    results = module.run(project=PROJECT, source={"inline": document("new")}, targets=targets, **automatic)[
        "targets"
    ]
    assert [len(result["warnings"]) for result in results] == [1, 0, 0]
