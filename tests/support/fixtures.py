# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures for all tests (a plugin of the root conftest.py): the stand-ins, and Ansible as a process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # every pytest process reads this file, few of them have stand-ins
    from tests.stand_ins.hyperfleet import HyperFleetLab
    from tests.stand_ins.kubernetes import KubernetesLab
    from tests.stand_ins.secret_manager import SecretManagerLab
    from tests.support.late import Clock
    from tests.support.processes import Ansible


@pytest.fixture
def clock() -> Clock:
    """The time of a Secret Manager that answers late."""
    from tests.support.late import Clock

    return Clock()


@pytest.fixture
def secret_manager(request: pytest.FixtureRequest, clock: Clock) -> Iterator[SecretManagerLab]:
    """A Secret Manager of the test's own, which counts calls by resource, too."""
    from tests.stand_ins.secret_manager import SecretManagerLab
    from tests.support.late import AT_ONCE, LATE, late_secret_manager

    if getattr(request, "param", AT_ONCE) == LATE:
        with late_secret_manager(clock) as lab:
            yield lab
    else:
        with SecretManagerLab() as lab:
            yield lab


@pytest.fixture
def kubernetes() -> Iterator[KubernetesLab]:
    """A Kubernetes API of the test's own."""
    from tests.stand_ins.kubernetes import KubernetesLab

    with KubernetesLab() as lab:
        yield lab


@pytest.fixture
def hyperfleet() -> Iterator[HyperFleetLab]:
    """A HyperFleet API of the test's own."""
    from tests.stand_ins.hyperfleet import HyperFleetLab

    with HyperFleetLab() as lab:
        yield lab


@pytest.fixture
def ansible(tmp_path: Path) -> Ansible:
    """Runs modules and playbooks with the ansible-core of this interpreter; set addresses in its ``env``."""
    from tests.support.processes import Ansible

    return Ansible(tmp_path / "ansible")
