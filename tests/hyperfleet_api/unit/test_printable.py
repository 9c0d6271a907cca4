# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is printed of a cluster that contains a credential in a wrong place."""

from __future__ import annotations

import base64

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.printable import (
    shown_cluster,
    shown_conditions,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.statuses import (
    AdapterStatus,
    Condition,
)

AUTH = base64.b64encode(b"robot:CanaryPassw0rd78\n").decode()


def test_a_credential_in_a_clusters_parts_is_not_shown() -> None:
    condition = Condition("Available", "True", "Done", "well")
    conditions = [
        Condition(AUTH, "True", "Done", ""),
        Condition("Applied", "True", AUTH, "well"),
        Condition("Health", "False", "Done", f"refused: {AUTH}, see the log"),
    ]
    assert AUTH not in str(shown_conditions(conditions))
    cluster = {
        "id": "cls-1",
        "name": AUTH,
        "generation": 1,
        "labels": {"a": AUTH, AUTH: "b"},
        "spec": {"gcp": {"projectId": AUTH}},
    }
    status = AdapterStatus(AUTH, 1, {one.type: one for one in conditions}, {"a": AUTH}, {"b": AUTH})
    assert AUTH not in str(shown_cluster(cluster, {AUTH: status}))
    kept = shown_conditions([condition])
    assert kept == {"Available": {"status": "True", "reason": "Done", "message": "well"}}
