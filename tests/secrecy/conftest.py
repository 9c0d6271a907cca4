# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stand-ins and a watcher for each test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.secrecy.watcher import Watcher
from tests.support.secrecy.labs import Labs


@pytest.fixture
def labs() -> Iterator[Labs]:
    with ExitStack() as stack:
        yield Labs.start(stack)


@pytest.fixture
def watcher(tmp_path_factory: pytest.TempPathFactory) -> Watcher:
    # A short name: ansible-core 2.21 creates a socket below it, and a socket's path is limited to 107
    # characters.
    return Watcher(tmp_path_factory.mktemp("w"))
