# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The members beside ``auths`` have one owner together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import load
from tests.node.unit.support import Place, auth, config, document

GOOD: dict[str, Any] = {
    "credHelpers": {"ecr.example": "ecr-login"},
    "credsStore": "desktop",
    "HttpHeaders": {"User-Agent": "node"},
    "plugins": {"hooks": [1, 2.5, None, {"deep": True}]},
}
THEIRS = {"ecr.example": auth("theirs")}


def read(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(place.path.read_bytes())
    return found


@pytest.mark.parametrize(
    ("wrong", "named", "rule"),
    [
        (
            {"HttpHeaders": {"User-Agent": "node", "X-Secret": 7}},
            "HttpHeaders",
            "field-not-a-string",
        ),
        ({"HttpHeaders": 7}, "HttpHeaders", "field-not-a-string"),
        ({"credHelpers": ["example-password"]}, "credHelpers", "field-not-a-string"),
        (
            {"credHelpers": {"ecr.example": "ecr-login", "b.example": 7}},
            "credHelpers",
            "field-not-a-string",
        ),
        ({"CredsStore": "example-password"}, "CredsStore", "field-wrong-case"),
        ({"odd": "example-password\ud800"}, "odd", "not-utf8"),
        ({"deep": [[[[[[[[[[[[[[[[[[[[["x"]]]]]]]]]]]]]]]]]]]]]}, "", ""),
    ],
    ids=str,
)
def test_a_wrong_member_takes_no_other_with_it(
    place: Place, wrong: dict[str, Any], named: str, rule: str
) -> None:
    found = {**GOOD, **wrong, "auths": THEIRS}
    place.put(found)
    result = place.sync().apply(config(quay_io="new"))
    there = read(place)
    load(place.path.read_bytes())
    assert set(there["auths"]) == {"ecr.example", "quay.io"}
    for name, value in GOOD.items():
        if name not in wrong:
            assert there[name] == value
    if named:
        (warning,) = result.warnings
        assert warning == f"{named}: removed this field of another program, because it breaks the rule {rule}"
        assert named not in there
    else:
        assert result.warnings == []
    again = place.sync().apply(config(quay_io="newer"))
    assert again.warnings == []
    place.sync().apply(None)
    assert read(place) == {name: value for name, value in found.items() if name != named}
    assert place.beside() == ["config.json"]


def test_without_ours_a_wrong_member_is_left_alone(place: Place) -> None:
    place.put({"HttpHeaders": 7, "auths": THEIRS})
    before = place.path.read_bytes()
    assert place.sync().apply(None).actions == []
    assert place.path.read_bytes() == before
    assert place.beside() == ["config.json"]


def test_our_members_replace_all_foreign_members(place: Place) -> None:
    place.put({**GOOD, "auths": THEIRS})
    ours = {"credsStore": "desktop", "HttpHeaders": {"User-Agent": "ours", "X-Ours": "1"}}
    result = place.sync().apply(load({**ours, **document(quay_io="new")}))
    assert result.warnings == [
        f"{name}: removed this field of another program, because the pull secret sets such fields itself"
        for name in ("HttpHeaders", "credHelpers", "plugins")
    ]
    assert read(place) == {**ours, "auths": {**THEIRS, "quay.io": auth("new")}}
    # A rotation replaces them and restores nothing foreign.
    place.sync().apply(load({"HttpHeaders": {"X-Ours": "2"}, **document(quay_io="new")}))
    assert read(place) == {"HttpHeaders": {"X-Ours": "2"}, "auths": {**THEIRS, "quay.io": auth("new")}}
    assert place.sync().apply(None).changed
    assert read(place) == {"auths": THEIRS}
    assert place.beside() == ["config.json"]


def test_equal_foreign_members_stay_foreign(place: Place) -> None:
    place.put({**GOOD, "auths": THEIRS})
    assert place.sync().apply(load({**GOOD, **document(quay_io="new")})).warnings == []
    assert place.sync().apply(None).changed
    assert read(place) == {**GOOD, "auths": THEIRS}


def test_a_rollback_restores_foreign_members(place: Place) -> None:
    place.put({**GOOD, "auths": THEIRS})
    before = place.path.read_bytes()
    ours = load({"credsStore": "ours", **document(quay_io="new")})
    place.systemd.script = ["failed"]
    assert place.sync(attempts=1).apply(ours).rolled_back
    assert place.path.read_bytes() == before
    place.sync(retry_failed=True).apply(ours)
    place.sync().roll_back()
    assert place.path.read_bytes() == before
    # They belong to others.
    place.sync().apply(config(quay_io="newer"))
    place.sync().apply(None)
    assert read(place) == {**GOOD, "auths": THEIRS}


def test_members_of_ours_that_a_roll_back_brings_back_are_ours(place: Place) -> None:
    place.put({"auths": THEIRS})
    place.sync().apply(load({"credsStore": "ours", **document(quay_io="old")}))
    place.sync().apply(config(quay_io="new"))
    assert "credsStore" not in read(place)
    place.sync().roll_back()
    assert read(place)["credsStore"] == "ours"
    place.sync().apply(None)
    assert read(place) == {"auths": THEIRS}


def test_a_helper_that_would_lead_past_ours_goes(place: Place) -> None:
    place.put({"credHelpers": {"quay.io": "theirs", "ecr.example": "ecr-login"}, "auths": THEIRS})
    result = place.sync().apply(config(quay_io="new"))
    assert result.warnings == [
        (
            "credHelpers: removed this field of another program, because it names a credential helper, "
            "which would be used before the pull secret"
        )
    ]
    assert read(place)["credHelpers"] == {"ecr.example": "ecr-login"}
    assert place.sync().apply(config(quay_io="new")).actions == []
    place.sync().apply(None)
    assert read(place) == {"credHelpers": {"ecr.example": "ecr-login"}, "auths": THEIRS}


def test_a_foreign_change_of_our_member_makes_it_theirs(place: Place) -> None:
    place.sync().apply(load({"credsStore": "ours", **document(quay_io="new")}))
    place.put({**read(place), "credsStore": "theirs"})
    place.sync().apply(config(quay_io="new"))
    assert read(place)["credsStore"] == "theirs"
    place.sync().apply(None)
    assert read(place) == {"auths": {}, "credsStore": "theirs"}


@pytest.mark.parametrize(
    "value",
    ["1e999", "[" * 300 + "]" * 300, '{"a": -1e999}', "1" * 5000, "-" + "1" * 4301],
    ids=["infinite", "deep", "inside", "long", "negative"],
)
def test_a_file_that_cannot_be_written_again_is_replaced(place: Place, value: str) -> None:
    entry = json.dumps(auth("theirs"))[:-1]
    data = (
        f'{{"odd": {value}, "credsStore": "desktop", "auths": {{"a.example": {entry}, "x": {value}}}, '
        f'"b.example": {json.dumps(auth("b"))}}}}}'.encode()
    )
    place.put(data)
    result = place.sync().apply(config(quay_io="new"))
    assert read(place) == document(quay_io="new")
    (warning,) = result.warnings
    assert "was not a docker config" in warning
    place.sync().roll_back()
    assert place.path.read_bytes() == data


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_go_takes_for_no_json_is_none(place: Place, word: str) -> None:
    place.put(f'{{"auths": {{}}, "odd": {word}}}'.encode())
    result = place.sync().apply(config(quay_io="new"))
    assert "was not a docker config" in result.warnings[0]
    assert read(place) == document(quay_io="new")


def test_others_text_that_is_no_utf8_is_kept_as_it_can_be_said(place: Place) -> None:
    odd = {**auth("theirs"), "email": "\ud800"}
    place.put({"auths": {"a.example": odd}})
    place.sync().apply(config(quay_io="new"))
    assert place.auths() == {"a.example": odd, "quay.io": auth("new")}
    assert place.sync().apply(config(quay_io="new")).actions == []


def test_a_large_foreign_file_is_refused_or_left(place: Place) -> None:
    data = json.dumps({"auths": THEIRS, "x": "x" * (2 * 1024 * 1024)}).encode()
    place.put(data)
    assert place.sync().apply(None).actions == []
    assert place.path.read_bytes() == data


@pytest.mark.parametrize(
    "twice",
    [
        '"auths": {}',
        '"credsStore": "y"',
        '"more": {"a": 1, "a": 2}',
        '"auths": {"b.example": {}, "b.example": {}}',
    ],
)
def test_a_file_that_says_something_twice_is_replaced(place: Place, twice: str) -> None:
    data = f'{{"auths": {{"a.example": {json.dumps(auth("a"))}}}, "credsStore": "x", {twice}}}'.encode()
    place.put(data)
    (warning,) = place.sync().apply(config(quay_io="new")).warnings
    assert warning == (
        "the node's file was not a docker config [duplicate-key]; "
        "it was replaced; a rollback of this write restores it unchanged"
    )
    assert read(place) == document(quay_io="new")
    place.sync().roll_back()
    assert place.path.read_bytes() == data


@pytest.mark.parametrize(
    "name", ["credHelpers/q.example", "HttpHeaders/", "/credHelpers/x", "/", "//x", "a/b"]
)
def test_a_name_with_a_slash_is_a_name(place: Place, name: str) -> None:
    found = {name: "x", "credHelpers": {"c.example": "c"}, "auths": THEIRS}
    place.put(found)
    place.sync().apply(config(quay_io="new"))
    assert read(place) == {**found, "auths": {**THEIRS, "quay.io": auth("new")}}
    place.put({**read(place), name: 7, "credHelpers": 7})
    (warning,) = place.sync().apply(config(quay_io="newer")).warnings
    assert "credHelpers: removed this field of another program" in warning
    place.sync().apply(None)
    assert read(place) == {name: 7, "auths": THEIRS}


@pytest.mark.parametrize("name", ["credHelpers/quay.io", "/credHelpers/quay.io"])
def test_a_name_of_ours_with_a_slash_is_a_name(place: Place, name: str) -> None:
    # A key that names no registry is merged under its own name.
    found = {"auths": {**THEIRS, "Odd.Example": auth("odd")}}
    place.put(found)
    place.sync().apply(load({name: "x", **document(quay_io="new")}))
    assert read(place) == {name: "x", "auths": {**found["auths"], "quay.io": auth("new")}}
    place.sync().apply(None)
    assert read(place) == found
