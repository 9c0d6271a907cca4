# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether other nodes failed with the Secret while the API server does not answer that."""

from __future__ import annotations

import json

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.api import ApiError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.wire import WireError
from tests.node.syncer.unit.fleet import HOUR, MINUTE, STATUS, Fleet
from tests.node.syncer.world import document


def unanswered(fleet: Fleet, error: Exception) -> None:
    fleet.server.refuses = lambda method, path: error if (method, path) == ("GET", STATUS) else None


def others_failed(fleet: Fleet, version: str, state: str = "failed") -> None:
    said = json.dumps({"resourceVersion": version, "state": state, "message": "x"})
    fleet.server.call("PATCH", STATUS, {"data": {"node-9": said}})


ERRORS = [ApiError(503, "", "busy"), ApiError(404, "NotFound", "not there"), WireError("no answer")]


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_who_is_held_stays_so_until_it_is_told(fleet: Fleet, error: Exception) -> None:
    node = fleet.node()
    others_failed(fleet, "1")
    fleet.settle(node, "held", fleet.put(document("example-bad")))
    unanswered(fleet, error)
    fleet.run(12 * HOUR)
    # Neither another version with the same content nor a foreign edit of the file changes that.
    fleet.put(document("example-bad") + b"\n")
    fleet.run(HOUR)
    node.path.write_bytes(b'{"auths": {}}')
    fleet.run(HOUR)
    assert node.password == "example-bad"
    assert node.kubelet.restarts == 0
    assert fleet.server.holder == ""
    others_failed(fleet, "2", "in-sync")
    fleet.server.refuses = lambda _method, _path: None
    fleet.settle(node, "in-sync", "2")


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_who_has_not_been_told_waits_a_little(fleet: Fleet, error: Exception) -> None:
    node = fleet.node()
    unanswered(fleet, error)
    began, version = fleet.now, fleet.put(document("example-good"))
    fleet.settle(node, "pending", version)
    assert "state of the other nodes" in node.status["message"]
    fleet.run(20)
    assert (node.kubelet.restarts, fleet.server.holder) == (0, ""), "it must leave the slot to others"
    fleet.settle(node, "in-sync", version)
    assert node.runs[0][0] - began < 1.5 * MINUTE


def test_who_has_not_been_told_is_told_meanwhile(fleet: Fleet) -> None:
    node = fleet.node()
    unanswered(fleet, ERRORS[0])
    version = fleet.put(document("example-bad"))
    fleet.run(20)
    others_failed(fleet, version)
    fleet.server.refuses = lambda _method, _path: None
    fleet.settle(node, "held", version)
    assert node.kubelet.restarts == 0
