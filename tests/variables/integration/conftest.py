# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All services that a playbook could reach, so that a test can check that it reached none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager.lab import SecretManagerLab
from tests.support.processes import Ansible
from tests.variables.integration.world import World


@pytest.fixture
def world(
    kubernetes: KubernetesLab,
    secret_manager: SecretManagerLab,
    hyperfleet: HyperFleetLab,
    ansible: Ansible,
    tmp_path: Path,
) -> World:
    return World(kubernetes, secret_manager, hyperfleet, ansible, tmp_path)
