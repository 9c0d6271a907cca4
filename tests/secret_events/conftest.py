# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks for every test of the event source."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.support.secret_events.api_server import CANARY, TOKEN


@pytest.fixture
def no_secret_anywhere(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail if any log record, at any level, contains a secret."""
    caplog.set_level(logging.DEBUG)
    yield
    # ``caplog.text`` holds only the teardown's records by now.
    said = "\n".join(map(logging.Formatter().format, caplog.get_records("call")))
    assert CANARY not in said
    assert TOKEN not in said
