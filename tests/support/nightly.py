# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks all but a few of a test's parameters as nightly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def some(values: Iterable[Any], *fast: Any) -> list[Any]:
    """The values as parameters, in their order; ``fast``: what the gate tries, else the first one."""
    parameters = list(values)
    chosen = list(fast) or parameters[:1]
    assert all(value in parameters for value in chosen), "``fast`` has an unknown value"
    return [value if value in chosen else _nightly(value) for value in parameters]


def _nightly(value: Any) -> Any:
    # Of several names, a parameter is a tuple.
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=pytest.mark.nightly)
