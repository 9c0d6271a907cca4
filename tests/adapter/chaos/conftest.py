# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fixtures of the chaos tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapter.chaos.world import ChaosWorld
from tests.lab.session import KubernetesEnv
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.secret_manager import SecretManagerLab


@pytest.fixture
def world(
    hyperfleet: HyperFleetLab, server: KubernetesEnv, secret_manager: SecretManagerLab, tmp_path: Path
) -> ChaosWorld:
    return ChaosWorld(hyperfleet, server, secret_manager, tmp_path)
