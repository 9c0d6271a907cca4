# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by the integration tests: the stand-ins, and Ansible as a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.late import AT_ONCE, LATE, Clock, late_secret_manager
from tests.integration.processes import Ansible
from tests.lab.hyperfleet import HyperFleetLab
from tests.lab.kubernetes import KubernetesLab
from tests.lab.secret_manager import SecretManagerLab


@pytest.fixture
def clock() -> Clock:
    """The time of a Secret Manager that answers late."""
    return Clock()


@pytest.fixture
def secret_manager(request: pytest.FixtureRequest, clock: Clock) -> Iterator[SecretManagerLab]:
    """A Secret Manager of the test's own, which counts calls by resource, too."""
    if getattr(request, "param", AT_ONCE) == LATE:
        with late_secret_manager(clock) as lab:
            yield lab
    else:
        with SecretManagerLab(per_resource=True) as lab:
            yield lab


@pytest.fixture
def kubernetes() -> Iterator[KubernetesLab]:
    """A Kubernetes API of the test's own."""
    with KubernetesLab() as lab:
        yield lab


@pytest.fixture
def hyperfleet() -> Iterator[HyperFleetLab]:
    """A HyperFleet API of the test's own."""
    with HyperFleetLab() as lab:
        yield lab


@pytest.fixture
def ansible(tmp_path: Path) -> Ansible:
    """Runs modules and playbooks with the ansible-core of this interpreter; set addresses in its ``env``."""
    return Ansible(tmp_path / "ansible")
