# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""PUT, PATCH and optimistic concurrency."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.errors import (
    translate_kubernetes_error,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.kubernetes.contract.conftest import real_only
from tests.kubernetes.contract.support import (
    APPLY_PATCH,
    JSON,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    Client,
    Place,
    causes,
    pull_secret,
    secret,
    unb64,
    version,
)
from tests.support.docker_configs import TYPE, encoded

MODIFIED = (
    'Operation cannot be fulfilled on secrets "s": the object has been modified; please apply your changes '
    "to the latest version and try again"
)
OTHER_UID = "11111111-1111-1111-1111-111111111111"


def test_a_put_replaces_everything_but_the_identity(admin: Client, place: Place) -> None:
    made = place.made(pull_secret("s", labels={"a": "1"}, annotations={"b": "2"}))
    put = admin.put(place.at("s"), pull_secret("s", "{}", labels={"c": "3"})).ok()
    assert put["metadata"]["labels"] == {"c": "3"}
    assert "annotations" not in put["metadata"]
    assert unb64(put["data"][".dockerconfigjson"]) == "{}"
    for key in ("uid", "creationTimestamp"):
        assert put["metadata"][key] == made["metadata"][key]
    assert version(put) != version(made)


def test_a_put_with_the_current_version_wins_and_with_an_older_one_loses(admin: Client, place: Place) -> None:
    first = place.made(pull_secret("s"))
    second = admin.put(place.at("s"), pull_secret("s", "{}", resourceVersion=version(first))).ok()
    stale = pull_secret("s", '{"auths":{}}', resourceVersion=version(first))
    status = admin.put(place.at("s"), stale).refused(409, "Conflict")
    assert status["message"] == MODIFIED
    assert status["details"] == {"name": "s", "kind": "secrets"}
    assert admin.get(place.at("s")).ok() == second


def test_of_many_writers_with_one_version_one_wins(admin: Client, place: Place) -> None:
    first = place.made(pull_secret("s"))

    def write(number: int) -> int:
        body = pull_secret("s", f'{{"n":{number}}}', resourceVersion=version(first))
        return admin.put(place.at("s"), body).code

    with ThreadPoolExecutor(8) as pool:
        codes = sorted(pool.map(write, range(8)))
    assert codes == [200] + [409] * 7


def test_server_side_apply_removes_what_it_no_longer_has(admin: Client, place: Place) -> None:
    path = f"{place.root}/configmaps/s"

    def applied(dry_run: str = "", **data: str) -> Any:
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s"}, "data": data}
        query = {"fieldManager": "test", "force": "true", **({"dryRun": dry_run} if dry_run else {})}
        return admin.patch(path, body, APPLY_PATCH, **query).ok()

    applied("All", a="1")
    admin.get(path).refused(404, "NotFound")
    first = applied(a="1", b="2")
    assert first["data"] == {"a": "1", "b": "2"}
    admin.patch(path, {"data": {"c": "3"}}).ok()
    before = admin.get(path).ok()
    planned = applied("All", a="4")
    assert planned["data"] == {"a": "4", "c": "3"}
    assert admin.get(path).ok() == before
    changed = applied(a="4")
    assert changed["data"] == planned["data"]
    assert version(applied(a="4")) == version(changed)
    stale = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "s", "resourceVersion": version(first)},
    }
    admin.patch(path, stale, APPLY_PATCH, fieldManager="test", force="true").refused(409, "Conflict")


def test_a_conflict_comes_before_validation(admin: Client, place: Place) -> None:
    first = place.made(pull_secret("s"))
    admin.patch(place.at("s"), {"metadata": {"labels": {"a": "b"}}}).ok()
    broken = secret("s", type=TYPE, resourceVersion=version(first))
    admin.put(place.at("s"), broken).refused(409, "Conflict")


def test_a_put_of_a_missing_object_is_404(admin: Client, place: Place) -> None:
    admin.put(place.at("s"), pull_secret("s")).refused(404, "NotFound")


@pytest.mark.parametrize("name", ["other", ""])
def test_the_name_of_a_put_is_the_name_in_the_url(admin: Client, place: Place, name: str) -> None:
    place.made(pull_secret("s"))
    admin.put(place.at("s"), pull_secret(name)).refused(400, "BadRequest")


def test_a_put_for_another_uid_is_409(admin: Client, place: Place) -> None:
    place.made(pull_secret("s"))
    status = admin.put(place.at("s"), pull_secret("s", "{}", uid=OTHER_UID)).refused(409, "Conflict")
    assert "UID in precondition" in status["message"]


def test_an_update_that_changes_nothing_keeps_the_version(admin: Client, place: Place) -> None:
    made = place.made(pull_secret("s", labels={"a": "b"}))
    assert version(admin.put(place.at("s"), pull_secret("s", labels={"a": "b"})).ok()) == version(made)
    same = {"metadata": {"labels": {"a": "b"}}, "data": made["data"]}
    for content_type in (MERGE_PATCH, STRATEGIC_PATCH):
        assert version(admin.patch(place.at("s"), same, content_type).ok()) == version(made)
        assert version(admin.patch(place.at("s"), {}, content_type).ok()) == version(made)


@pytest.mark.parametrize("how", ["put", "patch"])
def test_the_type_is_immutable(admin: Client, place: Place, how: str) -> None:
    place.made(pull_secret("s"))
    if how == "put":
        answer = admin.put(place.at("s"), secret("s", data={".dockerconfigjson": encoded("{}")}))
    else:
        answer = admin.patch(place.at("s"), {"type": "Opaque"})
    status = answer.refused(422, "Invalid")
    assert status["message"] == 'Secret "s" is invalid: type: Invalid value: "Opaque": field is immutable'
    assert causes(status) == [("type", "FieldValueInvalid")]


def test_an_immutable_secret_refuses_other_data_but_takes_labels(admin: Client, place: Place) -> None:
    place.made({**pull_secret("s"), "immutable": True})
    said = "Forbidden: field is immutable when `immutable` is set"
    status = admin.patch(place.at("s"), {"data": {".dockerconfigjson": encoded("{}")}}).refused(
        422, "Invalid"
    )
    assert status["message"] == f'Secret "s" is invalid: data: {said}'
    status = admin.patch(place.at("s"), {"immutable": False}).refused(422, "Invalid")
    assert status["message"] == f'Secret "s" is invalid: immutable: {said}'
    status = admin.put(place.at("s"), pull_secret("s", "{}")).refused(422, "Invalid")
    assert causes(status) == [("immutable", "FieldValueForbidden"), ("data", "FieldValueForbidden")]
    labelled = admin.patch(place.at("s"), {"metadata": {"labels": {"a": "b"}}}).ok()
    assert labelled["metadata"]["labels"] == {"a": "b"}
    admin.delete(place.at("s")).ok()


@pytest.mark.parametrize("content_type", [MERGE_PATCH, STRATEGIC_PATCH])
def test_a_patch_keeps_what_it_does_not_name_and_null_removes(
    admin: Client, place: Place, content_type: str
) -> None:
    place.made(secret("s", labels={"a": "1", "b": "2"}, annotations={"c": "3"}, data={"k": encoded("v")}))
    patch: dict[str, Any] = {"metadata": {"labels": {"a": None, "d": "4"}}, "data": {"l": encoded("w")}}
    done = admin.patch(place.at("s"), patch, content_type).ok()
    assert done["metadata"]["labels"] == {"b": "2", "d": "4"}
    assert done["metadata"]["annotations"] == {"c": "3"}
    assert done["data"] == {"k": encoded("v"), "l": encoded("w")}
    emptied = admin.patch(place.at("s"), {"metadata": {"labels": None}, "data": None}, content_type).ok()
    assert "labels" not in emptied["metadata"]
    assert "data" not in emptied


def test_string_data_in_a_patch_adds_to_data(admin: Client, place: Place) -> None:
    place.made(secret("s", data={"k": encoded("v")}))
    assert admin.patch(place.at("s"), {"stringData": {"l": "w"}}).ok()["data"] == {
        "k": encoded("v"),
        "l": encoded("w"),
    }


@pytest.mark.parametrize("content_type", [MERGE_PATCH, STRATEGIC_PATCH])
def test_a_patch_with_a_version_is_a_precondition(admin: Client, place: Place, content_type: str) -> None:
    first = place.made(pull_secret("s"))
    patch: dict[str, Any] = {"metadata": {"resourceVersion": version(first), "labels": {"n": "1"}}}
    second = admin.patch(place.at("s"), patch, content_type).ok()
    patch["metadata"]["labels"]["n"] = "2"
    assert admin.patch(place.at("s"), patch, content_type).refused(409, "Conflict")["message"] == MODIFIED
    assert admin.get(place.at("s")).ok() == second


def test_a_patch_cannot_break_a_pull_secret(admin: Client, place: Place) -> None:
    place.made(pull_secret("s"))
    status = admin.patch(place.at("s"), {"data": {".dockerconfigjson": None}}).refused(422, "Invalid")
    assert causes(status) == [("data[.dockerconfigjson]", "FieldValueRequired")]


@real_only
def test_a_patch_of_wrong_types_is_422_and_repeats_the_whole_object(admin: Client, place: Place) -> None:
    """A client must not print this message: it contains the stored data of all keys."""
    place.made(secret("s", data={"other": encoded("example-password")}))
    answer = admin.patch(place.at("s"), {"data": {"k": "!!"}})
    status = answer.refused(422, "Invalid")
    assert causes(status) == [("patch", "FieldValueInvalid")]
    assert encoded("example-password") in status["message"]


def test_a_patch_cannot_rename_or_move(admin: Client, place: Place) -> None:
    place.made(pull_secret("s"))
    admin.patch(place.at("s"), {"metadata": {"name": "t"}}).refused(400, "BadRequest")
    admin.patch(place.at("s"), {"metadata": {"namespace": "default"}}).refused(400, "BadRequest")


@real_only
def test_a_patch_cannot_change_the_uid(admin: Client, place: Place) -> None:
    place.made(pull_secret("s"))
    status = admin.patch(place.at("s"), {"metadata": {"uid": OTHER_UID}}).refused(422, "Invalid")
    assert causes(status) == [("metadata.uid", "FieldValueInvalid")]


def test_a_patch_of_a_missing_object_is_404(admin: Client, place: Place) -> None:
    admin.patch(place.at("s"), {"metadata": {"labels": {"a": "b"}}}).refused(404, "NotFound")


@pytest.mark.parametrize("content_type", [JSON, "text/plain"])
def test_a_patch_needs_a_patch_format(admin: Client, place: Place, content_type: str) -> None:
    admin.patch(place.at("s"), {}, content_type).refused(415, "UnsupportedMediaType")


@pytest.mark.parametrize(
    ("content_type", "body"),
    [(MERGE_PATCH, "[]"), (MERGE_PATCH, "{"), (STRATEGIC_PATCH, "[]")],
)
def test_a_patch_of_the_wrong_shape_is_400(admin: Client, place: Place, content_type: str, body: str) -> None:
    place.made(pull_secret("s"))
    admin.patch(place.at("s"), body, content_type).refused(400, "BadRequest")


def test_dry_run_of_an_update_stores_nothing(admin: Client, place: Place) -> None:
    made = place.made(pull_secret("s"))
    shown = admin.patch(place.at("s"), {"metadata": {"labels": {"a": "b"}}}, dryRun="All").ok()
    assert shown["metadata"]["labels"] == {"a": "b"}
    assert admin.put(place.at("s"), pull_secret("s", "{}"), dryRun="All").ok()["data"] != made["data"]
    admin.put(place.at("s"), pull_secret("s", "no json"), dryRun="All").refused(422, "Invalid")
    assert admin.get(place.at("s")).ok() == made


@real_only
def test_a_manifest_that_does_not_fit_its_kind_is_named(admin: Client, place: Place) -> None:
    """The server answers with 500, which would count as an outage."""
    annotations = {"example.com/port": 8080}
    metadata = {"name": "s", "annotations": annotations}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "example": "a value"}
    path = f"{place.root}/configmaps/s"
    for wrong in (body, {**body, "metadata": {"name": "s"}}):
        answer = admin.patch(path, wrong, APPLY_PATCH, fieldManager="test", force="true")
        error = translate_kubernetes_error(answer.code, answer.text.encode(), "PATCH", "configmaps/s")
        assert isinstance(error, ConfigurationError), answer.text
        assert "a value" not in str(error)
        assert "8080" not in str(error)
