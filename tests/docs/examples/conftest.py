# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The world of a plugin's examples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.examples.documents import documents, parse
from tests.docs.examples.world import World, started


@pytest.fixture
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """For a test ``test_modules_gcp_pull_secret``: a world with that plugin's examples, which it has to run."""
    plugin = request.function.__name__.removeprefix("test_").replace("_", "/", 1)
    with started(tmp_path) as world:
        world.examples = parse(documents()[plugin])
        yield world
        assert not world.examples, "not all examples were run"
