# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A ledger or a backup that is damaged or missing: every error has a message, and no entry gets a wrong
owner.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    InvalidDocument,
    PullSecretError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.ledger import (
    Backup,
    Ledger,
)
from tests.node.unit.support import Place, auth, config, document

DEEP = b'{"version": 1, "previous": ' + b"[" * 60_000 + b"]" * 60_000 + b"}"
DAMAGED: dict[str, bytes] = {
    "empty": b"",
    "no JSON": b"{",
    "no object": b"[]",
    "no UTF-8": b"\xff\xfe{}",
    "nothing in it": b'{"version": 1}',
    "no version": b"{}",
    "a strange version": b'{"version": true}',
    "nested without end": DEEP,
    "nested as deep as is read": b'{"version": 1, "x": ' + b"[" * 500 + b"]" * 500 + b"}",
    "a long number": b'{"version": 1, "x": ' + b"9" * 5000 + b"}",
    "larger than is read": b" " * (16 * 1024 * 1024 + 1),
}


def beside(place: Place, name: str) -> Path:
    return place.path.parent / f"config.json.{name}"


def changed(path: Path, **values: Any) -> None:
    """Set values in the file as an editor would; ``previous__uid=7`` sets a nested one."""
    found = json.loads(path.read_bytes())
    for name, value in values.items():
        *outer, last = name.split("__")
        at = found
        for part in outer:
            at = at[part]
        at[last] = value
    path.write_text(json.dumps(found).replace('"1e999"', "1e999"))


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_ledger_counts_as_none(place: Place, data: bytes) -> None:
    place.put(document(ecr_example="theirs", quay_io="ours"))
    beside(place, "hyperfleet").write_bytes(data)
    result = place.sync().apply(config(quay_io="new"))
    assert (result.state, result.changed) == ("in-sync", True)
    (warning,) = result.warnings
    assert "config.json.hyperfleet is not a ledger" in warning
    assert set(place.auths()) == {"ecr.example", "quay.io"}
    # Now it is a good one.
    assert place.sync().apply(config(quay_io="new")).warnings == []


@pytest.mark.parametrize("data", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_backup_counts_as_none(place: Place, data: bytes) -> None:
    place.put(document(quay_io="theirs"))
    place.sync().apply(config(quay_io="new"))
    beside(place, "hyperfleet-backup").write_bytes(data)
    rolled_back = place.sync().roll_back()
    assert (rolled_back.actions, rolled_back.rolled_back) == ([], False)
    assert "config.json.hyperfleet-backup is not a backup" in rolled_back.warnings[0]
    planned = place.sync().plan(config(quay_io="newer"))
    result = place.sync().apply(config(quay_io="newer"))
    assert planned.warnings == result.warnings != []
    assert place.auths() == {"quay.io": auth("newer")}


@pytest.mark.parametrize(
    "values",
    [
        {"previous__uid": "1e999"},
        {"previous__uid": -1},
        {"previous__gid": 2**32 - 1},
        {"previous__uid": 2**70},
        {"previous__uid": "0"},
        {"previous__gid": 0.0},
        {"previous__uid": True},
        {"previous__mode": 0o10000},
        {"previous__mode": None},
        {"previous__data": 7},
        {"previous__data": "no base64!"},
        {"previous__data": "\u00e9"},
        {"previous__label": []},
        {"previous": "file"},
        {"displaced": []},
        {"displaced": None},
    ],
    ids=str,
)
def test_no_owner_and_no_content_of_a_wrong_kind_is_restored(
    place: Place, monkeypatch: pytest.MonkeyPatch, values: dict[str, Any]
) -> None:
    place.put(document(ecr_example="x"))
    place.sync().apply(config(quay_io="new"))
    changed(beside(place, "hyperfleet-backup"), **values)
    before = place.path.read_bytes()

    def forbidden(*arguments: Any) -> None:
        raise AssertionError(arguments)

    monkeypatch.setattr(os, "fchown", forbidden)
    result = place.sync().roll_back()
    assert not result.rolled_back
    assert place.path.read_bytes() == before
    assert len(result.warnings) == 1


@pytest.mark.parametrize(
    "values",
    [
        {"salt": "zz"},
        {"salt": ""},
        {"salt": 7},
        {"entries": ["quay.io"]},
        {"entries": {"quay.io": "digest"}},
        {"entries": {"quay.io": [7]}},
        {"members": None},
        {"was_absent": "no"},
        {"verified": None},
        {"pending": {"id": "x"}},
        {"pending": "restart"},
        {
            "pending": {
                **dict.fromkeys(("id", "desired", "content", "invocation", "undone"), ""),
                "phase": "dance",
                "touched": False,
            }
        },
        {
            "pending": {
                **dict.fromkeys(("id", "desired", "content", "invocation", "undone"), ""),
                "phase": "restart",
                "touched": False,
                "reason": 7,
                "by_node": False,
            }
        },
        {"failed": {"desired": "", "times": "1e999", "at": 0, "reason": ""}},
        {"failed": {"desired": "", "times": 1, "at": "1e999", "reason": ""}},
        {"failed": {"desired": "", "times": 1, "at": 0, "reason": ["x"]}},
        {"failed": {"desired": "", "times": 1, "at": 0, "reason": "\ud800"}},
        {"failed": []},
    ],
    ids=str,
)
def test_a_ledger_with_a_value_of_a_wrong_kind_counts_as_none(place: Place, values: dict[str, Any]) -> None:
    place.sync().apply(config(quay_io="new"))
    changed(beside(place, "hyperfleet"), **values)
    result = place.sync().apply(config(quay_io="newer"))
    assert result.state == "in-sync"
    assert "is not a ledger" in result.warnings[0]
    assert place.auths() == {"quay.io": auth("newer")}


@pytest.mark.parametrize("name", ["hyperfleet", "hyperfleet-backup"])
def test_a_later_releases_file_is_not_lost(place: Place, name: str) -> None:
    place.put(document(ecr_example="x"))
    place.sync().apply(config(quay_io="new"))
    changed(beside(place, name), version=2)
    before = beside(place, name).read_bytes()
    for work in (place.sync().apply, place.sync().plan):
        with pytest.raises(PullSecretError, match="written by a later release"):
            work(config(quay_io="newer"))
    assert beside(place, name).read_bytes() == before


def test_what_is_written_can_be_read(place: Place) -> None:
    """Foreign entries were displaced, and kubelet does not come up with the previous file either."""
    odd: dict[str, Any] = {"auth": auth("x")["auth"], "email": "\ud800", "more": [[[[[1.5, None, {}]]]]]}
    place.put(
        {"auths": {"quay.io": odd, "ecr.example": odd}, "credsStore": 7, "HttpHeaders": {"a": 1, "b": "x"}}
    )
    place.systemd.script = ["failed"] * 6
    place.sync().apply(config(quay_io="new"))
    for name, kind in (("hyperfleet", Ledger), ("hyperfleet-backup", Backup)):
        data = beside(place, name).read_bytes()
        assert kind.from_bytes(data).to_bytes() == data


def test_a_file_too_large_for_a_backup_is_left_alone(place: Place) -> None:
    data = json.dumps({"auths": {}, "x": "x" * (13 * 1024 * 1024)}).encode()
    place.put(data)
    with pytest.raises(PullSecretError, match="too large"):
        place.sync().apply(config(quay_io="new"))
    assert place.path.read_bytes() == data
    assert place.beside() == ["config.json"]


def gone(place: Place) -> None:
    beside(place, "hyperfleet-backup").unlink()


def spoilt(place: Place) -> None:
    beside(place, "hyperfleet-backup").write_bytes(b"{")


@pytest.mark.parametrize("lose", [gone, spoilt])
def test_a_roll_back_without_a_backup_is_not_said_to_have_been_made(
    place: Place, lose: Callable[[Place], None]
) -> None:
    place.put(document(ecr_example="x"))

    def failing() -> str:
        lose(place)
        return "failed"

    place.systemd.script = ["failed", "failed", failing]
    result = place.sync().apply(config(quay_io="new"))
    assert result.state == "failed"
    assert "could not be rolled back: its backup is gone" in result.message
    assert "was rolled back" not in result.message
    assert (result.actions, result.rolled_back) == (["written", "restarted"], False)
    assert "quay.io" in place.auths()
    # It is not retried until a run requests it.
    held = place.sync().apply(config(quay_io="new"))
    assert (held.state, held.actions, place.systemd.restarts) == ("held", [], 3)
    assert "was rolled back" not in held.message
    again = place.sync(retry_failed=True)
    assert again.plan(config(quay_io="new")).actions == ["restarted"]
    assert again.apply(config(quay_io="new")).state == "in-sync"
    assert place.systemd.restarts == 4


@pytest.mark.parametrize("lose", [gone, spoilt])
@pytest.mark.parametrize("tried", [False, True])
def test_a_roll_back_on_request_without_a_backup(
    place: Place, lose: Callable[[Place], None], tried: bool
) -> None:
    place.put(document(ecr_example="x"))
    place.sync(restart="deferred").apply(config(quay_io="new"))
    if tried:
        place.systemd.script = ["failed"]
        place.sync(rollback=False, attempts=1).settle()
    lose(place)
    planned = place.sync().plan_roll_back()
    result = place.sync().roll_back()
    for each in (planned, result):
        assert (each.state, each.actions, each.rolled_back) == ("failed", [], False)
        assert each.message == "the file could not be rolled back: its backup is gone"
    assert "quay.io" in place.auths()
    # What no kubelet was started with is still tried.
    assert place.sync().apply(config(quay_io="new")).state == ("held" if tried else "in-sync")


def test_a_roll_back_that_was_killed_and_then_lost_its_backup(place: Place) -> None:
    place.put(document(ecr_example="x"))
    place.systemd.script = ["failed"] * 3
    sync = place.sync()

    def killed(_snapshot: object) -> None:
        raise KeyboardInterrupt

    sync._store.put = killed  # type: ignore[assignment]
    first = place.sync(restart="deferred")
    first.apply(config(quay_io="new"))
    with pytest.raises(KeyboardInterrupt):
        sync.settle()
    gone(place)
    settled = place.sync().settle()
    assert (settled.state, settled.actions) == ("failed", [])
    assert "could not be rolled back" in settled.message
    assert place.sync().apply(config(quay_io="new")).state == "held"
    assert place.sync().apply(config(quay_io="newer")).state == "in-sync"


NONE: dict[str, bytes] = {
    "a comma too many": b'{"auths": {"cloud.example": {"auth": "dTpw"}},}',
    "a byte order mark": b'\xef\xbb\xbf{"auths": {"cloud.example": {"auth": "dTpw"}}}',
    "something else": b"[Unit]\n",
    "an array": b"[]",
    "auths of a wrong kind": b'{"auths": 7}',
    "out of range": b'{"odd": 1e999, "auths": {"cloud.example": {"auth": "dTpw"}}}\n',
    "twice": b'{"auths": {}, "auths": {"cloud.example": {"auth": "dTpw"}}}',
}
ODD: dict[str, bytes] = {
    "empty": b"",
    "of a wrong kind": b'{"HttpHeaders": 7,   "auths": {}}',
}


@pytest.mark.parametrize("data", [*NONE.values(), *ODD.values()], ids=[*NONE, *ODD])
def test_a_node_that_was_never_ours_is_left_as_it_is(place: Place, data: bytes) -> None:
    place.put(data)
    for work in (place.sync().plan, place.sync().apply, place.sync(backup=False).apply):
        result = work(None)
        assert (result.state, result.changed) == ("in-sync", False)
        assert all("was not changed" in warning for warning in result.warnings)
        if data in NONE.values():
            assert "was not a docker config" in result.warnings[0]
    assert place.path.read_bytes() == data
    assert place.beside() == ["config.json"]


@pytest.mark.parametrize("backup", [False, True])
@pytest.mark.parametrize("data", NONE.values(), ids=NONE)
def test_what_could_not_be_understood_is_replaced(place: Place, data: bytes, backup: bool) -> None:
    """The unreadable file becomes the previous file as a whole; ``absent`` does not restore it."""
    place.put(data)
    sync = place.sync(backup=backup)
    (warning,) = sync.apply(config(quay_io="new")).warnings
    assert "it was replaced; a rollback of this write restores it unchanged" in warning
    assert place.auths() == {"quay.io": auth("new")}
    again = sync.apply(config(quay_io="new"))
    assert (again.actions, again.warnings) == ([], [])
    assert sync.roll_back().rolled_back == backup
    if backup:
        assert place.path.read_bytes() == data
        sync.apply(config(quay_io="newer"))
    assert sync.apply(None).warnings == []
    assert json.loads(place.path.read_bytes()) == {"auths": {}}
    assert place.beside() == ["config.json"]


def test_what_could_not_be_understood_comes_back_by_a_roll_back_and_stays(place: Place) -> None:
    data = NONE["a comma too many"]
    place.put(data)
    place.systemd.script = ["failed"]
    place.sync(attempts=1).apply(config(quay_io="new"))
    assert place.path.read_bytes() == data
    assert not place.sync().apply(None).changed
    assert place.path.read_bytes() == data
    assert place.beside() == ["config.json"]


def test_what_others_wrote_in_place_of_what_could_not_be_understood_stays(place: Place) -> None:
    place.put(NONE["a comma too many"])
    place.sync().apply(config(quay_io="new"))
    place.put(document(quay_io="new", cloud_example="new"))
    assert place.sync().apply(None).warnings == []
    assert place.auths() == {"cloud.example": auth("new")}
    assert place.beside() == ["config.json"]


def test_whether_ours_is_in_what_cannot_be_understood_is_not_guessed(place: Place) -> None:
    place.sync().apply(config(quay_io="new"))
    data = place.path.read_bytes()[:-1] + b",}"
    place.put(data)
    for work in (place.sync().plan, place.sync().apply):
        with pytest.raises(InvalidDocument, match="the entries of this collection cannot be identified"):
            work(None)
    assert place.path.read_bytes() == data
    place.put(data[:-2] + b"}")
    assert place.sync().apply(None).actions == ["removed", "restarted"]
    assert place.beside() == []
