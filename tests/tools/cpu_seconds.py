# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pytest plugin (``-p tests.tools.cpu_seconds``) that adds each test's CPU seconds to the JUnit report.

It counts this process and its children that have ended. The CPU seconds of a server that outlives a test count for
the test in which the server ends.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

__all__ = ["PROPERTY"]

PROPERTY = "cpu_seconds"
_BEGAN = pytest.StashKey[float]()


def _used() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[_BEGAN] = _used()
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if call.when == "teardown":
        item.user_properties.append((PROPERTY, f"{_used() - item.stash[_BEGAN]:.3f}"))
