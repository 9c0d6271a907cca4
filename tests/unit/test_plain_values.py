# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dates and infinite numbers are found by their path, and vaulted strings become strings."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.secrecy import is_name
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.hosted import checked
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.plain_values import (
    decrypted,
    not_in_json,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.problems import check, without_dates

_DATE = datetime.date(2026, 1, 2)
_QUOTES = "is a date, which has to be in quotes"


class _Vaulted:
    """What ansible-core 2.18 makes of ``!vault``."""

    __ENCRYPTED__ = True

    def __str__(self) -> str:
        return "opened"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"a": [1, 2.5, None, True, "2026-01-02", {"b": ()}]}, None),
        ({"labels": {"made": _DATE}}, f"labels.made {_QUOTES}"),
        ({"layers": [{}, {"file": datetime.datetime(2026, 1, 2)}]}, f"layers.1.file {_QUOTES}"),
        ({"wait": {"most": math.inf}}, "wait.most is no finite number"),
        ({"least": math.nan}, "least is no finite number"),
        ({_DATE: 5}, f"a key {_QUOTES}"),
        ({"labels": {_DATE: 5}}, f"a key of labels {_QUOTES}"),
        ({"inline": {"examplecanary": [_DATE]}}, f"inline.(not shown).0 {_QUOTES}"),
        ({"labels": {"example-canary-1": _DATE}}, f"labels.(not shown) {_QUOTES}"),
    ],
)
def test_what_json_does_not_have_is_named_by_its_path(value: Any, problem: str | None) -> None:
    assert not_in_json(value) == problem
    # A cluster's problem is shown only if it could be a name.
    assert problem is None or is_name(problem)


def test_only_the_cluster_with_a_date_is_refused() -> None:
    clusters = [{"cluster_id": "cls-1", "labels": {"made": _DATE}}, {"cluster_id": "cls-2"}, "no mapping"]
    carried = without_dates(clusters)
    assert carried[0] == {"cluster_id": "cls-1", "problem": f"labels.made {_QUOTES}"}
    assert list(carried[1:]) == clusters[1:]
    for found in (check(clusters), check(carried), checked(clusters), checked(carried)):
        assert found[0].name == "cls-1"
        assert found[0].problem == f"labels.made {_QUOTES}"
        assert "date" not in str(found[1].problem)


def test_a_cluster_whose_id_is_a_date_or_no_name_goes_by_its_number() -> None:
    for identity in (_DATE, "example canary\n", ["a"]):
        (carried,) = without_dates([{"cluster_id": identity, "drop": [_DATE]}])
        assert carried["cluster_id"] is None
        assert check([carried])[0].name == "cluster 1"


@pytest.mark.hardening(4)
def test_a_vaulted_string_becomes_a_string() -> None:
    """ansible-core 2.18 decrypts it when it is read, and it is no string before."""
    assert decrypted(_Vaulted()) == "opened"
    assert decrypted({"a": [1, {"b": _Vaulted()}]}) == {"a": [1, {"b": "opened"}]}
    plain = {"a": [1, {"b": "c"}]}
    assert decrypted(plain) is plain
    assert check([{"cluster_id": _Vaulted()}])[0].name == "opened"
