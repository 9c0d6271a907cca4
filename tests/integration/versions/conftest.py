# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The world of the tests about versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.versions.world import World
from tests.lab.kubernetes import KubernetesLab
from tests.lab.secret_manager import SecretManagerLab


@pytest.fixture
def world(secret_manager: SecretManagerLab, kubernetes: KubernetesLab, tmp_path: Path) -> World:
    """Stand-ins of the test's own."""
    return World(secret_manager, kubernetes, tmp_path)
