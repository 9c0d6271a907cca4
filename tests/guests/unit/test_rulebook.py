# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rulebook passes the role's variables on."""

from __future__ import annotations

import yaml

from tests.tools.env import ROOT

# It would be in a file of each run.
_KEPT = {"guest_cluster_digest_key"}


def test_it_passes_on_what_the_role_takes() -> None:
    text = (ROOT / "extensions" / "eda" / "rulebooks" / "guest_cluster.yml").read_text()
    ((book),) = yaml.safe_load(text)
    passed = book["rules"][0]["action"]["run_playbook"]["extra_vars"]
    role = yaml.safe_load((ROOT / "roles" / "guest_cluster" / "defaults" / "main.yml").read_text())
    assert set(passed) == set(role) - _KEPT
    assert [name for name, value in passed.items() if not value.startswith(f"{{{{ {name} ")] == []
