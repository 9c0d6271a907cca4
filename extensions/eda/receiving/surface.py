# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whom the source tells what happens: metrics and health, where there is an AdapterConfig that says how."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Optional

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.telling import Telling
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import missing_package

__all__ = ["open_surface"]

_SURFACE = "ansible_collections.hyperfleet.pull_secret.extensions.eda.surface.opening"


@asynccontextmanager
async def open_surface(config: Optional[Any]) -> AsyncIterator[Telling]:
    """For the time of the block.

    :raises ConfigurationError: its port cannot be had, or a package is missing.
    """
    if config is None:
        yield Telling()
        return
    try:
        surface = importlib.import_module(_SURFACE)
    except ModuleNotFoundError as error:
        if not _SURFACE.startswith(str(error.name)):
            raise missing_package(error, str(error.name)) from None
        yield Telling()
        return
    async with surface.open_surface(config) as telling:
        yield telling
