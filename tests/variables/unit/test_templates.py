# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the variables that the templates in a value read."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.templates import is_referred_to, used


class _Unsafe(str):
    __UNSAFE__ = True


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ({"{{ key }}": ["{{ item }}", ("{% if test %}x{% endif %}",)]}, ["key", "item", "test"]),
        (_Unsafe("{{ one }}"), []),
        ("{{ 'one' }}", []),
        ("{{ one", []),
        ("one", []),
    ],
)
def test_the_variables_that_templates_read(value: Any, names: list[str]) -> None:
    assert list(used(value)) == names


def test_only_what_reads_a_variable_refers_to_it() -> None:
    assert is_referred_to("one", {"other": {"{{ one }}": 1}})
    assert not is_referred_to("one", {"other": "{{ 'one' }}"})
    assert not is_referred_to("one", {"other": _Unsafe("{{ one }}")})
