# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting in asyncio tests; :func:`tests.lab.supervisor.wait_until` is for the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def until(true: Callable[[], object], seconds: float = 180) -> None:
    """Poll until the condition is true; TimeoutError when the time is over."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)
