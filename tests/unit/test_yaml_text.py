# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A text that is nested without end is an error, and not the end of the process: libyaml would crash."""

from __future__ import annotations

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.yaml_text import (
    NotYAML,
    load_yaml,
    repeated_key,
)

_DEPTH = 40_000


def test_yaml() -> None:
    assert load_yaml(b"a:\n- b: {c: [1]}\n") == {"a": [{"b": {"c": [1]}}]}
    assert load_yaml("a: \u00e4") == {"a": "\u00e4"}
    many = "\n".join(f"- {{number: {number}}}" for number in range(1500))
    assert load_yaml(many) == [{"number": number} for number in range(1500)]


@pytest.mark.parametrize("text", ["a: [", "a: b: c", "\x00", "!!python/object:os.system {}", "&a [*b]"])
def test_no_yaml(text: str) -> None:
    with pytest.raises(ValueError, match=r"^not YAML$"):
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
    ],
)
def test_nested_without_end(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"^not YAML$"):
        load_yaml(text)


def test_where_it_is_none() -> None:
    with pytest.raises(NotYAML) as caught:
        load_yaml("a: 1\nb: [\n")
    assert caught.value.line == 3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", None),
        ("a: {b: 1}\nc: {b: 1}\n", None),
        ("a: &a {b: 1}\nc: {<<: *a, b: 2}\nd: [*a, *a]\n", None),
        ("a: &a [*a]\n", None),
        ("a: 1\n'1': 1\n1: 1\n", None),
        ("a: 1\nb: 1\na: 1\n", (("a",), 3)),
        ("a: [1, {b: 1, b: 2}]\n", (("a", 1, "b"), 1)),
    ],
)
def test_a_key_that_is_there_twice(text: str, found: object) -> None:
    assert repeated_key(text) == found
