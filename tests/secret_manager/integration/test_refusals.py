# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ownership, deletion, invalid documents and options: what is rejected before anything is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.support.secret_manager import OURS, PROJECT, Module, document, owned, secret_id

_FOREIGN = {
    "no label": ({"team": "other"}, "has no label managed-by=hyperfleet"),
    "other manager": ({"managed-by": "terraform", "cluster-id": "cls-1"}, "is managed by terraform"),
    "other cluster": ({"managed-by": "hyperfleet", "cluster-id": "cls-9"}, "belongs to cluster cls-9"),
    "no cluster": ({"managed-by": "hyperfleet"}, "has no label cluster-id"),
}


@pytest.fixture(params=list(_FOREIGN))
def foreign(request: pytest.FixtureRequest, module: Module) -> str:
    """A secret with another owner under the name of cls-1's; the words that a message uses for the owner."""
    labels, words = _FOREIGN[request.param]
    module.lab.seed([owned("cls-1", document("theirs"), labels=labels)])
    return words


_ARGUMENTS: list[dict[str, Any]] = [
    {"source": {"inline": document("ours")}},
    {"source": {"inline": document("theirs")}},
    {"state": "absent"},
    {"restore_version": "1"},
    {"source": {"inline": document("theirs")}, "retention": {"keep": 1}},
]


def _batch(first: dict[str, Any]) -> list[dict[str, Any]]:
    """The target among others, so that one LIST reads the metadata of all."""
    others = [
        {"cluster_id": f"cls-{number}", "source": {"inline": document()}, "project": PROJECT}
        for number in (2, 3)
    ]
    return [{"cluster_id": "cls-1", "project": PROJECT, **first}, *others]


@pytest.mark.parametrize("arguments", _ARGUMENTS, ids=["change", "same", "absent", "restore", "retention"])
def test_a_foreign_secret_is_refused_and_nothing_is_written(
    module: Module, foreign: str, arguments: dict[str, Any]
) -> None:
    before = module.secret().SerializeToString()
    result = module.one(**arguments)

    assert result["failed"]
    assert not result["changed"]
    assert result["kind"] == "ownership"
    assert f"{secret_id('cls-1')} exists but {foreign}" in result["msg"]
    another_clusters = foreign.startswith("belongs to")
    assert ("adopt: true" in result["msg"]) is not another_clusters
    if arguments.get("state") != "absent":
        assert result["msg"].endswith(
            "; it was not changed; check the cluster_id, or give this cluster another secret_name"
            if another_clusters
            else "; it was not changed; give this cluster another secret_name, or take it over with "
            "adopt: true on this cluster, or delete it if nobody needs it"
        )
    assert module.writes() == 0
    assert module.secret().SerializeToString() == before
    assert module.states() == ["ENABLED"]


@pytest.mark.parametrize("arguments", _ARGUMENTS, ids=["change", "same", "absent", "restore", "retention"])
def test_in_a_batch_a_foreign_secret_is_refused_as_well(
    module: Module, foreign: str, arguments: dict[str, Any]
) -> None:
    before = module.secret().SerializeToString()
    result = module.run(targets=_batch(arguments))

    assert [target["kind"] for target in result["failed_targets"]] == ["ownership"]
    assert foreign in result["targets"][0]["msg"]
    assert module.secret().SerializeToString() == before
    assert module.states() == ["ENABLED"]
    assert module.holds("one", "cls-2")
    assert module.holds("one", "cls-3")


@pytest.mark.usefixtures("foreign")
def test_adopt_takes_it_over(module: Module) -> None:
    result = module.put("ours", adopt=True)
    assert result["actions"] == ["adopted", "version added"]
    labels = dict(module.secret().labels)
    assert {**labels, **OURS, "cluster-id": "cls-1"} == labels
    assert module.holds("ours")
    module.lab.calls.clear()
    assert not module.put("ours")["changed"]
    assert module.writes() == 0


def test_adopt_does_not_delete_what_is_somebody_elses(module: Module, foreign: str) -> None:
    before = module.secret().SerializeToString()
    for check in (True, False):
        result = module.one(state="absent", adopt=True, check=check)
        assert result["kind"] == "ownership"
        assert foreign in result["msg"]
        assert (
            "; it was not deleted; check the cluster_id and the secret_name"
            if foreign.startswith("belongs to")
            else "state: present and adopt: true"
        ) in result["msg"]
    assert module.writes() == 0
    assert module.secret().SerializeToString() == before

    # Adoption, then deletion.
    module.put("theirs", adopt=True)
    assert module.one(state="absent")["actions"] == ["deleted"]


def test_adopt_does_not_delete_in_a_batch(module: Module, foreign: str) -> None:
    result = module.run(targets=_batch({"state": "absent", "adopt": True}))
    assert [target["kind"] for target in result["failed_targets"]] == ["ownership"]
    assert foreign in result["targets"][0]["msg"]
    assert module.count("DeleteSecret") == 0


def test_a_secret_without_a_cluster_belongs_to_every_run_with_the_same_manager(module: Module) -> None:
    result = module.one("", cluster_id=None, secret="shared-pull-secret", source={"inline": document()})
    assert result["id"] == "shared-pull-secret"
    record = module.lab.store.find(PROJECT, "shared-pull-secret")
    assert record is not None
    assert dict(record.message.labels) == OURS


# Deletion.


def test_absent_deletes_what_is_ours(module: Module) -> None:
    module.put()
    result = module.one(state="absent")
    assert result["actions"] == ["deleted"]
    assert module.secret() is None


def test_absent_of_what_is_gone_is_no_change(module: Module) -> None:
    result = module.one(state="absent")
    assert not result["changed"]
    assert module.writes() == 0


def test_absent_of_what_is_gone_needs_no_right_to_read_versions(module: Module) -> None:
    fault = module.lab.faults.add("AccessSecretVersion", code="PERMISSION_DENIED")
    result = module.one(state="absent")
    assert (result["changed"], result.get("failed", False), fault.hits) == (False, False, 1)


def test_absent_in_a_batch_deletes_ours_and_leaves_what_is_gone(module: Module) -> None:
    module.put(cluster="cls-1")
    module.put(cluster="cls-2")
    targets = [{"cluster_id": f"cls-{number}"} for number in (1, 2, 3)]
    result = module.run(project=PROJECT, state="absent", targets=targets)
    assert [target["changed"] for target in result["targets"]] == [True, True, False]
    assert len(module.lab.store) == 0


def test_absent_needs_no_source_and_takes_none_into_account(module: Module) -> None:
    module.put()
    result = module.one(state="absent", source={"file": "/nonexistent/pull-secret.json"})
    assert result["actions"] == ["deleted"]


# Invalid documents: permanent, and before any call that writes.

_INVALID = {
    "not json": "{",
    "not an object": "[]",
    "auths missing": '{"other": {}}',
    "auth not base64": '{"auths": {"quay.io": {"auth": "***"}}}',
    "auth without colon": '{"auths": {"quay.io": {"auth": "ZXhhbXBsZQ=="}}}',
    "duplicate key": '{"auths": {"quay.io": {"auth": "YTpi"}, "quay.io": {"auth": "YTpj"}}}',
    "empty": "",
}


@pytest.mark.parametrize("text", list(_INVALID.values()), ids=list(_INVALID))
@pytest.mark.parametrize("there", [False, True], ids=["first run", "update"])
def test_an_invalid_document_fails_before_any_write(
    module: Module, text: str, there: bool, tmp_path: Path
) -> None:
    if there:
        module.lab.seed([owned("cls-1", document("one"))])
    path = tmp_path / "pull-secret.json"
    path.write_text(text)
    result = module.one(source={"file": str(path)})

    assert result["failed"]
    assert result["kind"] == "invalid_document"
    assert str(path) in result["msg"]
    assert result["retries"] == 0
    assert module.lab.calls.count() == 0


@pytest.mark.parametrize("check", [False, True], ids=["run", "check"])
def test_more_than_64_kib_is_refused_before_any_write(module: Module, check: bool) -> None:
    result = module.one(
        source={"inline": document("x" * 100, *(f"registry-{n}.example.com" for n in range(400)))},
        check=check,
    )
    assert result["kind"] == "invalid_document"
    assert "65536" in result["msg"]
    assert module.writes() == 0


def test_just_under_64_kib_is_stored(module: Module) -> None:
    filler = "x" * 48_800
    result = module.one(source={"inline": document(filler, "quay.io")})
    assert not result.get("failed"), result.get("msg")
    assert 65_000 < len(module.payloads()[0]) <= 65_536


def test_a_missing_source_is_told_by_its_place(module: Module) -> None:
    result = module.one(source={"file": "/nonexistent/pull-secret.json"})
    assert result["kind"] == "not_found"
    assert "/nonexistent/pull-secret.json" in result["msg"]
    assert module.writes() == 0


# Options that make no sense: one target's own failure, without a call.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"project": None}, "project is missing"),
        ({"project": "Not A Project"}, "must be the id or number"),
        ({"cluster_id": "Upper_Case"}, "lower case letters"),
        ({"cluster_id": None}, "secret or cluster_id is required"),
        ({"secret": "with/slash"}, "letters, digits, dashes"),
        ({"source": None}, "one of source, layers and restore_version"),
        ({"labels": {"Upper": "x"}}, "label 1: keys"),
        ({"labels": {"key": "Upper Case"}}, "label 'key'"),
        ({"locations": ["europe-west1"]}, "require replication: user_managed"),
        ({"replication": "user_managed"}, "needs locations"),
        (
            {"replication": "user_managed", "locations": ["europe-west1"], "kms_key": "k"},
            "requires replication: automatic",
        ),
        (
            {"replication": "user_managed", "locations": ["a1", "b1"], "location_kms_keys": {"c1": "k"}},
            "not among the locations",
        ),
        (
            {"replication": "user_managed", "locations": ["a1", "b1"], "location_kms_keys": {"a1": "k"}},
            "every location, or be left out",
        ),
        ({"retention": {"keep": 0}}, "retention.keep"),
        ({"retention": {"keep": 1, "destroy_after": -1}}, "destroy_after"),
        ({"retention": {"keep": 1, "destroy_after": float("nan")}}, "destroy_after"),
        ({"retention": {"keep": 1, "destroy_after": float("inf")}}, "destroy_after"),
        ({"labels": {"n": None}}, "labels.n has no value"),
        ({"annotations": {"n": None}}, "annotations.n has no value"),
        ({"annotations": {"a": {"b": "c"}}}, "annotations.a must be a string, a number or a boolean"),
        ({"restore_version": "latest"}, "number of a version"),
        ({"restore_version": "0"}, "number of a version"),
    ],
)
def test_options_that_make_no_sense_fail_their_target_alone(
    module: Module, arguments: dict[str, Any], words: str
) -> None:
    target = {
        "cluster_id": "cls-1",
        "project": PROJECT,
        "source": {"inline": document()},
        **arguments,
    }
    good = {"cluster_id": "cls-2", "project": PROJECT, "source": {"inline": document()}}
    result = module.run(targets=[target, good])

    assert result["targets"][0]["kind"] == "configuration"
    assert words in result["targets"][0]["msg"]
    assert module.secret("cls-1") is None
    assert not result["targets"][1].get("failed")
    assert result["summary"] == {"total": 2, "changed": 1, "failed": 1}


@pytest.mark.parametrize(
    "second",
    [
        pytest.param({"cluster_id": "cls-1"}, id="same cluster"),
        pytest.param({"id": "cls-1", "cluster_id": "cls-2"}, id="same id"),
        pytest.param(
            {"id": "other", "cluster_id": "cls-1", "secret": secret_id("cls-1")}, id="same secret by name"
        ),
        pytest.param({"id": "other", "cluster_id": "cls-1"}, id="same secret, other id"),
    ],
)
def test_two_targets_of_one_name_or_place_are_a_mistake_of_the_task(
    module: Module, second: dict[str, Any]
) -> None:
    with pytest.raises(ConfigurationError, match=r"targets 1 and 2"):
        module.run(
            project=PROJECT,
            source={"inline": document()},
            targets=[{"cluster_id": "cls-1"}, second],
        )
    assert module.lab.calls.count() == 0


def test_no_target_is_no_work(module: Module) -> None:
    result = module.run(targets=[])
    assert result == {
        "changed": False,
        "targets": [],
        "failed_targets": [],
        "summary": {"total": 0, "changed": 0, "failed": 0},
    }


def test_no_failure_shows_what_the_document_holds(module: Module) -> None:
    word = "example-password-canary"
    broken = json.dumps({"auths": {"quay.io": {"auth": word, "password": word}}})
    result = module.one(source={"inline": broken}, labels={"key": "x"})
    assert result["failed"]
    assert word not in json.dumps(result)


@pytest.mark.parametrize("key", ["hyperfleet-adding", "hyperfleet-restoring"])
def test_the_marks_of_our_own_are_no_users_annotations(module: Module, key: str) -> None:
    module.put()
    before = module.secret().SerializeToString()
    for check in (True, False):
        result = module.put("two", annotations={key: "1"}, check=check)
        assert result["kind"] == "configuration"
        assert result["msg"].startswith(f"annotation '{key}' is reserved for this collection")
    assert module.secret().SerializeToString() == before
    assert module.states() == ["ENABLED"]


@pytest.mark.parametrize("adopt", [False, True], ids=["plain", "adopt"])
def test_a_clusters_secret_is_not_deleted_by_its_name_alone(module: Module, adopt: bool) -> None:
    module.put()
    module.lab.calls.clear()
    named: dict[str, Any] = {"cluster_id": None, "secret": secret_id("cls-1"), "state": "absent"}
    for check in (True, False):
        result = module.one(**named, adopt=adopt, check=check)
        assert result["kind"] == "ownership"
        assert "belongs to cluster cls-1" in result["msg"]
        assert "set cluster_id: cls-1" in result["msg"]
    assert module.writes() == 0
    assert module.one(**{**named, "cluster_id": "cls-1"})["actions"] == ["deleted"]


def test_a_secret_of_no_cluster_is_deleted_by_its_name(module: Module) -> None:
    module.lab.seed([owned("cls-1", document(), labels=OURS)])
    result = module.one("", cluster_id=None, secret=secret_id("cls-1"), state="absent")
    assert result["actions"] == ["deleted"]
