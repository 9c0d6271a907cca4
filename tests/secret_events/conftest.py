# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What each test of the event source may ask for."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.support.secret_events.api_server import CANARY, TOKEN


@pytest.fixture
def no_secret_anywhere(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing that was logged, however verbosely, has a secret in it."""
    caplog.set_level(logging.DEBUG)
    yield
    # ``caplog.text`` is the teardown's by now.
    said = "\n".join(map(logging.Formatter().format, caplog.get_records("call")))
    assert CANARY not in said
    assert TOKEN not in said
