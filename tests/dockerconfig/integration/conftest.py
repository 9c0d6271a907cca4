# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs ``dockerconfig_merge`` in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import dockerconfig_merge
from tests.support.kubernetes.running import run_task

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run() -> Run:
    """Call it with the module's options as keywords, and with ``check_mode`` and ``diff``."""

    def call(*, check_mode: bool = False, diff: bool = False, **params: Any) -> dict[str, Any]:
        return run_task(dockerconfig_merge, params, check_mode=check_mode, diff=diff)

    return call
