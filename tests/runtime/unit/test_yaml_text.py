# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A document that is too costly to parse is an error: libyaml would crash, and PyYAML would not finish."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import yaml

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime import yaml_text
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.yaml_text import (
    NotYAML,
    load_json,
    load_json_or_yaml,
    load_yaml,
    repeated_key,
)
from tests.support.nightly import some
from tests.support.yaml_bombs import LAUGHS, MERGES, OTHERS

_DEPTH = 40_000
CANARY = "canary-password"


@pytest.fixture(params=["libyaml", "pure"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """PyYAML may be installed without libyaml."""
    assert yaml.__with_libyaml__
    yaml_text._loader.cache_clear()
    if request.param == "pure":
        monkeypatch.delattr(yaml, "CSafeLoader")
    yield
    yaml_text._loader.cache_clear()


def test_yaml() -> None:
    assert load_yaml(b"a:\n- b: {c: [1]}\n") == {"a": [{"b": {"c": [1]}}]}
    assert load_yaml("a: \u00e4") == {"a": "\u00e4"}
    assert load_yaml("") is None
    many = "\n".join(f"- {{number: {number}}}" for number in range(1500))
    assert load_yaml(many) == [{"number": number} for number in range(1500)]


def test_aliases_and_merges_within_the_bounds() -> None:
    text = "a: &a {x: 1, y: [2]}\nb: {<<: *a, x: 3}\nc: [*a, *a]\n"
    a = {"x": 1, "y": [2]}
    assert load_yaml(text) == {"a": a, "b": {"x": 3, "y": [2]}, "c": [a, a]}


@pytest.mark.parametrize(
    "text", ["a: [", "a: b: c", "\x00", "!!python/object:os.system {}", "[*b]", "a\n---\nb"]
)
def test_no_yaml(text: str) -> None:
    with pytest.raises(NotYAML, match=r"^is not YAML( \(line \d\))?$"):
        load_yaml(text)


@pytest.mark.parametrize(
    "text",
    [
        b"[" * _DEPTH,
        b"{a: " * _DEPTH,
        b"- " * _DEPTH + b"a",
        b"? " * _DEPTH + b"a",
        ("[" * _DEPTH).encode("utf-16"),
        b"\n".join(b" " * depth + b"a:" for depth in range(3000)),
        b"a0: &a0 [x]\n" + b"".join(b"a%d: &a%d [*a%d]\n" % (n + 1, n + 1, n) for n in range(200)),
    ],
    ids=["flow", "mappings", "dashes", "keys", "UTF-16", "block", "aliases"],
)
def test_nested_without_end(text: bytes) -> None:
    with pytest.raises(NotYAML, match=r"^is nested more than 100 levels deep \(line \d+\)$"):
        load_yaml(text)


@pytest.mark.parametrize("text", [MERGES, LAUGHS])
def test_a_bomb_of_aliases(text: str) -> None:
    assert len(text) < 500
    with pytest.raises(
        NotYAML, match=r"^has more than 100000 values after its aliases are expanded \(line \d+\)$"
    ):
        load_json_or_yaml(text)


@pytest.mark.parametrize("name", some(OTHERS))
def test_what_would_take_long_is_refused(name: str) -> None:
    text, problem = OTHERS[name]
    with pytest.raises(NotYAML, match=problem):
        load_yaml(text)


@pytest.mark.parametrize(
    "value",
    [
        f"!!timestamp {CANARY}",
        f"!!timestamp 2001-99-99 # {CANARY}",
        "!!int ''",
        f"!!int {CANARY}",
        "!!float ''",
        f"!!bool {CANARY}",
        f"!!binary [{CANARY}]",
        f"!!set {CANARY}",
        f"!!omap {CANARY}",
        f"? [{CANARY}]\n",
        f"!{CANARY} x",
    ],
)
def test_a_value_that_its_tag_does_not_fit(value: str) -> None:
    with pytest.raises(
        NotYAML, match=r"^(has a value that does not fit its tag|is not YAML) \(line [23]\)$"
    ) as caught:
        load_yaml(f"a: 1\nb: {value}\n" if not value.startswith("?") else f"a:\n  {value}")
    assert CANARY not in repr(caught.getrepr(chain=True, showlocals=False, style="value"))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("text", ["&a [*a]", "a: &a {b: [*a]}", "&a {<<: *a}"])
def test_an_alias_of_what_contains_it(text: str) -> None:
    with pytest.raises(NotYAML, match=r"^has an alias to a value that contains it \(line 1\)$"):
        load_yaml(text)


def test_the_bounds_are_the_callers() -> None:
    assert load_yaml("[1, 2]", most=3) == [1, 2]
    with pytest.raises(NotYAML, match="more than 2 values"):
        load_yaml("[1, 2]", most=2)
    for load in (load_yaml, load_json_or_yaml):
        with pytest.raises(NotYAML, match="is larger than 1 MiB"):
            load("a" * ((1 << 20) + 1), largest=1 << 20)


def test_where_it_is_none() -> None:
    with pytest.raises(NotYAML) as caught:
        load_yaml("a: 1\nb: [\n")
    assert caught.value.line == 3


def test_json() -> None:
    assert load_json('{"a": [1]}') == {"a": [1]}
    assert load_json_or_yaml(b'{"a": [1]}') == {"a": [1]}
    wide = [[number] for number in range(200)]
    assert load_json(json.dumps(wide)) == wide
    with pytest.raises(NotYAML, match=r"^is not JSON \(line 2\)$") as caught:
        load_json(f'{{"a":\n{CANARY}')
    assert caught.value.__context__ is None
    with pytest.raises(NotYAML, match=r"^is neither JSON nor YAML \(line 1\)$"):
        load_json_or_yaml("a: b: c")


@pytest.mark.parametrize("levels", [101, 400, _DEPTH])
def test_json_that_is_nested_without_end(levels: int) -> None:
    for text in ("[" * levels + "]" * levels, '{"a":' * levels + "1" + "}" * levels):
        for load in (load_json, load_json_or_yaml):
            with pytest.raises(NotYAML, match="is nested more than 100 levels deep"):
                load(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", None),
        ("a: {b: 1}\nc: {b: 1}\n", None),
        ("a: &a {b: 1}\nc: {<<: *a, b: 2}\nd: [*a, *a]\n", None),
        ("a: 1\n'1': 1\n1: 1\n", None),
        ("a: 1\nb: 1\na: 1\n", (("a",), 3)),
        ("a: [1, {b: 1, b: 2}]\n", (("a", 1, "b"), 1)),
    ],
)
def test_a_key_that_is_there_twice(text: str, found: object) -> None:
    assert repeated_key(text) == found
