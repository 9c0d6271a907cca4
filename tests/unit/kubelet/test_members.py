# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What others have beside ``auths``: kept one by one, and put back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import load
from tests.unit.kubelet.support import Place, auth, config, document

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
            "HttpHeaders/X-Secret",
            "field-not-a-string",
        ),
        ({"HttpHeaders": 7}, "HttpHeaders", "field-not-a-string"),
        ({"credHelpers": ["example-password"]}, "credHelpers", "field-not-a-string"),
        (
            {"credHelpers": {"ecr.example": "ecr-login", "b.example": 7}},
            "credHelpers/b.example",
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
        assert named in warning
        assert rule in warning
        assert "example-password" not in warning
        outer, _slash, inner = named.partition("/")
        assert inner not in there[outer] if inner else outer not in there
        if inner:
            assert there[outer] == {name: value for name, value in wrong[outer].items() if name != inner}
    else:
        assert result.warnings == []
    again = place.sync().apply(config(quay_io="newer"))
    assert again.warnings == []
    place.sync().apply(None)
    assert read(place) == found
    assert place.beside() == ["config.json"]


def test_without_ours_a_wrong_member_is_left_alone(place: Place) -> None:
    place.put({"HttpHeaders": 7, "auths": THEIRS})
    before = place.path.read_bytes()
    assert place.sync().apply(None).actions == []
    assert place.path.read_bytes() == before
    assert place.beside() == ["config.json"]


@pytest.mark.parametrize("same", [False, True])
def test_what_ours_took_the_place_of_comes_back(place: Place, same: bool) -> None:
    found = {**GOOD, "auths": THEIRS}
    place.put(found)
    ours = {"credsStore": "desktop" if same else "ours", "HttpHeaders": {"User-Agent": "ours", "X-Ours": "1"}}
    place.sync().apply(load({**ours, **document(quay_io="new")}))
    assert read(place)["HttpHeaders"] == ours["HttpHeaders"]
    assert read(place)["credsStore"] == ours["credsStore"]
    assert read(place)["credHelpers"] == GOOD["credHelpers"]
    # One goes, and one of others' comes back.
    place.sync().apply(load({"HttpHeaders": {"X-Ours": "2"}, **document(quay_io="new")}))
    assert read(place)["HttpHeaders"] == {"User-Agent": "node", "X-Ours": "2"}
    assert read(place)["credsStore"] == "desktop"
    assert place.sync().apply(None).changed
    assert read(place) == found
    assert place.beside() == ["config.json"]


def test_a_helper_that_would_lead_past_ours_comes_back(place: Place) -> None:
    found = {"credHelpers": {"quay.io": "theirs", "ecr.example": "ecr-login"}, "auths": THEIRS}
    place.put(found)
    place.sync().apply(config(quay_io="new"))
    assert read(place)["credHelpers"] == {"ecr.example": "ecr-login"}
    assert place.sync().apply(config(quay_io="new")).actions == []
    place.sync().apply(None)
    assert read(place) == found


def test_a_helper_that_a_rotation_gave_back_outlives_its_roll_back(place: Place) -> None:
    """The file of before has an entry of ours in its place, which it would lead past."""
    found = {"credHelpers": {"tenant.example": "theirs"}, "auths": THEIRS}
    place.put(found)
    place.sync().apply(config(quay_io="older", tenant_example="ours"))
    place.sync().apply(config(quay_io="newer"))
    assert read(place)["credHelpers"] == found["credHelpers"]
    assert place.sync().roll_back().rolled_back
    assert not read(place).get("credHelpers")
    place.sync().apply(config(quay_io="third"))
    assert read(place)["credHelpers"] == found["credHelpers"]
    place.sync().apply(None)
    assert read(place) == found


def test_a_member_of_ours_that_somebody_changed_is_theirs(place: Place) -> None:
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
def test_what_cannot_be_written_again_is_dropped_alone(place: Place, value: str) -> None:
    entry = json.dumps(auth("theirs"))[:-1]
    place.put(
        f'{{"odd": {value}, "credsStore": "desktop", "auths": {{"a.example": {entry}, "x": {value}}}, '
        f'"b.example": {json.dumps(auth("b"))}}}}}'.encode()
    )
    result = place.sync().apply(config(quay_io="new"))
    assert set(place.auths()) == {"quay.io", "b.example"}
    assert read(place)["credsStore"] == "desktop"
    assert [warning.split(":")[0] for warning in result.warnings] == ["a.example", "odd"]
    place.sync().apply(None)
    json.loads(place.path.read_bytes(), parse_constant=pytest.fail)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_go_takes_for_no_json_is_none(place: Place, word: str) -> None:
    place.put(f'{{"auths": {{}}, "odd": {word}}}'.encode())
    result = place.sync().apply(config(quay_io="new"))
    assert "was no docker config" in result.warnings[0]
    assert read(place) == document(quay_io="new")


def test_others_text_that_is_no_utf8_is_kept_as_it_can_be_said(place: Place) -> None:
    odd = {**auth("theirs"), "email": "\ud800"}
    place.put({"auths": {"a.example": odd}})
    place.sync().apply(config(quay_io="new"))
    assert place.auths() == {"a.example": odd, "quay.io": auth("new")}
    assert place.sync().apply(config(quay_io="new")).actions == []


def test_a_large_file_of_others_is_refused_or_left(place: Place) -> None:
    data = json.dumps({"auths": THEIRS, "x": "x" * (2 * 1024 * 1024)}).encode()
    place.put(data)
    assert place.sync().apply(None).actions == []
    assert place.path.read_bytes() == data


def test_what_is_there_twice_is_read_as_go_reads_it(place: Place) -> None:
    a, b, stale = (json.dumps(auth(text)) for text in ("a", "b", "stale"))
    place.put(
        f"""{{"auths": {{"a.example": {a}, "b.example": {{"email": "x", "auth": "x"}}}},
        "credHelpers": {{"c.example": "c"}}, "credHelpers": {{"d.example": "d"}}, "credsStore": "x",
        "credsStore": "y", "auths": {{"b.example": {stale}, "b.example": {b}}}}}""".encode()
    )
    result = place.sync().apply(config(quay_io="new"))
    # Of an entry, the last one counts.
    assert read(place) == {
        **document(a_example="a", b_example="b", quay_io="new"),
        "credHelpers": {"c.example": "c", "d.example": "d"},
        "credsStore": "y",
    }
    assert [warning.split(":")[0] for warning in result.warnings] == ["auths", "credHelpers", "credsStore"]
    assert place.sync().apply(config(quay_io="new")).warnings == []
    place.sync().apply(None)
    assert set(place.auths()) == {"a.example", "b.example"}


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
    assert "credHelpers: a member of others" in warning
    place.sync().apply(None)
    assert read(place) == {**found, name: 7, "credHelpers": 7}


@pytest.mark.parametrize("name", ["credHelpers/quay.io", "/credHelpers/quay.io"])
def test_a_name_of_ours_with_a_slash_is_a_name(place: Place, name: str) -> None:
    # One that is no registry is merged by itself.
    found = {"auths": {**THEIRS, "Odd.Example": auth("odd")}}
    place.put(found)
    place.sync().apply(load({name: "x", **document(quay_io="new")}))
    assert read(place) == {name: "x", "auths": {**found["auths"], "quay.io": auth("new")}}
    place.sync().apply(None)
    assert read(place) == found
