# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One secret with a docker config: created, unchanged, changed, repaired; check mode and diff."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager import claim
from tests.support.docker_configs import auth
from tests.support.secret_manager import OURS, PROJECT, Module, document, owned, secret_id


def test_the_first_run_creates_the_secret_with_its_labels_and_one_version(module: Module) -> None:
    result = module.put(cluster_name="production-cluster")

    assert result["changed"]
    assert result["actions"] == ["created", "version added"]
    assert result["version"] == "1"
    assert result["place"] == f"projects/{PROJECT}/secrets/hyperfleet-cls-1-pull-secret"
    assert result["registries"] == {"quay.io": "inline", "registry.redhat.io": "inline"}
    assert dict(module.secret().labels) == {
        **OURS,
        "cluster-id": "cls-1",
        "cluster-name": "production-cluster",
    }
    assert module.secret().replication.WhichOneof("replication") == "automatic"
    assert module.states() == ["ENABLED"]
    assert module.holds("one")


def test_what_is_stored_was_sent_with_its_checksum_and_read_back(module: Module) -> None:
    module.put()
    record = module.lab.store.find(PROJECT, secret_id("cls-1"))
    assert record is not None
    assert record.versions[0].message.client_specified_payload_checksum
    assert module.count("AccessSecretVersion") == 1


def test_the_second_run_writes_nothing(module: Module) -> None:
    first = module.put()
    module.lab.calls.clear()
    second = module.put()

    assert not second["changed"]
    assert second["actions"] == []
    assert second["version"] == "1"
    assert second["digest"] == first["digest"]
    assert module.writes() == 0
    # One call reads the newest version, the other finds that there is no newer one.
    assert module.count("AccessSecretVersion") == 2


def test_changed_content_is_one_version_more(module: Module) -> None:
    first = module.put("one")
    second = module.put("two")

    assert second["actions"] == ["version added"]
    assert second["version"] == "2"
    assert second["digest"] != first["digest"]
    assert module.states() == ["ENABLED", "ENABLED"]
    assert module.holds("two")


@pytest.mark.parametrize(
    "same",
    [
        pytest.param(document("one", indent=4), id="indented"),
        pytest.param(document("one", "registry.redhat.io", "quay.io"), id="other order"),
        pytest.param(document("one", separators=(",", ":")) + "\n\n", id="no white space"),
    ],
)
def test_the_same_meaning_in_other_bytes_is_no_change(module: Module, same: str) -> None:
    module.lab.seed([owned("cls-1", document("one"))])
    result = module.one(source={"inline": same})

    assert not result["changed"]
    assert module.writes() == 0


def test_labels_that_are_wrong_are_repaired_without_a_new_version(module: Module) -> None:
    labels = {"managed-by": "hyperfleet", "cluster-id": "cls-1", "adapter": "other"}
    module.lab.seed([owned("cls-1", document(), labels=labels)])
    result = module.put()

    assert result["actions"] == ["labels updated"]
    assert dict(module.secret().labels) == {**OURS, "cluster-id": "cls-1"}
    assert len(module.states()) == 1
    assert module.count("UpdateSecret") == 1


def test_foreign_labels_and_annotations_are_kept(module: Module) -> None:
    theirs = {"cost-center": "42"}
    noted = {"owner": "platform-team"}
    seeded = owned("cls-1", document("one"), annotations=noted)
    module.lab.seed([{**seeded, "labels": {**theirs, **seeded["labels"]}}])
    module.put("two", labels={"tier": "gold"}, annotations={"ticket": "OPS-1"})

    assert dict(module.secret().labels) == {**OURS, **theirs, "cluster-id": "cls-1", "tier": "gold"}
    annotations = dict(module.secret().annotations)
    assert annotations["owner"] == "platform-team"
    assert annotations["ticket"] == "OPS-1"


def test_a_users_label_cannot_take_the_place_of_the_owners(module: Module) -> None:
    module.put(labels={"managed-by": "hyperfleet", "cluster-id": "cls-1"})
    for key in ("managed-by", "cluster-id", "adapter", "resource-type", "hyperfleet-version"):
        for check in (True, False):
            result = module.put("two", labels={key: "somebody"}, check=check)
            assert result["kind"] == "configuration"
            assert result["msg"].startswith(f"label '{key}' is reserved for this collection")
    assert dict(module.secret().labels) == {**OURS, "cluster-id": "cls-1"}
    assert module.holds("one")


def test_a_cluster_is_named_by_its_option_alone(module: Module) -> None:
    """A label would give the secret to another cluster without any check."""
    arguments: dict[str, Any] = {"cluster_id": None, "secret": "shared", "source": {"inline": document()}}
    result = module.one("", labels={"cluster-id": "cls-2"}, **arguments)
    assert result["msg"].startswith("label 'cluster-id' is reserved for this collection")
    assert "failed" not in module.one("", labels={"cluster-name": "any"}, **arguments)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Production Cluster (EU)", "production-cluster--eu-"),
        ("Zürich/1", "z-rich-1"),
        ("n" * 80, "n" * 63),
    ],
)
def test_a_cluster_name_is_made_fit_for_a_label(module: Module, name: str, label: str) -> None:
    module.put(cluster_name=name)
    assert module.secret().labels["cluster-name"] == label
    module.lab.calls.clear()
    assert not module.put(cluster_name=name)["changed"]
    assert module.writes() == 0


def test_a_customers_key_encrypts_an_automatic_secret(module: Module) -> None:
    key = "projects/p/locations/global/keyRings/r/cryptoKeys/k"
    module.put(kms_key=key)
    assert module.secret().replication.automatic.customer_managed_encryption.kms_key_name == key


def test_user_managed_replication_with_a_key_for_each_location(module: Module) -> None:
    keys = {
        location: f"projects/p/locations/{location}/keyRings/r/cryptoKeys/k"
        for location in ("europe-west1", "europe-west4")
    }
    module.put(replication="user_managed", locations=list(keys), location_kms_keys=keys)
    replicas = module.secret().replication.user_managed.replicas
    assert {
        replica.location: replica.customer_managed_encryption.kms_key_name for replica in replicas
    } == keys


# Check mode and diff.

_SITUATIONS: dict[str, dict[str, Any]] = {
    "absent": {},
    "right": {"versions": [{"data": document("one")}]},
    "other content": {"versions": [{"data": document("old")}]},
    "no version": {"versions": []},
    "broken content": {"versions": [{"data": "{"}]},
    "newest disabled": {
        "versions": [{"data": document("one")}, {"data": document("two"), "state": "DISABLED"}]
    },
    "all destroyed": {"versions": [{"data": document("one"), "state": "DESTROYED"}]},
    "labels wrong": {
        "labels": {"managed-by": "hyperfleet", "cluster-id": "cls-1"},
        "versions": [{"data": document("one")}],
    },
    "labels and content wrong": {
        "labels": {"managed-by": "hyperfleet", "cluster-id": "cls-1"},
        "versions": [{"data": document("old")}],
    },
    "foreign": {"labels": {"managed-by": "somebody"}, "versions": [{"data": document("one")}]},
    "many versions": {"versions": [{"data": document(word)} for word in ("1", "2", "3", "4")]},
}


@pytest.mark.parametrize("situation", list(_SITUATIONS))
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({"source": {"inline": document("one")}}, id="present"),
        pytest.param({"source": {"inline": document("one")}, "adopt": True}, id="adopt"),
        pytest.param({"source": {"inline": document("one")}, "retention": {"keep": 2}}, id="retention"),
        pytest.param({"state": "absent"}, id="absent"),
    ],
)
def test_check_mode_writes_nothing_and_says_what_the_run_then_does(
    module: Module, situation: str, arguments: dict[str, Any]
) -> None:
    fields = _SITUATIONS[situation]
    if fields:
        module.lab.seed([owned("cls-1", **fields)])
    foreseen = module.one(check=True, diff=True, **arguments)
    assert module.writes() == 0

    done = module.one(diff=True, **arguments)
    assert not done.get("failed") or (situation == "foreign" and done["kind"] == "ownership")
    for key in ("changed", "actions", "registries", "digest", "failed", "kind", "warnings"):
        assert foreseen.get(key) == done.get(key), key
    assert foreseen.get("diff") == done.get("diff")


def test_a_diff_names_registries_and_digests_and_no_value(module: Module) -> None:
    module.put("one")
    after = document("two", "quay.io", "registry.example.com")
    result = module.one(source={"inline": after}, diff=True)

    (diff,) = result["diff"]
    assert diff["before_header"] == result["place"]
    assert "registry quay.io (credential differs)" in diff["before"]
    assert "registry registry.redhat.io" in diff["before"]
    assert "registry registry.example.com" in diff["after"]
    assert f"digest: {result['digest']}" in diff["after"]
    for word in (auth("one"), auth("two"), "example-password"):
        assert word not in json.dumps(result)


@pytest.mark.parametrize("before", [{}, {"ticket": "OPS-1"}], ids=["added", "changed"])
def test_an_annotation_that_changes_is_told_and_shown(module: Module, before: dict[str, str]) -> None:
    kept = {"owner": "platform-team", claim.ANNOTATION: "example-mark"}
    module.lab.seed([owned("cls-1", document(), annotations={**kept, **before})])
    result = module.put(annotations={"ticket": "OPS-2", "owner": "platform-team"}, diff=True)

    assert result["actions"] == ["annotations updated"]
    (diff,) = result["diff"]
    old, new = diff["before"].splitlines(), diff["after"].splitlines()
    assert [line for line in old if line not in new] == [f"annotation {k}: {v}" for k, v in before.items()]
    assert [line for line in new if line not in old] == ["annotation ticket: OPS-2"]
    # Neither foreign annotations nor our internal ones.
    assert "platform-team" not in json.dumps(diff)
    assert claim.ANNOTATION not in json.dumps(diff)
    assert dict(module.secret().annotations) == {**kept, "ticket": "OPS-2"}
    assert not module.put(annotations={"ticket": "OPS-2"})["changed"]


def test_a_label_beside_an_annotation_is_told_as_before(module: Module) -> None:
    module.lab.seed([owned("cls-1", document())])
    result = module.put(annotations={"ticket": "OPS-2"}, labels={"tier": "gold"}, diff=True)
    assert result["actions"] == ["labels updated"]
    (diff,) = result["diff"]
    assert "label tier: gold\n" in diff["after"]
    assert "annotation ticket: OPS-2\n" in diff["after"]


def test_a_deletion_shows_in_the_diff(module: Module) -> None:
    module.put()
    (diff,) = module.one(state="absent", diff=True)["diff"]
    assert diff["before"] != ""
    assert diff["after"] == ""


def test_without_a_change_there_is_no_diff(module: Module) -> None:
    module.put()
    assert "diff" not in module.put(diff=True)


# Arbitrary content in the store.


def test_a_disabled_newest_version_is_passed_over(module: Module) -> None:
    versions = [{"data": document("one")}, {"data": document("two"), "state": "DISABLED"}]
    module.lab.seed([owned("cls-1", versions=versions)])

    same = module.put("one")
    assert not same["changed"]
    assert same["version"] == "1"
    assert module.writes() == 0

    # Consumers do not get the content of the disabled version, so it is added again.
    other = module.put("two")
    assert other["version"] == "3"
    assert module.states() == ["ENABLED", "DISABLED", "ENABLED"]


def test_destroyed_versions_are_passed_over(module: Module) -> None:
    versions = [{"data": document("one")}, {"data": document("two"), "state": "DESTROYED"}]
    module.lab.seed([owned("cls-1", versions=versions)])
    assert not module.put("one")["changed"]
    assert module.put("two")["version"] == "3"


@pytest.mark.parametrize("payload", ["{", "not json", '{"auths": {"quay.io": 1}}', "{}", '{"auths": {}}'])
def test_a_stored_payload_that_no_reader_would_take_is_replaced(module: Module, payload: str) -> None:
    module.lab.seed([owned("cls-1", payload)])
    result = module.put("one")
    assert result["actions"] == ["version added"]
    assert module.holds("one")


def test_a_secret_deleted_behind_our_back_is_made_again(module: Module) -> None:
    module.put()
    module.lab.store.delete(PROJECT, secret_id("cls-1"))
    assert module.put()["actions"] == ["created", "version added"]
    assert module.holds("one")


def test_a_version_disabled_behind_our_back_is_added_again(module: Module) -> None:
    module.put()
    record = module.lab.store.find(PROJECT, secret_id("cls-1"))
    assert record is not None
    module.lab.store.set_version_state(record, record.versions[0], 2)
    assert module.put()["version"] == "2"
    assert module.states() == ["DISABLED", "ENABLED"]
