# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Starts metrics and health if an AdapterConfig describes them."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.recorder import ActivityRecorder
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import missing_package

__all__ = ["open_recorder"]

_MONITORING = "ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.start"


@asynccontextmanager
async def open_recorder(config: Any | None) -> AsyncIterator[ActivityRecorder]:
    """The recorder to use inside the block; its HTTP server runs as long.

    :raises ConfigurationError: its port cannot be had, or a package is missing.
    """
    if config is None:
        yield ActivityRecorder()
        return
    try:
        monitoring = importlib.import_module(_MONITORING)
    except ModuleNotFoundError as error:
        if not _MONITORING.startswith(str(error.name)):
            raise missing_package(error, str(error.name)) from None
        yield ActivityRecorder()
        return
    async with monitoring.start_monitoring(config) as recorder:
        yield recorder
