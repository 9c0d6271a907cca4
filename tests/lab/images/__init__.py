# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Images for the lab, made without a container engine: ``pause``, small ones, the collection's."""

from __future__ import annotations

from tests.lab.images.archive import unpack, write_archive
from tests.lab.images.execution_environment import (
    ENVIRONMENT_IMAGE,
    build_execution_environment,
    environment_packages,
)
from tests.lab.images.pause import pause_archive, small_image
from tests.lab.images.programs import build_job, build_syncer, python_base

__all__ = [
    "ENVIRONMENT_IMAGE",
    "build_execution_environment",
    "build_job",
    "build_syncer",
    "environment_packages",
    "pause_archive",
    "python_base",
    "small_image",
    "unpack",
    "write_archive",
]
