# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hostile user once broke, by number. A test names its items with ``@pytest.mark.hardening(N)``.

``pytest -k hardening`` runs these tests. tests/tools/unit/test_hardening.py checks that each item has one.
"""

from __future__ import annotations

__all__ = ["ITEMS"]

ITEMS = {
    1: "an undefined variable is an error, never an option that was not given",
    2: "a replication policy of another shape is refused, and one reading of a cluster's spec serves all",
    3: "unknown role and playbook variables are refused, and all options are checked before the first write",
    4: "a value of the wrong shape is refused with the option's name",
    5: "dockerconfig_merge removes and replaces docker configs only",
    6: "an older version never takes the place of a newer one",
    7: "a misplaced auth value is recognised, whatever its bytes",
    8: "a registry key never shows a credential",
    9: "ansible-core 2.18 and loops show no inline document",
    10: "callbacks see no secret in a task's arguments",
    11: "the canary tests cover every plugin",
    12: "YAML has bounds on aliases, merges, depth and size",
    13: "a killed run leaves no worker and no digest key",
    14: "numbers and paths have bounds, and errors name the option",
    15: "a string in the place of a mapping is refused with the option's name",
    16: "no kubeconfig reaches a link-local address",
    17: "a syncer's status is never lost",
    18: "a LIST that never ends is ended",
    19: "no test depends on the machine's speed",
}
