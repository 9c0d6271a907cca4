# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dates and infinite numbers are reported by their path. Vaulted strings become strings."""

from __future__ import annotations

import datetime
import math
from types import MappingProxyType
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils import problems
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.plain_values import (
    decrypted,
    not_in_json,
    plain,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.problems import check_cluster_list

_DATE = datetime.date(2026, 1, 2)
_QUOTES = "is a date; put it in quotes"


class _Vaulted:
    """ansible-core 2.18's type for ``!vault``."""

    __ENCRYPTED__ = True

    def __str__(self) -> str:
        return "opened"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"a": [1, 2.5, None, True, "2026-01-02", {"b": ()}]}, None),
        ({"labels": {"made": _DATE}}, f"x.labels.made {_QUOTES}"),
        ({"layers": [{}, {"file": datetime.datetime(2026, 1, 2)}]}, f"x.layers.1.file {_QUOTES}"),
        ({"wait": {"most": math.inf}}, "x.wait.most is not a finite number"),
        ({"least": math.nan}, "x.least is not a finite number"),
        ({_DATE: 5}, f"a key of x {_QUOTES}"),
        ({"labels": {_DATE: 5}}, f"a key of x.labels {_QUOTES}"),
        ({"inline": {"examplecanary": [_DATE]}}, f"x.inline.(not shown).0 {_QUOTES}"),
        ({"labels": {"example-canary-1": _DATE}}, f"x.labels.(not shown) {_QUOTES}"),
    ],
)
def test_what_json_does_not_have_is_named_by_its_path(value: Any, problem: str | None) -> None:
    assert not_in_json(value, "x") == problem


def test_a_vaulted_string_becomes_a_string(monkeypatch: pytest.MonkeyPatch) -> None:
    """ansible-core 2.18 decrypts it only when it is read; until then it is not a ``str``."""
    assert decrypted(_Vaulted()) == "opened"
    assert decrypted({"a": [1, {"b": _Vaulted()}]}) == {"a": [1, {"b": "opened"}]}
    as_it_is = {"a": [1, {"b": "c"}]}
    assert decrypted(as_it_is) is as_it_is
    monkeypatch.setattr(problems, "HAS_VAULTED_STRINGS", True)
    assert check_cluster_list([{"cluster_id": _Vaulted()}])[0].name == "opened"


class _Tagged(str):
    """ansible-core's string type that records where a string comes from."""


def test_a_plain_copy_has_no_tags_and_no_containers_of_ansibles() -> None:
    value = MappingProxyType({_Tagged("a"): (_Tagged("b"), True, 1, 2.5, None, _DATE)})
    copy = plain(value)
    assert copy == {"a": ["b", True, 1, 2.5, None, _DATE]}
    assert [type(one) for one in (copy, *copy, *copy["a"])] == [
        *(dict, str, str, bool, int, float, type(None), datetime.date)
    ]
