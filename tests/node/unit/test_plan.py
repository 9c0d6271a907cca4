# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check mode predicts the next run: for every state of files and kubelet, and every combination of options."""

from __future__ import annotations

import copy
import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.result import SyncResult
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.store import Store
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.sync import Synchroniser
from tests.node.unit.support import Place, auth, config, document
from tests.support.nightly import some

A, B, OTHER = config(quay_io="a"), config(quay_io="b"), config(ghcr_io="c")
WANTED = {"a": A, "b": B, "other": OTHER, "nothing": None}


class Killed(BaseException):
    pass


def killed() -> str:
    raise Killed


def _none(_place: Place) -> None:
    pass


def _others(place: Place) -> None:
    place.put({"HttpHeaders": 7, **document(ecr_example="x", quay_io="theirs")})


def _no_docker_config(place: Place) -> None:
    place.put(b'{"auths": {},}')


def _in_its_place(place: Place) -> None:
    _no_docker_config(place)
    place.sync().apply(A)


def _spoilt(place: Place) -> None:
    place.sync().apply(A)
    _no_docker_config(place)


def _in_sync(place: Place) -> None:
    _others(place)
    place.sync().apply(A)


def _edited(place: Place) -> None:
    _in_sync(place)
    place.put({"auths": {**place.auths(), "ecr.example": auth("fresh")}})


def _taken_over(place: Place) -> None:
    _in_sync(place)
    place.put(document(quay_io="theirs"))


def _never(place: Place) -> None:
    _in_sync(place)
    place.sync(restart="never").apply(B)


def _deferred(place: Place) -> None:
    _in_sync(place)
    place.sync(restart="deferred").apply(B)


def _deferred_and_edited(place: Place) -> None:
    _deferred(place)
    place.put({"auths": {**place.auths(), "ecr.example": auth("fresh")}})


def _noted_only(place: Place) -> None:
    """Killed after the ledger was written and before the file was."""
    _in_sync(place)
    before = place.path.read_bytes()
    place.sync(restart="deferred").apply(B)
    place.path.write_bytes(before)


def _before_the_restart(place: Place) -> None:
    _in_sync(place)
    place.systemd.script = [killed]
    with pytest.raises(Killed):
        place.sync().apply(B)


def _after_the_restart(place: Place) -> None:
    _in_sync(place)
    place.sync().apply(B, stop=lambda: place.systemd.restarts == 2)


def _crashing(place: Place) -> None:
    _after_the_restart(place)
    place.systemd.now = place.systemd.now._replace(active="activating", sub="auto-restart")


def _back_after_the_restart(place: Place) -> None:
    """The previous content is written again after the restart, but not restarted with."""
    _after_the_restart(place)
    place.sync(restart="deferred").apply(A)


def _failed(place: Place) -> None:
    _in_sync(place)
    place.systemd.script = ["failed"] * 3
    place.sync().apply(B)


def _failed_and_left(place: Place) -> None:
    _in_sync(place)
    place.systemd.script = ["failed"]
    place.sync(attempts=1, rollback=False).apply(B)


def _left_to_be_watched(place: Place) -> None:
    _deferred(place)
    place.sync(rollback=False, window=0.0).settle()


def _old_file_fails_too(place: Place) -> None:
    _in_sync(place)
    place.systemd.script = ["failed"] * 6
    place.sync().apply(B)


def _before_the_file_of_before(place: Place) -> None:
    _in_sync(place)
    place.systemd.script = ["failed"] * 3
    sync = place.sync()
    sync.write(B)
    sync._store.put = lambda _snapshot: killed()  # type: ignore[method-assign,assignment]
    with pytest.raises(Killed):
        sync.settle()


def _before_the_file_of_before_edited(place: Place) -> None:
    _before_the_file_of_before(place)
    place.put({"auths": {**place.auths(), "ecr.example": auth("fresh")}})


def _after_the_file_of_before(place: Place) -> None:
    _in_sync(place)
    place.systemd.script = ["failed"] * 3 + [killed]
    with pytest.raises(Killed):
        place.sync().apply(B)


def _without(name: str, state: Callable[[Place], None]) -> Callable[[Place], None]:
    def lost(place: Place) -> None:
        state(place)
        path = place.path.parent / f"config.json.{name}"
        path.write_bytes(b"{")

    lost.__name__ = f"{state.__name__}, {name} damaged"
    return lost


STATES = [
    _none,
    _others,
    _no_docker_config,
    _in_its_place,
    _spoilt,
    _in_sync,
    _edited,
    _taken_over,
    _never,
    _deferred,
    _deferred_and_edited,
    _noted_only,
    _before_the_restart,
    _after_the_restart,
    _crashing,
    _back_after_the_restart,
    _failed,
    _failed_and_left,
    _left_to_be_watched,
    _old_file_fails_too,
    _before_the_file_of_before,
    _before_the_file_of_before_edited,
    _after_the_file_of_before,
    *(
        _without(name, state)
        for name in ("hyperfleet", "hyperfleet-backup")
        for state in (_in_sync, _deferred, _failed, _failed_and_left, _before_the_file_of_before)
    ),
]
KUBELETS: dict[str, dict[str, str]] = {
    "as it is": {},
    "stopped": {"active": "inactive", "sub": "dead"},
    "failed": {"active": "failed", "sub": "failed"},
    "masked": {"load": "masked"},
}
OPTIONS: list[dict[str, Any]] = [
    {"restart": "on_change", "retry_failed": False},
    {"restart": "on_change", "retry_failed": True},
    {"restart": "never", "retry_failed": False},
    {"restart": "deferred", "retry_failed": False},
]

Work = Callable[[Synchroniser], SyncResult]


def _told(work: Work, sync: Synchroniser) -> SyncResult | str:
    try:
        return work(sync)
    except PullSecretError as error:
        return error.message


def _stamps(place: Place) -> list[tuple[str, int, int]]:
    return [
        (found.name, found.stat().st_ino, found.stat().st_mtime_ns) for found in place.path.parent.iterdir()
    ]


def compare(place: Place, options: dict[str, Any], plan: Work, do: Work) -> None:
    stamps, asked = _stamps(place), place.systemd.restarts
    foretold = _told(plan, place.sync(**options))
    assert _stamps(place) == stamps, "check mode has written"
    assert place.systemd.restarts == asked, "check mode has restarted"
    before = place.path.read_bytes() if place.path.exists() else None
    done = _told(do, place.sync(**options))
    if isinstance(done, str) or isinstance(foretold, str):
        assert foretold == done
        return
    after = place.path.read_bytes() if place.path.exists() else None
    assert foretold.actions == done.actions
    assert foretold.rolled_back == done.rolled_back
    assert foretold.needed == done.needed
    assert (foretold.state == "held") == (done.state == "held")
    assert (foretold.before, foretold.after) == (done.before, done.after)
    assert foretold.provenance == done.provenance
    assert set(foretold.warnings) <= set(done.warnings)
    # The result agrees with the restarts of the stand-in.
    assert ("restarted" in done.actions) == (place.systemd.restarts > asked)
    if not {"written", "rolled back"} <= set(done.actions):
        assert bool({"written", "removed", "rolled back"} & set(done.actions)) == (before != after)
    if done.state == "in-sync" and options["restart"] == "on_change":
        assert place.sync(**options).plan_settle().actions == []


def each(directory: Path, state: Callable[[Place], None]) -> Any:
    """Each state with each kubelet, made once and copied for each combination of options."""
    (directory / "made").mkdir()
    made = Place(directory / "made")
    state(made)
    for number, (kubelet, options) in enumerate(itertools.product(KUBELETS, OPTIONS)):
        for name in (*WANTED, "settle", "roll back"):
            where = directory / f"{number} {name}"
            shutil.copytree(made.path.parent, where)
            place = Place(where)
            place.systemd.now = copy.copy(made.systemd.now)._replace(**KUBELETS[kubelet])  # type: ignore[arg-type]
            place.systemd.count = made.systemd.count
            yield f"{kubelet}, {options}, {name}", name, place, options
            shutil.rmtree(where)


@pytest.mark.parametrize(
    "state", some(STATES, _in_sync, _after_the_restart, _failed), ids=lambda state: state.__name__.strip("_")
)
def test_the_plan_is_what_is_done(tmp_path: Path, state: Callable[[Place], None], monkeypatch: Any) -> None:
    # Thousands of files, and no power failure to survive.
    monkeypatch.setattr(os, "fsync", lambda _handle: None)
    for case, name, place, options in each(tmp_path, state):
        try:
            if name == "settle":
                compare(place, options, Synchroniser.plan_settle, Synchroniser.settle)
            elif name == "roll back":
                compare(place, options, Synchroniser.plan_roll_back, Synchroniser.roll_back)
            else:
                desired = WANTED[name]
                compare(place, options, lambda sync: sync.plan(desired), lambda sync: sync.apply(desired))  # noqa: B023
        except AssertionError as error:
            raise AssertionError(f"{case}: {error}") from error


def test_a_rehearsal_takes_no_lock(place: Place) -> None:
    _deferred(place)
    with Store(str(place.path), place.clock).writing(), Store(str(place.path), place.clock).restarting():
        assert place.sync(lock_timeout=0.0).plan(B).actions == ["restarted"]
        assert place.sync(lock_timeout=0.0).plan_settle().actions == ["restarted"]
        assert place.sync(lock_timeout=0.0).plan_roll_back().actions == ["rolled back", "restarted"]
