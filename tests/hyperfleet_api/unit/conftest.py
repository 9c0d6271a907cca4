# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures that start a stand-in for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from tests.hyperfleet_api.unit.support import World
from tests.stand_ins.hyperfleet import HyperFleetLab


@pytest.fixture
def start() -> Iterator[Callable[..., World]]:
    """Start a stand-in with the given options, and stop it after the test."""
    labs: list[HyperFleetLab] = []

    def begin(**options: Any) -> World:
        labs.append(HyperFleetLab(**options).start())
        return World(labs[-1])

    yield begin
    for lab in labs:
        lab.stop()


@pytest.fixture
def world(start: Callable[..., World]) -> World:
    """The stand-in with default options, without authentication."""
    return start()


@pytest.fixture
def deadline() -> Deadline:
    return Deadline(10.0)
