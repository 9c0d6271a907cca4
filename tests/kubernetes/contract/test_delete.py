# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""DELETE: preconditions, finalizers, collections."""

from __future__ import annotations

import pytest

from tests.kubernetes.contract.conftest import real_only
from tests.kubernetes.contract.support import (
    PROTECTED,
    Client,
    Place,
    causes,
    names,
    pull_secret,
    secret,
    version,
)

OTHER_UID = "11111111-1111-1111-1111-111111111111"


def test_delete_answers_with_a_status_that_names_the_uid(admin: Client, place: Place) -> None:
    made = place.made(pull_secret("s"))
    status = admin.delete(place.at("s")).ok()
    assert (status["kind"], status["status"]) == ("Status", "Success")
    assert status["details"] == {"name": "s", "kind": "secrets", "uid": made["metadata"]["uid"]}
    admin.get(place.at("s")).refused(404, "NotFound")
    admin.delete(place.at("s")).refused(404, "NotFound")


def test_after_a_delete_the_name_is_free_for_another_type(admin: Client, place: Place) -> None:
    first = place.made(secret("s"))
    admin.delete(place.at("s")).ok()
    second = place.made(pull_secret("s"))
    assert second["metadata"]["uid"] != first["metadata"]["uid"]


def test_a_delete_can_insist_on_uid_and_version(admin: Client, place: Place) -> None:
    made = place.made(pull_secret("s"))
    uid = made["metadata"]["uid"]
    status = admin.delete(place.at("s"), {"preconditions": {"uid": OTHER_UID}}).refused(409, "Conflict")
    assert f"does not match the UID in record ({uid})" in status["message"]
    changed = admin.patch(place.at("s"), {"metadata": {"labels": {"a": "b"}}}).ok()
    stale = {"preconditions": {"uid": uid, "resourceVersion": version(made)}}
    status = admin.delete(place.at("s"), stale).refused(409, "Conflict")
    assert f"does not match the ResourceVersion in record ({version(changed)})" in status["message"]
    current = {"preconditions": {"uid": uid, "resourceVersion": version(changed)}}
    admin.delete(place.at("s"), current).ok()
    admin.get(place.at("s")).refused(404, "NotFound")


@pytest.mark.parametrize("how", ["query", "body"])
def test_a_dry_run_deletes_nothing(admin: Client, place: Place, how: str) -> None:
    place.made(pull_secret("s"))
    if how == "query":
        admin.delete(place.at("s"), dryRun="All").ok()
    else:
        admin.delete(place.at("s"), {"dryRun": ["All"]}).ok()
    admin.get(place.at("s")).ok()


def test_a_finalizer_holds_an_object_until_it_is_taken_off(admin: Client, place: Place) -> None:
    made = place.made(pull_secret("s", finalizers=[PROTECTED]))
    assert "deletionTimestamp" not in made["metadata"]
    held = admin.delete(place.at("s")).ok()
    assert held["kind"] == "Secret"
    assert held["metadata"]["deletionTimestamp"]
    assert admin.get(place.at("s")).ok() == held
    # Changes are allowed.
    admin.patch(place.at("s"), {"metadata": {"labels": {"a": "b"}}}).ok()
    # The name is taken until the object is gone.
    admin.post(place.secrets, pull_secret("s")).refused(409, "AlreadyExists")
    admin.patch(place.at("s"), {"metadata": {"finalizers": None}}).ok()
    admin.get(place.at("s")).refused(404, "NotFound")


@real_only
def test_a_deleted_object_gets_no_additional_finalizers(admin: Client, place: Place) -> None:
    place.made(pull_secret("s", finalizers=[PROTECTED]))
    admin.delete(place.at("s")).ok()
    more = {"metadata": {"finalizers": [PROTECTED, "hyperfleet.example/more"]}}
    status = admin.patch(place.at("s"), more).refused(422, "Invalid")
    assert causes(status) == [("metadata.finalizers", "FieldValueForbidden")]
    admin.patch(place.at("s"), {"metadata": {"finalizers": None}}).ok()


@real_only
def test_a_collection_is_deleted_by_label(admin: Client, place: Place) -> None:
    for name, value in [("a", "1"), ("b", "1"), ("c", "2")]:
        place.made(secret(name, labels={"n": value}))
    admin.delete(place.secrets, labelSelector="n=1").ok()
    assert names(admin.get(place.secrets).ok()) == ["c"]
