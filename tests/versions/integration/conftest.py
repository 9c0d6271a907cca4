# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures of the tests about versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.versions.integration.world import World


@pytest.fixture
def world(secret_manager: SecretManagerLab, kubernetes: KubernetesLab, tmp_path: Path) -> World:
    """Stand-ins for this test only."""
    return World(secret_manager, kubernetes, tmp_path)
