# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the modules for the HyperFleet API."""

from __future__ import annotations

import json

from tests.docs.world import World
from tests.stand_ins.hyperfleet.api import Request
from tests.support.processes import Finished


def two_clusters(world: World) -> None:
    """One of them placed."""
    world.hyperfleet.store.seed([{"id": "cls-123", "labels": {"env": "production"}}, {"id": "cls-456"}])
    conditions = [
        {"type": kind, "status": "True", "reason": "Placed"} for kind in ("Available", "Applied", "Health")
    ]
    report = {"adapter": "placement", "observed_generation": 1, "conditions": conditions}
    report["data"] = {"namespace": "clusters-cls-123"}
    path = "/api/hyperfleet/v1/clusters/cls-123/statuses"
    assert world.hyperfleet.answer(Request("PUT", path, "", {}, json.dumps(report).encode()))[0] == 201


def both_read(world: World, done: Finished) -> None:
    assert [cluster["id"] for cluster in done.result["clusters"]] == ["cls-123", "cls-456"]


def namespace_shown(world: World, done: Finished) -> None:
    assert done.result["msg"] == "clusters-cls-123"


def one_found(world: World, done: Finished) -> None:
    assert [cluster["id"] for cluster in done.result["clusters"]] == ["cls-123"]
    assert done.result["clusters"][0]["statuses"] == {}


def heard(world: World, done: Finished) -> None:
    assert done.result["targets"][0]["accepted"]
    held = {report.adapter: report for report in world.hyperfleet.store.statuses("cls-123")}
    assert held["pullsecret"].data == {"secret_version": "3"}
