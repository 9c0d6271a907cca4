# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The outcomes of a sync for the node's file and its kubelet."""

from __future__ import annotations

import json
import os
import stat
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd.manager import (
    SystemdError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import load
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    Conflict,
    InvalidDocument,
    OwnershipConflict,
    PullSecretError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet import sync
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.store import Store
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.clock import Clock
from tests.node.unit.support import Place, auth, config, document, refusal

WANTED = config(quay_io="new")


def test_a_file_is_made_and_kubelet_restarted_once(place: Place) -> None:
    result = place.sync().apply(WANTED)
    assert (result.state, result.actions) == ("in-sync", ["written", "restarted"])
    assert result.restart_facts["jobs"] == ["done"]
    assert result.healthy
    assert result.effective == "now"
    assert place.auths() == {"quay.io": auth("new")}
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o600
    again = place.sync().apply(WANTED)
    assert (again.state, again.actions, place.systemd.restarts) == ("in-sync", [], 1)


def test_foreign_entries_stay_and_ours_are_pruned(place: Place) -> None:
    place.put(document(ecr_example="theirs"))
    place.path.chmod(0o640)
    place.sync().apply(config(quay_io="a", ghcr_io="b"))
    assert set(place.auths()) == {"ecr.example", "quay.io", "ghcr.io"}
    place.sync().apply(config(quay_io="a"))
    assert set(place.auths()) == {"ecr.example", "quay.io"}
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o640


@pytest.mark.parametrize("theirs", ["theirs", "new"])
def test_what_ours_took_the_place_of_comes_back(place: Place, theirs: str) -> None:
    place.put(document(quay_io=theirs, ecr_example="x"))
    place.sync().apply(WANTED)
    assert place.auths()["quay.io"] == auth("new")
    result = place.sync().apply(None)
    assert place.auths() == document(quay_io=theirs, ecr_example="x")["auths"]
    assert result.actions == (["written", "restarted"] if theirs != "new" else [])
    assert place.beside() == ["config.json"]


def test_absence_is_restored_as_absence(place: Place) -> None:
    place.sync().apply(WANTED)
    result = place.sync().apply(None)
    assert result.actions == ["removed", "restarted"]
    assert place.beside() == []
    assert place.sync().apply(None).actions == []
    assert place.beside() == []


def test_a_foreign_change_of_our_entry_makes_it_theirs(place: Place) -> None:
    place.sync().apply(config(quay_io="a", ghcr_io="b"))
    place.put(document(quay_io="a", ghcr_io="theirs"))
    place.sync().apply(config(quay_io="a"))
    assert place.auths() == document(quay_io="a", ghcr_io="theirs")["auths"]


def test_same_meaning_in_other_bytes_is_no_change(place: Place) -> None:
    place.sync().apply(WANTED)
    for indent in range(1, 101):
        place.path.write_text(json.dumps(document(quay_io="new"), indent=indent) + "\r\n")
        assert place.sync().apply(WANTED).actions == []
    assert place.systemd.restarts == 1


def test_a_foreign_entry_that_spoils_the_file_is_removed(place: Place) -> None:
    spoilt = {"auth": "bm8gY29sb24="}
    place.put({"auths": {"bad.example": spoilt, "store.example": {}}, "credsStore": "desktop"})
    result = place.sync().apply(WANTED)
    assert set(place.auths()) == {"store.example", "quay.io"}
    assert any("bad.example" in warning for warning in result.warnings)
    again = place.sync().apply(WANTED)
    assert (again.actions, again.warnings) == ([], [])
    place.sync().apply(None)
    assert place.auths() == {"store.example": {}}


def test_an_entry_that_spoils_the_file_is_taken_out_where_ours_replaces_it(place: Place) -> None:
    place.put({"auths": {"quay.io": {"auth": "bm8gY29sb24="}}})
    (warning,) = place.sync().apply(WANTED).warnings
    assert (
        warning == "quay.io: removed this foreign entry, because with it kubelet would reject the whole file"
    )
    place.sync().apply(None)
    assert place.auths() == {}


def test_another_programs_object_is_written_into_with_a_warning_and_given_back(place: Place) -> None:
    daemon = {"insecure-registries": ["a.example:5000"]}
    place.put(daemon)
    (warning,) = place.sync().apply(WANTED).warnings
    assert warning.startswith("the node's file had no auths; if it is another program's file, remove them")
    assert place.auths() == WANTED.plain_auths
    assert place.sync().apply(WANTED).warnings == []
    place.sync().apply(None)
    assert json.loads(place.path.read_bytes()) == daemon


KUBELET_CONFIGURATION = b'{"kind":"KubeletConfiguration","apiVersion":"kubelet.config.k8s.io/v1beta1"}'


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (KUBELET_CONFIGURATION, "a KubeletConfiguration"),
        (b'{"auths":{"quay.io":{}},' + KUBELET_CONFIGURATION[1:], "a KubeletConfiguration"),
        (b"# node\nkind: KubeletConfiguration\n", "a KubeletConfiguration"),
        (b"\xef\xbb\xbfkind: Config\n", "a kubeconfig"),
        (
            KUBELET_CONFIGURATION.replace(b'"kind"', b'"clusterDNS":["10.0.0.1",],\n  "kind"'),
            "a KubeletConfiguration",
        ),
        (b"{authentication: {}, kind: KubeletConfiguration}", "a KubeletConfiguration"),
        (b"  kind: KubeletConfiguration\n", "a KubeletConfiguration"),
        (b"[" + KUBELET_CONFIGURATION + b"]", "a KubeletConfiguration"),
        (b'{"current-context":"a","preferences":{}}', "a kubeconfig"),
        (b"{current-context: a, clusters: [], users: []}", "a kubeconfig"),
        (b'{"clusters":[],"users":[]}', "a kubeconfig"),
        (b'{"contexts":[]}', "a kubeconfig"),
        (b"apiVersion: v1\nusers:\n- name: a\nkind: Config\n", "a kubeconfig"),
        (b'{"apiVersion":"v1","kind":"Secret","data":{}}', "the manifest of a Secret"),
        (b'{"Kind":["' + b"x" * 99 + b'"]}', "an object of Kubernetes"),
    ],
)
def test_another_file_of_kubernetes_is_left_alone(place: Place, data: bytes, kind: str) -> None:
    place.put(data)
    place.path.chmod(0o644)
    for restart in ("never", "on_change"):
        for work in (place.sync(restart=restart).plan, place.sync(restart=restart).apply):
            with pytest.raises(OwnershipConflict) as caught:
                work(WANTED)
            said = f"file:{place.path} seems to be {kind}, not a docker config, and was not changed"
            assert (caught.value.message, place.path.read_bytes()) == (said, data)
    assert place.sync().apply(None).actions == []
    assert (stat.S_IMODE(place.path.stat().st_mode), place.beside()) == (0o644, ["config.json"])


def test_what_an_earlier_release_wrote_into_it_can_be_taken_out(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.put(KUBELET_CONFIGURATION)
    with monkeypatch.context() as earlier:
        earlier.setattr(sync, "check_kind", lambda *_arguments: None)
        place.sync().apply(WANTED)
    assert place.sync().apply(None).actions == ["written", "restarted"]
    assert json.loads(place.path.read_bytes()) == json.loads(KUBELET_CONFIGURATION)
    assert place.sync().apply(None).actions == []


def test_an_entry_of_another_program_stays_in_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    document = {"auths": {"ecr.example": {"auth": "cm9ib3Q6dGhlaXJz"}}, **json.loads(KUBELET_CONFIGURATION)}
    place.put(document)
    with monkeypatch.context() as earlier:
        earlier.setattr(sync, "check_kind", lambda *_arguments: None)
        place.sync().apply(WANTED)
    place.sync().apply(None)
    assert json.loads(place.path.read_bytes()) == document


def test_an_empty_auths_of_its_own_stays_in_it(place: Place) -> None:
    data = b'{"auths":{},' + KUBELET_CONFIGURATION[1:]
    place.put(data)
    assert place.sync().apply(None).actions == []
    assert place.path.read_bytes() == data


@pytest.mark.parametrize("data", [b"", b"{not json", b"[]", b'{"auths": 7}'])
def test_an_invalid_file_is_replaced(place: Place, data: bytes) -> None:
    place.put(data)
    place.sync().apply(WANTED)
    assert place.auths() == {"quay.io": auth("new")}
    assert place.sync().apply(WANTED).actions == []


def test_three_failures_roll_file_and_kubelet_back(place: Place) -> None:
    old = b'{ "auths": {"ecr.example": {"auth": "cm9ib3Q6dGhlaXJz"} } }\n'
    place.put(old)
    place.systemd.script = ["failed"] * 3
    result = place.sync().apply(WANTED)
    assert result.state == "failed"
    assert result.rolled_back
    said = (
        "systemd reports the result 'failed' for the restart; the unit's result is 'exit-code' (3 attempts)"
    )
    assert said in result.message
    assert result.jobs == ["failed"] * 3 + ["done"]
    assert place.path.read_bytes() == old
    assert place.ledger()["failed"]["times"] == 1
    assert place.ledger()["pending"] is None
    held = place.sync().apply(WANTED)
    assert (held.state, held.actions, place.systemd.restarts) == ("held", [], 4)
    assert place.sync().plan(WANTED).state == "held"
    other = place.sync().apply(config(quay_io="newer"))
    assert other.state == "in-sync"
    assert place.ledger()["failed"] is None


def test_what_failed_is_tried_again_on_request(place: Place) -> None:
    place.systemd.script = ["failed"] * 3
    place.sync().apply(WANTED)
    assert not place.path.exists()
    result = place.sync(retry_failed=True).apply(WANTED)
    assert result.state == "in-sync"
    assert place.auths() == {"quay.io": auth("new")}


def test_a_kubelet_that_is_not_well_with_the_old_file_either(place: Place) -> None:
    place.put(document(ecr_example="x"))
    place.systemd.script = ["failed"] * 6
    result = place.sync().apply(WANTED)
    assert result.state == "failed"
    assert "with the previous file, too" in result.message
    assert place.auths() == document(ecr_example="x")["auths"]
    # The next run starts kubelet with the old file and does not try the new one.
    again = place.sync().apply(WANTED)
    assert again.state == "held"
    assert again.jobs == ["done"]
    assert place.ledger()["pending"] is None


def test_a_crash_in_the_window_is_a_failure(place: Place) -> None:
    def crash() -> str:
        up = place.systemd.started()
        ended = up._replace(active="activating", sub="auto-restart", result="exit-code")
        place.systemd.later = [up] * 5 + [ended]
        return "done"

    place.systemd.script = [crash] * 3
    result = place.sync().apply(WANTED)
    assert result.state == "failed"
    assert "auto-restart" in result.message
    assert not place.path.exists()


def test_a_crash_that_was_restarted_between_two_looks(place: Place) -> None:
    def crash() -> str:
        place.systemd.later = [place.systemd.started()] * 3 + [place.systemd.started()]
        return "done"

    place.systemd.script = [crash]
    result = place.sync(attempts=1).apply(WANTED)
    assert "ended and was started again" in result.message


def test_done_although_the_old_kubelet_is_still_there(place: Place) -> None:
    place.systemd.script = [lambda: "done"]
    assert "was not restarted" in place.sync(attempts=1).apply(WANTED).message


@pytest.mark.parametrize(
    ("load", "name"),
    [("not-found", "NoSuchUnit"), ("masked", "UnitMasked"), ("bad-setting", "BadUnitSetting")],
)
def test_a_unit_that_cannot_be_restarted_is_found_before_the_write(
    place: Place, load: str, name: str
) -> None:
    place.systemd.now = place.systemd.now._replace(load=load)
    with pytest.raises(SystemdError, match=name):
        place.sync().apply(WANTED)
    with pytest.raises(SystemdError, match=name):
        place.sync().plan(WANTED)
    assert place.beside() == []


def test_a_unit_that_becomes_masked_meanwhile(place: Place) -> None:
    place.put(document(ecr_example="x"))
    place.systemd.script = [refusal("UnitMasked")]
    result = place.sync().apply(WANTED)
    assert result.state == "failed"
    assert "UnitMasked" in result.message
    assert result.rolled_back
    assert place.auths() == document(ecr_example="x")["auths"]
    assert place.beside() == ["config.json"]


def test_a_bus_that_cannot_be_reached_leaves_the_restart_to_the_next_run(place: Place) -> None:
    sync = place.sync()
    sync.write(WANTED)
    gone = refusal("Disconnected", "the connection to D-Bus was lost")
    place.systemd.script = [gone, gone, gone]
    result = sync.settle()
    assert result.state == "pending"
    assert place.auths() == {"quay.io": auth("new")}
    assert sync.apply(WANTED).state == "in-sync"


def test_a_kubelet_that_is_stopped_stays_so(place: Place) -> None:
    place.systemd.now = place.systemd.now._replace(active="inactive", sub="dead")
    result = place.sync().apply(WANTED)
    assert result.state == "in-sync"
    assert place.systemd.restarts == 0
    assert "reads the file when it starts" in result.warnings[0]


def test_a_concurrent_stop_is_not_undone(place: Place) -> None:
    def stopped() -> str:
        down = place.systemd.now._replace(active="deactivating", sub="stop-sigterm")
        place.systemd.later = [down, down, down._replace(active="inactive", sub="dead")]
        return "canceled"

    place.systemd.script = [stopped]
    result = place.sync().apply(WANTED)
    assert result.state == "in-sync"
    assert place.systemd.restarts == 1
    assert "canceled by a stop" in result.warnings[0]


def test_never_restarting_says_when_it_takes_effect(place: Place) -> None:
    result = place.sync(restart="never").apply(WANTED)
    assert result.restart_facts["effective"] == "within 5 minutes"
    assert place.systemd.restarts == 0
    assert place.ledger()["pending"] is None


def test_a_deferred_restart_is_made_later(place: Place) -> None:
    result = place.sync(restart="deferred").apply(WANTED)
    assert (result.state, place.systemd.restarts) == ("pending", 0)
    again = place.sync(restart="deferred").apply(WANTED)
    assert again.actions == []
    assert again.state == "pending"
    assert again.needed
    settled = place.sync().settle()
    assert settled.actions == ["restarted"]
    assert settled.state == "in-sync"
    assert place.sync().settle().actions == []


@pytest.mark.parametrize("restart", ["on_change", "deferred"])
def test_a_masked_unit_is_found_before_the_write_for_a_later_restart_too(place: Place, restart: str) -> None:
    place.put(document(ecr_example="x"))
    place.systemd.now = place.systemd.now._replace(load="masked")
    with pytest.raises(SystemdError, match="UnitMasked"):
        place.sync(restart=restart).apply(WANTED)
    assert place.auths() == document(ecr_example="x")["auths"]
    assert place.beside() == ["config.json"]


def test_what_no_kubelet_was_started_with_has_not_failed(place: Place) -> None:
    place.sync(restart="deferred").apply(WANTED)
    assert place.sync(restart="deferred").roll_back().actions == ["rolled back"]
    assert place.sync().apply(WANTED).state == "in-sync"


@pytest.mark.parametrize(
    "found",
    [
        {"Auths": {"a.example": {"auth": "bm9jb2xvbg=="}}},
        {"auths": {}, "AUTHS": {"a.example": {"auth": "bm9jb2xvbg=="}}},
        {"auths": {"a.example": {"Auth": "bm9jb2xvbg=="}}},
        {"auth\u017f": {"a.example": {"AUTH": "bm9jb2xvbg=="}}},
    ],
)
def test_foreign_names_are_read_as_go_reads_them(place: Place, found: object) -> None:
    """Kubelet would reject the whole file because of that entry."""
    place.put(found)
    result = place.sync().apply(WANTED)
    assert json.loads(place.path.read_bytes()) == {"auths": {"quay.io": auth("new")}}
    (warning,) = result.warnings
    assert warning.startswith("a.example: removed this foreign entry, because with it kubelet would reject")


def test_entries_under_another_spelling_of_auths_stay(place: Place) -> None:
    place.put({"AUTHS": document(ecr_example="x")["auths"]})
    place.sync().apply(WANTED)
    assert place.auths() == {"quay.io": auth("new"), "ecr.example": auth("x")}


def test_a_failure_without_rollback_is_rolled_back_on_request(place: Place) -> None:
    place.put(document(ecr_example="x"))
    place.sync(restart="deferred").apply(WANTED)
    place.systemd.script = ["failed"]
    assert place.sync(rollback=False, attempts=1).settle().state == "failed"
    assert "quay.io" in place.auths()
    result = place.sync().roll_back()
    assert result.state == "in-sync"
    assert result.actions == ["rolled back", "restarted"]
    assert place.auths() == document(ecr_example="x")["auths"]
    assert place.sync().roll_back().actions == []
    assert place.sync().apply(WANTED).state == "held"


def test_what_was_written_is_told_although_another_run_is_restarting_kubelet(place: Place) -> None:
    place.put(document(ecr_example="x"))
    sync = place.sync(lock_timeout=0.5)
    with Store(str(place.path), place.clock).restarting():
        result = sync.apply(WANTED)
        back = sync.roll_back()
    assert (result.state, result.changed, result.actions) == ("pending", True, ["written"])
    assert result.message == (
        "another process holds the lock for restarting on this node; waited 0.5 s; the next run continues"
    )
    assert (result.needed, result.effective) == (True, "within 5 minutes")
    assert (back.state, back.actions) == ("pending", ["rolled back"])
    assert place.systemd.restarts == 0
    assert sync.apply(WANTED).state == "in-sync"
    assert place.systemd.restarts == 1


def test_something_newer_during_the_restart_is_settled_too(place: Place) -> None:
    newer = config(quay_io="newer")

    def rewrite(_number: int) -> None:
        if place.systemd.restarts == 1:
            place.sync().write(newer)

    place.systemd.on_restart = rewrite
    result = place.sync().apply(WANTED)
    assert result.state == "in-sync"
    assert place.systemd.restarts == 2
    assert place.auths() == {"quay.io": auth("newer")}
    assert place.ledger()["pending"] is None


def test_a_failure_of_an_outdated_write_rolls_nothing_back(place: Place) -> None:
    place.put(document(quay_io="old"))

    def newer() -> str:
        place.sync().write(config(quay_io="newer"))
        return "failed"

    place.systemd.script = ["failed", "failed", newer]
    result = place.sync().apply(WANTED)
    assert result.state == "in-sync"
    assert place.auths() == {"quay.io": auth("newer")}


def test_others_entries_written_meanwhile_survive_the_rollback(place: Place) -> None:
    place.put(document(quay_io="old"))

    def refreshed() -> str:
        place.put({"auths": {**place.auths(), "ecr.example": auth("fresh")}})
        return "failed"

    place.systemd.script = ["failed", "failed", refreshed]
    place.sync().apply(WANTED)
    assert place.auths() == document(quay_io="old", ecr_example="fresh")["auths"]


def refresh(place: Place) -> None:
    place.put({"auths": {**place.auths(), "ecr.example": auth("fresh"), "new.example": auth("n")}})


FRESH = document(quay_io="old", ecr_example="fresh", new_example="n")["auths"]


@pytest.mark.parametrize("backup", [False, True])
@pytest.mark.parametrize("times", [1, 2])
def test_what_others_wrote_before_a_second_write_survives_its_roll_back(
    place: Place, backup: bool, times: int
) -> None:
    place.put(document(quay_io="old", ecr_example="stale"))
    place.path.chmod(0o640)
    place.sync(backup=backup).write(config(quay_io="first"))
    for number in range(times):
        refresh(place)
        place.sync(backup=backup).write(config(quay_io=f"second{number}"))
    place.systemd.script = ["failed"]
    result = place.sync(backup=backup, attempts=1).settle()
    assert (result.state, result.rolled_back) == ("failed", True)
    assert place.auths() == FRESH
    assert stat.S_IMODE(place.path.stat().st_mode) == 0o640


def test_what_others_wrote_into_a_file_of_ours_alone_survives_the_roll_back(place: Place) -> None:
    sync = place.sync(attempts=1)
    sync.write(config(quay_io="first"))
    refresh(place)
    sync.write(WANTED)
    place.systemd.script = ["failed"]
    sync.settle()
    assert place.auths() == document(ecr_example="fresh", new_example="n")["auths"]


def test_a_second_write_that_fails_leaves_no_file_where_there_was_none(place: Place) -> None:
    sync = place.sync(attempts=1)
    sync.write(config(quay_io="first"))
    place.path.write_text(json.dumps(json.loads(place.path.read_text()), indent=4))
    sync.write(WANTED)
    place.systemd.script = ["failed"]
    assert sync.settle().rolled_back
    assert not place.path.exists()


@pytest.mark.parametrize("when", ["unseen", "seen", "while kubelet restarts"])
def test_what_others_wrote_survives_a_roll_back_on_request(place: Place, when: str) -> None:
    place.put(document(quay_io="old", ecr_example="stale"))
    if when == "while kubelet restarts":
        place.systemd.on_restart = lambda _number: refresh(place)
    place.sync().apply(WANTED)
    place.systemd.on_restart = lambda _number: None
    refresh(place)
    if when == "seen":
        assert place.sync().apply(WANTED).actions == []
    result = place.sync().roll_back()
    assert (result.state, result.rolled_back) == ("in-sync", True)
    assert place.auths() == FRESH


def test_a_roll_back_on_request_restores_the_very_bytes(place: Place) -> None:
    old = b'{ "auths": {"ecr.example": {"auth": "cm9ib3Q6dGhlaXJz"} } }\n'
    place.put(old)
    for _time in range(2):
        place.sync().apply(WANTED)
    place.sync().roll_back()
    assert place.path.read_bytes() == old


@pytest.mark.parametrize("others", [{"ecr_example": "theirs"}, {"ecr_example": "theirs", "quay_io": "first"}])
def test_what_a_roll_back_on_request_brings_back_is_ours_as_it_was(
    place: Place, others: dict[str, str]
) -> None:
    """After a successful rotation nothing is pending, and the rotated entry is no longer in the file."""
    place.put(document(**others))
    for word in ("older", "newer"):
        assert place.sync().apply(config(quay_io=word, tenant_example=word)).state == "in-sync"
    assert place.sync().roll_back().state == "in-sync"
    assert place.auths() == document(**{**others, "quay_io": "older", "tenant_example": "older"})["auths"]
    place.sync().apply(config(quay_io="third"))
    assert "tenant.example" not in place.auths()
    place.sync().apply(None)
    assert place.auths() == document(**others)["auths"]


def test_what_a_rotation_gave_back_to_others_outlives_its_roll_back(place: Place) -> None:
    """The rotation removed our entry and restored the foreign one. The rollback puts ours in its place
    again.
    """
    theirs = {**document(ecr_example="theirs", tenant_example="theirs"), "HttpHeaders": {"X-Team": "theirs"}}
    place.put(theirs)
    ours = document(quay_io="older", tenant_example="ours")
    assert place.sync().apply(load(ours)).state == "in-sync"
    assert place.sync().apply(config(quay_io="newer")).state == "in-sync"
    assert place.sync().roll_back().state == "in-sync"
    assert place.auths() == {**theirs["auths"], **ours["auths"]}
    assert place.sync().apply(config(quay_io="third")).state == "in-sync"
    assert place.auths() == {**theirs["auths"], **document(quay_io="third")["auths"]}
    place.sync().apply(None)
    assert json.loads(place.path.read_bytes()) == theirs


OTHER_NAME = "https://tenant.example"


@pytest.mark.parametrize("left", [config(quay_io="newer"), None])
def test_both_names_that_others_have_for_a_registry_come_back(place: Place, left: Any) -> None:
    theirs = {**document(tenant_example="theirs")["auths"], OTHER_NAME: auth("theirs, too")}
    place.put({"auths": theirs})
    place.sync().apply(config(quay_io="older", tenant_example="ours"))
    assert place.auths() == document(quay_io="older", tenant_example="ours")["auths"]
    place.sync().apply(left)
    assert place.auths() == {**theirs, **(document(quay_io="newer")["auths"] if left else {})}


@pytest.mark.parametrize("while_ours_is_there", [False, True])
def test_a_rollback_restores_a_newer_foreign_file(place: Place, while_ours_is_there: bool) -> None:
    """They wrote it under another name of the registry than the entry that ours had displaced."""
    place.put(document(tenant_example="old"))
    place.sync().apply(config(quay_io="first", tenant_example="ours"))
    place.put({"auths": {**place.auths(), OTHER_NAME: auth("new")}})
    if while_ours_is_there:
        place.sync().apply(config(quay_io="second", tenant_example="ours"))
    place.sync().apply(config(quay_io="third"))
    assert place.auths() == {**document(quay_io="third")["auths"], OTHER_NAME: auth("new")}
    place.put(document(quay_io="third"))
    place.sync().apply(config(quay_io="fourth"))
    assert place.auths() == document(quay_io="fourth")["auths"]


def test_what_others_have_spoilt_does_not_come_back_as_it_was(place: Place) -> None:
    """They wrote it under the same name. It is foreign but unusable, so it is removed."""
    spoilt = {"tenant.example": {"auth": "bm9jb2xvbg=="}}
    place.put(document(tenant_example="theirs"))
    place.sync().apply(config(quay_io="first", tenant_example="ours"))
    place.put({"auths": {**place.auths(), **spoilt}})
    place.sync().apply(config(quay_io="second"))
    assert place.auths() == document(quay_io="second")["auths"]
    place.sync().apply(None)
    assert place.auths() == {}


@pytest.mark.parametrize("while_ours_is_there", [False, True])
@pytest.mark.parametrize("left", [config(quay_io="third"), None])
def test_what_kubelet_cannot_use_takes_the_place_of_nothing(
    place: Place, while_ours_is_there: bool, left: Any
) -> None:
    """The unusable entry is for the same registry, under another name."""
    place.put(document(tenant_example="theirs"))
    place.sync().apply(config(quay_io="first", tenant_example="ours"))
    unfit = {OTHER_NAME: {"auth": "bm9jb2xvbg=="}}
    place.put({"auths": {**place.auths(), **unfit}})
    if while_ours_is_there:
        place.sync().apply(config(quay_io="second", tenant_example="ours"))
    place.sync().apply(left)
    there = document(tenant_example="theirs", quay_io="third") if left else document(tenant_example="theirs")
    # Only a write of ours removes it.
    stays = left is None and not while_ours_is_there
    assert place.auths() == {**there["auths"], **(unfit if stays else {})}


def test_what_others_wrote_and_took_out_again_does_not_come_back(place: Place) -> None:
    """They wrote it after a rotation and removed it while kubelet was restarted with the previous file."""
    place.put(document(ecr_example="theirs"))
    for ours in (config(quay_io="older", tenant_example="ours"), config(quay_io="newer")):
        place.sync().apply(ours)
    place.put({"auths": {**place.auths(), **document(tenant_example="theirs")["auths"]}})

    def take_out(_number: int) -> None:
        place.put({"auths": {key: entry for key, entry in place.auths().items() if key != "tenant.example"}})

    place.systemd.on_restart = take_out
    assert place.sync().roll_back().rolled_back
    place.systemd.on_restart = lambda _number: None
    place.sync().apply(config(quay_io="third"))
    assert place.auths() == document(ecr_example="theirs", quay_io="third")["auths"]
    place.sync().apply(None)
    assert place.auths() == document(ecr_example="theirs")["auths"]


def meanwhile(place: Place, number: int) -> None:
    """Another program writes into the file during the restart with this number."""

    def write(_number: int) -> None:
        if place.systemd.restarts == number:
            place.put({"auths": {**place.auths(), **document(other_example="theirs")["auths"]}})

    place.systemd.on_restart = write


def test_what_others_wrote_before_a_roll_back_outlives_the_next_one(place: Place) -> None:
    """Kubelet does not come up with the previous file either; that file stays the one to roll back to."""
    place.sync().apply(config(quay_io="older"))
    meanwhile(place, 2)
    for ours, attempts in (("newer", 6), ("third", 3)):
        place.systemd.script = ["failed"] * attempts
        assert place.sync().apply(config(quay_io=ours)).rolled_back
        assert place.auths() == document(quay_io="older", other_example="theirs")["auths"]


@pytest.mark.parametrize("note", ["save_backup", "save_ledger"])
@pytest.mark.parametrize("before", [False, True])
def test_what_others_write_while_a_roll_back_is_noted_stays(
    place: Place, monkeypatch: pytest.MonkeyPatch, note: str, before: bool
) -> None:
    """Others write twice while it is noted, and with ``before`` also before the rollback."""
    place.sync().apply(config(quay_io="older"))
    if before:
        meanwhile(place, 2)
    place.systemd.script = ["failed"] * 3
    save, theirs = getattr(Store, note), document(second_example="theirs", third_example="theirs")["auths"]
    left = list(theirs)

    def noted(store: Store, thing: Any) -> None:
        save(store, thing)
        pending = place.ledger()["pending"]
        if left and pending and pending["phase"] == "rollback":
            key = left.pop()
            place.put({"auths": {**place.auths(), key: theirs[key]}})

    monkeypatch.setattr(Store, note, noted)
    assert place.sync().apply(config(quay_io="newer")).rolled_back
    there = {**theirs, **(document(other_example="theirs")["auths"] if before else {})}
    assert place.auths() == {**document(quay_io="older")["auths"], **there}


@pytest.mark.parametrize("asked", [False, True])
def test_after_a_roll_back_there_is_nothing_to_roll_back(place: Place, asked: bool) -> None:
    """This holds whatever others have written since the write and since the rollback."""
    place.sync().apply(config(quay_io="older"))
    meanwhile(place, 2)
    place.systemd.script = [] if asked else ["failed"] * 3
    first = place.sync().apply(config(quay_io="newer"))
    assert (place.sync().roll_back() if asked else first).rolled_back
    assert place.auths() == document(quay_io="older", other_example="theirs")["auths"]
    assert not place.sync().roll_back().changed
    place.put(document(quay_io="older", other_example="later"))
    assert not place.sync().roll_back().changed
    assert place.auths() == document(quay_io="older", other_example="later")["auths"]


def test_a_write_that_failed_is_not_what_kubelet_did_not_come_up_with(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.sync().apply(config(quay_io="good"))
    bad, fine = config(quay_io="bad"), config(quay_io="fine")
    place.sync(restart="deferred").apply(bad)

    def replace(*_: object) -> None:
        raise PullSecretError("no space left on device")

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(Store, "replace", replace)
        with pytest.raises(PullSecretError):
            place.sync().write(fine)
    place.systemd.script = ["failed"] * 3
    assert place.sync().settle().rolled_back
    assert place.sync().apply(bad).state == "held"
    assert place.sync().apply(fine).state == "in-sync"


def test_a_kubelet_that_is_down_is_not_forgotten_where_its_unit_is_masked(place: Place) -> None:
    """Newer content is written meanwhile without asking systemd, as a syncer does."""
    place.sync().apply(config(quay_io="older"))
    place.systemd.script = ["failed"] * 6
    assert "unhealthy with the previous file, too" in place.sync().apply(config(quay_io="newer")).message
    place.systemd.now = place.systemd.now._replace(load="masked")
    place.sync().write(config(quay_io="third"))
    result = place.sync().settle()
    assert (result.state, result.by_node) == ("failed", True)
    assert place.auths() == document(quay_io="older")["auths"]
    place.systemd.now = place.systemd.now._replace(load="loaded")
    place.sync().settle()
    assert place.systemd.now.active == "active"
    assert place.sync().apply(config(quay_io="third")).state == "in-sync"


def test_what_failed_earlier_is_not_the_nodes_fault_for_a_later_roll_back(place: Place) -> None:
    """No kubelet was started with it: it was written while other content was tried, and the unit is masked."""
    place.sync().apply(config(quay_io="older"))
    place.systemd.script = ["failed"] * 3
    place.sync().apply(config(quay_io="bad"))
    before = place.ledger()["failed"]

    def newer() -> str:
        place.sync().write(config(quay_io="third"))
        place.systemd.now = place.systemd.now._replace(load="masked", active="failed")
        return "timeout"

    place.systemd.script = [newer]
    result = place.sync().apply(config(quay_io="second"))
    assert (result.state, result.by_node) == ("failed", True)
    assert place.ledger()["failed"] == before
    place.systemd.now = place.systemd.now._replace(load="loaded")
    result = place.sync().settle()
    assert (result.state, place.systemd.now.active) == ("in-sync", "active")
    assert place.ledger()["failed"] == before
    assert place.sync().apply(config(quay_io="bad")).state == "held"


def test_a_stop_leaves_the_restart_to_the_next_run(place: Place) -> None:
    result = place.sync().apply(WANTED, stop=lambda: place.systemd.restarts == 1)
    assert result.state == "pending"
    # That run finds that kubelet has started with the file and does not restart it again.
    assert place.sync().apply(WANTED).state == "in-sync"
    assert place.systemd.restarts == 1
    assert place.ledger()["pending"] is None


def test_going_back_before_a_restart_was_judged_restarts(place: Place) -> None:
    """The file is the last one known to work, but kubelet runs with another."""
    place.sync().apply(WANTED)
    place.sync().apply(config(quay_io="newer"), stop=lambda: place.systemd.restarts == 2)
    place.sync(restart="deferred").apply(WANTED)
    result = place.sync().apply(WANTED)
    assert (result.state, result.actions, place.systemd.restarts) == ("in-sync", ["restarted"], 3)


def test_a_roll_back_that_was_killed_is_finished_before_kubelet_is_judged(place: Place) -> None:
    place.put(document(ecr_example="x"))
    place.systemd.script = ["failed"] * 3
    sync = place.sync()
    sync.write(WANTED)

    def killed(_snapshot: object) -> None:
        raise KeyboardInterrupt

    sync._store.put = killed  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        sync.settle()
    assert "quay.io" in place.auths()
    result = place.sync().settle()
    assert (result.state, result.actions, result.rolled_back) == (
        "failed",
        ["rolled back", "restarted"],
        True,
    )
    assert "the file was rolled back" in result.message
    assert place.auths() == document(ecr_example="x")["auths"]


def test_plan_writes_nothing(place: Place) -> None:
    planned = place.sync().plan(WANTED)
    assert planned.actions == ["written", "restarted"]
    assert planned.needed
    assert place.beside() == []
    place.sync().apply(WANTED)
    planned = place.sync().plan(WANTED)
    assert planned.actions == []
    assert not planned.needed


def test_another_writer_is_waited_for_and_named(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "config.json")
    with (
        Store(path, Clock()).writing(),
        pytest.raises(Conflict, match="another process"),
        Store(path, Clock(), patience=0.1).writing(),
    ):
        raise AssertionError
    with Store(path, Clock()).writing():
        pass
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind", ["link", "directory", "pipe"])
def test_something_else_than_a_file_is_left_alone(place: Place, kind: str) -> None:
    if kind == "link":
        place.path.symlink_to("elsewhere")
    elif kind == "directory":
        place.path.mkdir()
    else:
        os.mkfifo(place.path)
    with pytest.raises(PullSecretError, match="was not changed"):
        place.sync().apply(WANTED)
    assert place.beside() == ["config.json"]
    assert place.systemd.restarts == 0


def test_nothing_to_hold_is_refused(place: Place) -> None:
    place.put(document(quay_io="old"))
    with pytest.raises(InvalidDocument, match="no registry"):
        place.sync().apply(config())
    assert place.auths() == document(quay_io="old")["auths"]


def test_ledger_and_messages_hold_no_secret(place: Place) -> None:
    place.put(document(quay_io="old"))
    place.systemd.script = ["failed"] * 3
    result = place.sync().apply(config(quay_io="new", ghcr_io="b"))
    shown = repr(vars(result)) + str(place.ledger())
    assert "example-password" not in shown
    for text in ("old", "new", "b"):
        assert auth(text)["auth"] not in shown
    for name in place.beside():
        if name != "config.json":
            assert stat.S_IMODE((place.path.parent / name).stat().st_mode) == 0o600
