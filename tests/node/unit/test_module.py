# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The module's result of a node's result: what fails, and what an error contains."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.store import Store
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import kubelet_auth_sync
from tests.node.unit.support import Place, document

Module = Callable[..., dict[str, Any]]


@pytest.fixture
def module(place: Place, monkeypatch: pytest.MonkeyPatch) -> Module:
    monkeypatch.setattr(kubelet_auth_sync, "open_systemd", lambda *_args, **_options: place.systemd)
    defaults = {name: option.get("default") for name, option in kubelet_auth_sync.spec().items()}
    here = {"path": str(place.path), "healthz": "", "window": 0.0, "backoff": 0.0, "lock_timeout": 0.1}
    source = {"inline": json.dumps(document(quay_io="new"))}

    def run(check_mode: bool = False, **options: Any) -> dict[str, Any]:
        given = {**defaults, **here, "source": source, **options}
        return kubelet_auth_sync.run(given, check_mode=check_mode, diff=False)

    return run


def test_a_kubelet_that_is_left_to_be_watched_is_no_failure(module: Module) -> None:
    assert module(restart="deferred")["state"] == "pending"
    for changed in (True, False):
        restarted = module(state="restarted", rollback=False)
        assert (restarted["state"], restarted["changed"]) == ("pending", changed)
        assert "failed" not in restarted
    assert module(state="healthy")["state"] == "in-sync"
    assert module(restart="deferred")["state"] == "in-sync"


def test_what_was_written_is_told_with_the_failure(place: Place, module: Module) -> None:
    with Store(str(place.path), place.clock).restarting():
        result = module()
    assert (result["failed"], result["changed"], result["actions"]) == (True, True, ["written"])
    assert (result["state"], result["restart"]["needed"]) == ("pending", True)
    assert "another process holds the lock for restarting on this node" in result["msg"]
    assert module()["actions"] == ["restarted"]
