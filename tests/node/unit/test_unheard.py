# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A running kubelet whose ``healthz`` does not answer is never restarted for a file that is not the cause.

A file that may fix it is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import DockerConfig
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.health import (
    HealthzUnreachable,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.result import SyncResult
from tests.node.unit.support import Answering, Place, config, document

OLD = document(ecr_example="x")
WANTED = config(quay_io="new")


class Door(Answering):
    """A ``healthz`` endpoint that is silent until it is given an answer."""

    @property
    def status(self) -> int:
        return int(self.answer.split()[1]) if self.answer else 0

    @status.setter
    def status(self, status: int) -> None:
        self.answer = f"HTTP/1.1 {status} x\r\n\r\n".encode() if status else b""


@pytest.fixture
def door() -> Iterator[Door]:
    made = Door()
    yield made
    made.close()


@pytest.fixture
def options(door: Door) -> dict[str, Any]:
    return {"healthz": door.url, "ready_timeout": 1.0, "window": 0.5, "attempts": 1}


@pytest.mark.parametrize(("status", "says"), [(0, "does not speak HTTP"), (404, "answers 404")])
def test_nothing_is_written_and_nothing_restarted(
    place: Place, door: Door, options: dict[str, Any], status: int, says: str
) -> None:
    place.put(OLD)
    door.status = status
    said = f"kubelet runs, but healthz {says} ({door.url}); nothing was written; check that `healthz` is"
    for restart in ("on_change", "deferred"):
        sync = place.sync(**options, restart=restart)
        for work in (sync.plan, sync.apply):
            with pytest.raises(HealthzUnreachable, match=re.escape(said)):
                work(WANTED)
    assert place.beside() == ["config.json"]
    assert place.auths() == OLD["auths"]
    assert place.systemd.restarts == 0
    assert place.sync(**options, restart="never").apply(WANTED).state == "in-sync"


def test_no_server_at_the_healthz_url(place: Place) -> None:
    with pytest.raises(HealthzUnreachable, match="cannot be reached: Connection refused"):
        place.sync(healthz="http://127.0.0.1:1/healthz", ready_timeout=60.0).apply(WANTED)
    assert 60 <= place.clock.time - 1000 < 61
    # Only a sync that restarts may hold a slot.
    place.sync(healthz="", restart="deferred").apply(WANTED)
    begun = place.clock.time
    with pytest.raises(HealthzUnreachable, match="cannot be reached: Connection refused"):
        place.sync(healthz="http://127.0.0.1:1/healthz", ready_timeout=60.0).settle()
    assert 5 <= place.clock.time - begun < 6


def test_without_a_change_it_is_no_matter(place: Place, options: dict[str, Any]) -> None:
    place.sync().apply(WANTED)
    assert place.sync(**options).apply(WANTED).state == "in-sync"


def test_a_kubelet_that_was_just_started_is_waited_for(
    place: Place, door: Door, options: dict[str, Any]
) -> None:
    """It was started by a reboot, ``kubeadm join`` or the task before; systemd reports Type=simple as up at
    once.
    """
    sleep, begun = place.clock.sleep, place.clock.time

    def later(seconds: float) -> None:
        sleep(seconds)
        if place.clock.time - begun >= 8:
            door.status = 200

    place.clock.sleep = later  # type: ignore[method-assign]
    assert place.sync(**{**options, "ready_timeout": 60.0}).apply(WANTED).state == "in-sync"


@pytest.mark.parametrize("way", ["plan", "apply"])
def test_a_stop_waits_for_no_kubelet(place: Place, door: Door, way: str) -> None:
    door.status = 0
    asked = place.clock.time
    with pytest.raises(PullSecretError, match="interrupted; nothing was written"):
        getattr(place.sync(healthz=door.url, ready_timeout=60.0), way)(WANTED, stop=lambda: True)
    assert place.clock.time - asked < 1
    assert place.beside() == []


def _down(place: Place) -> None:
    place.systemd.now = place.systemd.now._replace(active="failed", sub="failed")


def _crashing(place: Place) -> None:
    """Kubelet is up at the first check and ends soon after."""
    up = place.systemd.now
    place.systemd.later = [up] * 4 + [up._replace(active="activating", sub="auto-restart")]


def _started_again(place: Place) -> None:
    place.systemd.now = place.systemd.now._replace(restarts=7)


@pytest.mark.parametrize("state", [_down, _crashing, _started_again], ids=lambda state: state.__name__)
def test_a_kubelet_that_fails_with_the_old_file_gets_the_new_one(
    place: Place, door: Door, options: dict[str, Any], state: Callable[[Place], None]
) -> None:
    place.put(OLD)
    state(place)

    def restarted(_number: int) -> None:
        door.status = 200

    place.systemd.on_restart = restarted
    assert place.sync(**options).apply(WANTED).state == "in-sync"
    assert place.systemd.restarts == 1


def test_a_kubelet_that_is_stopped_gets_it_too(place: Place, options: dict[str, Any]) -> None:
    place.systemd.now = place.systemd.now._replace(active="inactive", sub="dead")
    assert place.sync(**options).apply(WANTED).state == "in-sync"


def test_a_kubelet_that_says_itself_that_it_is_unwell_is_restarted(
    place: Place, door: Door, options: dict[str, Any]
) -> None:
    door.status = 500

    def restarted(_number: int) -> None:
        door.status = 200

    place.systemd.on_restart = restarted
    assert place.sync(**options).apply(WANTED).state == "in-sync"


def test_what_failed_and_could_not_be_rolled_back_can_be_replaced(
    place: Place, door: Door, options: dict[str, Any]
) -> None:
    """Our file may be why kubelet does not answer."""
    place.put(OLD)
    door.status = 200

    def restarted(_number: int) -> None:
        (place.path.parent / "config.json.hyperfleet-backup").unlink(missing_ok=True)
        door.status = 0

    place.systemd.on_restart = restarted
    assert "could not be rolled back" in place.sync(**options).apply(WANTED).message

    def mended(_number: int) -> None:
        door.status = 200

    place.systemd.on_restart = mended
    assert place.sync(**options).apply(config(quay_io="newer")).state == "in-sync"


def test_a_roll_back_is_never_refused(place: Place, door: Door, options: dict[str, Any]) -> None:
    place.put(OLD)
    door.status = 200
    place.sync(**options, restart="deferred").apply(WANTED)
    door.status = 0
    assert place.sync(**options).roll_back().actions == ["rolled back", "restarted"]
    assert place.auths() == OLD["auths"]


def test_a_write_that_is_not_restarted_with_yet_stays_pending(
    place: Place, door: Door, options: dict[str, Any]
) -> None:
    """The syncer's order: it writes first, and kubelet reads the file later."""
    sync = place.sync(**options)
    sync.write(WANTED)
    for work in (sync.plan_settle, sync.settle):
        with pytest.raises(HealthzUnreachable, match="it was not restarted"):
            work()
    assert place.ledger()["pending"] is not None
    assert "quay.io" in place.auths()
    door.status = 200
    assert sync.settle().state == "in-sync"


def test_a_kubelet_that_falls_silent_after_the_write(
    place: Place, door: Door, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    door.status = 200
    sync = place.sync(**options)
    write = sync.write

    def written(desired: DockerConfig | None) -> SyncResult:
        result = write(desired)
        door.status = 0
        return result

    monkeypatch.setattr(sync, "write", written)
    result = sync.apply(WANTED)
    assert (result.state, result.actions) == ("pending", ["written"])
    assert "it was not restarted" in result.message
