# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The ledger and the backup of an earlier release, byte for byte, can still be read.

That release recorded each member beside ``auths``. It kept what it had removed of others: members, entries
for which kubelet rejects the file, and a file that was not a docker config.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import load
from tests.node.unit.support import Place, auth, config, document

# Foreign entries that were in the file before that release merged OURS into it.
THEIRS: dict[str, Any] = {
    "auths": {
        "ecr.example": auth("theirs"),
        "quay.io": auth("displaced"),
        "bad.example": {"auth": "bm8gY29sb24="},
    },
    "HttpHeaders": {"User-Agent": "node", "X-Team": "theirs"},
    "credsStore": "desktop",
}
OURS: dict[str, Any] = {"HttpHeaders": {"X-Team": "ours"}, **document(quay_io="ours", ghcr_io="ours")}

SALT = "ed626c6064a2b99c628a3a3161dc5cc6fdaa0fb474d4ebbfc4ea61d317e098cd"
IN_SYNC = (
    '{"HttpHeaders":{"User-Agent":"node","X-Team":"ours"},"auths":{"ecr.example":{"auth":'
    '"cm9ib3Q6ZXhhbXBsZS1wYXNzd29yZC10aGVpcnM="},"ghcr.io":{"auth":"cm9ib3Q6ZXhhbXBsZS1wYXNzd29yZC1vdXJz"},'
    '"quay.io":{"auth":"cm9ib3Q6ZXhhbXBsZS1wYXNzd29yZC1vdXJz"}},"credsStore":"desktop"}'
)
LEDGER = (
    '{"desired": "c7ab8d2f23279198db9eb67ef99ef9b2", "entries": {"ghcr.io": ["2dfe6d163d88368c54f6df617befd6e8"]'
    ', "quay.io": ["a4077d861d5e0573ad8c0e6df99fd9fe"]}, "failed": null, "members": {"HttpHeaders/X-Team": '
    '["f7412fbdb2660ae1538153f77e65e453"]}, "pending": null, "salt": "' + SALT + '", "verified": '
    '"fb068cc58e6a849643d4138b05f8a852", "version": 1, "was_absent": false}'
)
DISPLACED = (
    '{"displaced": {"bad.example": {"auth": "bm8gY29sb24="}, "quay.io": {"auth": '
    '"cm9ib3Q6ZXhhbXBsZS1wYXNzd29yZC1kaXNwbGFjZWQ="}}, "displaced_file": null, "displaced_members": '
    '{"HttpHeaders/X-Team": "theirs"}, "previous": {"data": "%s", "gid": 0, "label": null, "mode": 420, "uid": 0}'
    ', "version": 1}'
)
BACKUP = DISPLACED % base64.b64encode(json.dumps(THEIRS).encode()).decode()
# Another docker config had failed; then this one was written, and kubelet was not restarted yet.
WRITTEN = (
    '{"HttpHeaders":{"User-Agent":"node","X-Team":"theirs"},"auths":{"ecr.example":{"auth":'
    '"cm9ib3Q6ZXhhbXBsZS1wYXNzd29yZC10aGVpcnM="},"quay.io":{"auth":"cm9ib3Q6ZXhhbXBsZS1wYXNzd29yZC1uZXh0"}},'
    '"credsStore":"desktop"}'
)
PENDING_LEDGER = (
    '{"desired": "a023f45cffe69866cf138aec1780889a", "entries": {"ghcr.io": ["2dfe6d163d88368c54f6df617befd6e8"]'
    ', "quay.io": ["a4077d861d5e0573ad8c0e6df99fd9fe", "7df9876b6a4b2743886d17f45bba5400"]}, "failed": {"at": '
    '1700001018.0, "by_node": false, "desired": "a023f45cffe69866cf138aec1780889a", "reason": "the restart ended '
    'with failed, result exit-code (3 attempts)", "times": 1}, "members": {"HttpHeaders/X-Team": '
    '["f7412fbdb2660ae1538153f77e65e453"]}, "pending": {"by_node": false, "content": '
    '"6b294a811f11638e4a74e23adf5a308b", "desired": "7df9876b6a4b2743886d17f45bba5400", "id": "7502c3e97ef040c0", '
    '"invocation": "", "phase": "restart", "reason": "", "touched": false, "undone": ""}, "salt": "'
    + SALT
    + '", '
    '"verified": "fb068cc58e6a849643d4138b05f8a852", "version": 1, "was_absent": false}'
)
PENDING_BACKUP = DISPLACED % base64.b64encode(IN_SYNC.encode()).decode()
# The syncer, which keeps no previous file, had replaced `{"auths": {},}`.
REPLACED_LEDGER = (
    '{"desired": "ab06e98ce030134eea344dc16f7391c7", "entries": {"quay.io": ["ab06e98ce030134eea344dc16f7391c7"]}'
    ', "failed": null, "members": {}, "pending": null, "salt": '
    '"831e6e7a3e3dd40df2d98d051792921db68b966939601d0c3560966509b54a85", "verified": '
    '"ab06e98ce030134eea344dc16f7391c7", "version": 1, "was_absent": false}'
)
REPLACED_BACKUP = (
    '{"displaced": {}, "displaced_file": "eyJhdXRocyI6IHt9LH0=", "displaced_members": {}, "previous": null, '
    '"version": 1}'
)
NOT_RESTORED = (
    ": copy this backup to another place if you need it; an earlier release removed a file, or fields of another "
    "program, and only this backup still has them; this release does not restore them, and its next write removes "
    "them from this backup"
)


def put(place: Place, content: str, ledger: str, backup: str) -> None:
    place.put(content.encode())
    for name, data in (("hyperfleet", ledger), ("hyperfleet-backup", backup)):
        (place.path.parent / f"config.json.{name}").write_text(data)


def read(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(place.path.read_bytes())
    return found


def test_what_ours_replaced_comes_back(place: Place) -> None:
    """Entries come back and members do not; of the members in the file only ours are removed."""
    put(place, IN_SYNC, LEDGER, BACKUP)
    planned, result = place.sync().plan(None), place.sync().apply(None)
    for each in (planned, result):
        (warning,) = each.warnings
        assert warning.endswith(NOT_RESTORED)
    assert read(place) == {
        "auths": document(ecr_example="theirs", quay_io="displaced")["auths"],
        "HttpHeaders": {"User-Agent": "node"},
        "credsStore": "desktop",
    }
    assert place.beside() == ["config.json"]


def test_a_rotation_prunes_ours(place: Place) -> None:
    put(place, IN_SYNC, LEDGER, BACKUP)
    (warning,) = place.sync().apply(config(quay_io="new")).warnings
    assert warning.endswith(NOT_RESTORED)
    assert read(place) == {
        "auths": document(ecr_example="theirs", quay_io="new")["auths"],
        "HttpHeaders": {"User-Agent": "node"},
        "credsStore": "desktop",
    }
    again = place.sync().apply(config(quay_io="new"))
    assert (again.actions, again.warnings) == ([], [])
    place.sync().apply(None)
    assert read(place)["auths"] == document(ecr_example="theirs", quay_io="displaced")["auths"]


def test_members_of_ours_become_the_only_ones(place: Place) -> None:
    put(place, IN_SYNC, LEDGER, BACKUP)
    result = place.sync().apply(load(OURS))
    assert [warning.split(":")[0] for warning in result.warnings[:2]] == ["HttpHeaders", "credsStore"]
    assert read(place) == {**OURS, "auths": {**OURS["auths"], "ecr.example": auth("theirs")}}
    assert place.sync().apply(load(OURS)).actions == []
    place.sync().apply(None)
    assert read(place) == document(ecr_example="theirs", quay_io="displaced")


def test_the_previous_file_is_restored(place: Place) -> None:
    put(place, IN_SYNC, LEDGER, BACKUP)
    assert place.sync().roll_back().state == "in-sync"
    assert read(place) == THEIRS


def test_a_restart_that_was_pending_is_made(place: Place) -> None:
    put(place, WRITTEN, PENDING_LEDGER, PENDING_BACKUP)
    settled = place.sync().settle()
    assert (settled.state, settled.actions) == ("in-sync", ["restarted"])
    place.sync().roll_back()
    assert place.path.read_text() == IN_SYNC
    place.sync().apply(None)
    assert read(place) == {
        "auths": document(ecr_example="theirs", quay_io="displaced")["auths"],
        "HttpHeaders": {"User-Agent": "node"},
        "credsStore": "desktop",
    }


def test_a_failure_is_remembered(place: Place) -> None:
    put(place, WRITTEN, PENDING_LEDGER, PENDING_BACKUP)
    held = place.sync().apply(config(bad_example="x", quay_io="y"))
    assert held.state == "held"
    assert "exit-code (3 attempts)" in held.message


def test_a_pending_write_that_fails_is_rolled_back(place: Place) -> None:
    put(place, WRITTEN, PENDING_LEDGER, PENDING_BACKUP)
    place.systemd.script = ["failed"]
    assert place.sync(attempts=1).settle().rolled_back
    assert place.path.read_text() == IN_SYNC


@pytest.mark.parametrize("backup", [False, True])
def test_a_file_that_was_not_a_docker_config_stays_away(place: Place, backup: bool) -> None:
    put(place, json.dumps(document(quay_io="ours")), REPLACED_LEDGER, REPLACED_BACKUP)
    (warning,) = place.sync(backup=backup).apply(config(quay_io="ours")).warnings
    assert warning.endswith(NOT_RESTORED)
    assert place.sync(backup=backup).apply(None).warnings == []
    assert read(place) == {"auths": {}}
    assert place.beside() == ["config.json"]
