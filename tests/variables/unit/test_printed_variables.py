# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the variables of a task that contain both a secret and a template."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.printed_variables import (
    printed_variables,
)

_VARIABLES = {
    "safe": {"secret": "{{ document }}", "dest": "{{ base }}"},
    "document": "canary",
    "base": "/etc",
    "beside": [{"secret": "canary"}, {"dest": "{{ base }}"}],
    "within": "canary {{ base }}",
    "statement": {"secret": "canary", "dest": "{% if base %}x{% endif %}"},
    "far": "{{ nearer.there | default('x') }}",
    "nearer": {"there": "{{ beside | my.own.filter(base) }}"},
    "round": "{{ round_again }}",
    "round_again": "{{ round }}",
    "broken": "{{ base",
}


class _Unsafe(str):
    __UNSAFE__ = True


def _found(value: Any, loop: Any = None, **more: Any) -> list[str]:
    task = SimpleNamespace(untemplated_args=value, loop=loop)
    return printed_variables(task, {**_VARIABLES, **more}, lambda given: "canary" in str(given))


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"targets": "{{ safe }}"}, []),
        ({"source": {"inline": "{{ document }}"}, "dest": "{{ base }}"}, []),
        ({"targets": "{{ beside }}"}, ["beside"]),
        ({"targets": "{{ beside | map('combine', within) }}"}, ["beside", "within"]),
        ({"targets": ["{{ statement.secret }}"]}, ["statement"]),
        ({"targets": "{{ far }}"}, ["beside"]),
        ({"targets": "{{ round }} {{ broken }} {{ unknown }} {{ hostvars }}"}, []),
        ({"targets": "{{ beside"}, []),
    ],
)
def test_variables_are_found_through_others(arguments: Any, found: list[str]) -> None:
    assert _found(arguments) == found


def test_a_loops_variables_count() -> None:
    assert _found({"source": "{{ item }}"}, loop="{{ beside }}") == ["beside"]


def test_what_is_unsafe_is_no_template() -> None:
    assert _found({"source": "{{ given }}"}, given=_Unsafe("canary {{ base }}")) == []
    assert _found({"source": "{{ given }}"}, given=[_Unsafe("canary {{"), "{{ base }}"]) == ["given"]


def test_a_task_without_arguments_of_its_own() -> None:
    """Such as a task that an action plugin has made."""
    assert printed_variables(SimpleNamespace(loop=None), _VARIABLES, lambda _given: True) == []
