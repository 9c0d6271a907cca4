# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The scenarios of extensions/molecule, run by `make molecule`. In the gate, test_role.py has the roll-out."""

from __future__ import annotations

import pytest

from tests.tools import molecule

pytestmark = [pytest.mark.real("nodes"), pytest.mark.nightly]


@pytest.mark.parametrize("scenario", molecule.scenarios())
def test_scenario(scenario: str) -> None:
    done = molecule.run(scenario)
    assert done.returncode == 0, done.stdout[-6000:]
    # Every part has run.
    for part in ("create", "check", "converge", "idempotence", "verify", "destroy"):
        assert f"{scenario} > {part}: Executed: Successful" in done.stdout
