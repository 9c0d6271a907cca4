# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of many parameters the fast tests try: ``make fast`` takes a few, ``make exhaustive`` the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def some(values: Iterable[Any], *fast: Any) -> list[Any]:
    """The values as parameters, in their order; ``fast``: what the fast tests try, else the first one."""
    given = list(values)
    chosen = list(fast) or given[:1]
    assert all(value in given for value in chosen), "a value that is not there"
    return [value if value in chosen else _exhaustive(value) for value in given]


def _exhaustive(value: Any) -> Any:
    # Of several names, a parameter is a tuple.
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=pytest.mark.exhaustive)
