# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Creating Secrets: what the server stores and what it refuses."""

from __future__ import annotations

import re

import pytest

from tests.kubernetes.contract.conftest import real_only
from tests.kubernetes.contract.support import DOCKER_CONFIG, Client, Place, causes, pull_secret, secret, unb64
from tests.support.docker_configs import TYPE, encoded

MIB = 1024 * 1024


def test_a_created_secret_is_stored_as_sent(admin: Client, place: Place) -> None:
    labels, annotations = {"app": "a", "example.com/b": "c"}, {"example.com/note": "any text: {}"}
    made = admin.post(place.secrets, pull_secret("s", labels=labels, annotations=annotations))
    assert made.code == 201
    read = admin.get(place.at("s")).ok()
    assert read == made.ok()
    assert (read["kind"], read["apiVersion"], read["type"]) == ("Secret", "v1", TYPE)
    assert read["data"] == {".dockerconfigjson": encoded(DOCKER_CONFIG)}
    assert (read["metadata"]["labels"], read["metadata"]["annotations"]) == (labels, annotations)


def test_the_server_adds_identity_version_and_time(place: Place) -> None:
    metadata = place.made(secret("s"))["metadata"]
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", metadata["uid"])
    assert metadata["resourceVersion"].isdigit()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", metadata["creationTimestamp"])
    assert metadata["namespace"] == place.namespace


def test_a_missing_secret_is_404(admin: Client, place: Place) -> None:
    status = admin.get(place.at("none")).refused(404, "NotFound")
    assert status["message"] == 'secrets "none" not found'
    assert status["details"] == {"name": "none", "kind": "secrets"}


def test_a_second_create_is_409_already_exists(admin: Client, place: Place) -> None:
    place.made(pull_secret("s"))
    status = admin.post(place.secrets, pull_secret("s")).refused(409, "AlreadyExists")
    assert status["message"] == 'secrets "s" already exists'
    assert status["details"] == {"name": "s", "kind": "secrets"}


def test_create_in_a_missing_namespace_is_404_for_the_namespace(admin: Client) -> None:
    path = "/api/v1/namespaces/not-there/secrets"
    # The server checks the namespace first, also for an invalid Secret.
    for body in (pull_secret("s"), secret("s", type=TYPE)):
        status = admin.post(path, body).refused(404, "NotFound")
        assert status["message"] == 'namespaces "not-there" not found'
        assert status["details"] == {"name": "not-there", "kind": "namespaces"}


def test_reading_in_a_missing_namespace_does_not_show_that_it_is_missing(admin: Client) -> None:
    root = "/api/v1/namespaces/not-there/secrets"
    assert admin.get(root).ok()["items"] == []
    assert admin.get(f"{root}/s").refused(404, "NotFound")["details"]["kind"] == "secrets"


def test_without_a_type_it_is_opaque(place: Place) -> None:
    assert place.made(secret("s"))["type"] == "Opaque"


def test_string_data_is_encoded_wins_over_data_and_is_not_kept(place: Place) -> None:
    made = place.made(secret("s", stringData={"a": "new"}, data={"a": encoded("old"), "b": encoded("kept")}))
    assert {key: unb64(value) for key, value in made["data"].items()} == {"a": "new", "b": "kept"}
    assert "stringData" not in made


def test_line_breaks_inside_base64_are_dropped(place: Place) -> None:
    text = encoded("x" * 60)
    assert place.made(secret("s", data={"k": f"{text[:40]}\r\n{text[40:]}\n"}))["data"] == {"k": text}


@pytest.mark.parametrize("value", ["!!!", "abc", "ab=c", "YWJj\tYWJj"])
def test_invalid_base64_is_400(admin: Client, place: Place, value: str) -> None:
    status = admin.post(place.secrets, secret("s", data={"k": value})).refused(400, "BadRequest")
    start = 'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte '
    assert status["message"].startswith(start)


@real_only
@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"data": {"k": 5}}, "cannot unmarshal number into Go struct field Secret.data"),
        ({"data": "text"}, "cannot unmarshal string into Go struct field Secret.data"),
        ({"labels": {"k": 5}}, "cannot unmarshal number into Go struct field ObjectMeta.metadata.labels"),
    ],
)
def test_wrong_json_types_are_400(admin: Client, place: Place, fields: dict[str, object], what: str) -> None:
    status = admin.post(place.secrets, secret("s", **fields)).refused(400, "BadRequest")
    assert what in status["message"]


@pytest.mark.parametrize("text", ["{not json", "[]", '"text"'])
def test_a_body_that_is_no_object_is_400(admin: Client, place: Place, text: str) -> None:
    status = admin.post(place.secrets, text).refused(400, "BadRequest")
    assert "must be of type Secret" in status["message"]


def test_another_kind_is_400(admin: Client, place: Place) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "s"}}
    status = admin.post(place.secrets, body).refused(400, "BadRequest")
    assert 'ConfigMap in version "v1" cannot be handled as a Secret' in status["message"]


def test_a_body_in_another_format_is_415(admin: Client, place: Place) -> None:
    admin.call("POST", place.secrets, "text", "text/plain").refused(415, "UnsupportedMediaType")


@pytest.mark.parametrize("data", [{}, {"config.json": encoded("{}")}, {".dockercfg": encoded("{}")}])
def test_a_pull_secret_without_its_key_is_422(admin: Client, place: Place, data: dict[str, str]) -> None:
    status = admin.post(place.secrets, secret("s", type=TYPE, data=data)).refused(422, "Invalid")
    assert status["message"] == 'Secret "s" is invalid: data[.dockerconfigjson]: Required value'
    assert (status["details"]["name"], status["details"]["kind"]) == ("s", "Secret")
    assert causes(status) == [("data[.dockerconfigjson]", "FieldValueRequired")]


@pytest.mark.parametrize("document", ["", "example-password", "[]", '"text"', "1", '{"auths":', "{}{}"])
def test_a_pull_secret_that_is_no_json_object_is_422_and_not_repeated(
    admin: Client, place: Place, document: str
) -> None:
    answer = admin.post(place.secrets, pull_secret("s", document))
    status = answer.refused(422, "Invalid")
    assert causes(status) == [("data[.dockerconfigjson]", "FieldValueInvalid")]
    assert "<secret contents redacted>" in status["message"]
    assert "example-password" not in answer.text
    assert encoded(document) not in answer.text or not document


@pytest.mark.parametrize("document", ["{}", "null", '{"auths":5}', '{"a":1,"a":2}', ' {"unknown":[]}\n'])
def test_any_json_object_is_a_pull_secret_to_the_server(place: Place, document: str) -> None:
    assert unb64(place.made(pull_secret("s", document))["data"][".dockerconfigjson"]) == document


@pytest.mark.parametrize("name", ["Upper", "under_score", "-dash", "dot.", "a..b", "x" * 254, "sp ace"])
def test_an_invalid_name_is_422(admin: Client, place: Place, name: str) -> None:
    status = admin.post(place.secrets, secret(name)).refused(422, "Invalid")
    assert causes(status) == [("metadata.name", "FieldValueInvalid")]


@pytest.mark.parametrize("name", ["a", "a.b-c.9", "x" * 253])
def test_valid_names(place: Place, name: str) -> None:
    assert place.made(secret(name))["metadata"]["name"] == name


def test_no_name_is_422(admin: Client, place: Place) -> None:
    status = admin.post(place.secrets, {"metadata": {}}).refused(422, "Invalid")
    assert "name or generateName is required" in status["message"]


def test_generate_name_gives_each_its_own(place: Place) -> None:
    body = {"metadata": {"generateName": "pull-"}}
    made = [place.made(body)["metadata"]["name"] for dummy in range(2)]
    assert made[0] != made[1]
    assert all(re.fullmatch(r"pull-[a-z0-9]{5}", name) for name in made)


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"labels": {"bad key": "v"}}, "metadata.labels"),
        ({"labels": {"k": "bad value"}}, "metadata.labels"),
        ({"labels": {"k": "x" * 64}}, "metadata.labels"),
        ({"labels": {"k" * 64: ""}}, "metadata.labels"),
        ({"labels": {"Upper.example.com/k": ""}}, "metadata.labels"),
        ({"labels": {"/k": ""}}, "metadata.labels"),
        ({"labels": {"k": "-v"}}, "metadata.labels"),
        ({"annotations": {"bad key": "v"}}, "metadata.annotations"),
    ],
)
def test_invalid_labels_and_annotations_are_422(
    admin: Client, place: Place, metadata: dict[str, dict[str, str]], field: str
) -> None:
    status = admin.post(place.secrets, secret("s", **metadata)).refused(422, "Invalid")
    assert causes(status) == [(field, "FieldValueInvalid")]


def test_all_broken_rules_are_reported_together(admin: Client, place: Place) -> None:
    body = secret("Bad_Name", labels={"k": "bad value"}, type=TYPE)
    status = admin.post(place.secrets, body).refused(422, "Invalid")
    assert causes(status) == [
        ("metadata.name", "FieldValueInvalid"),
        ("metadata.labels", "FieldValueInvalid"),
        ("data[.dockerconfigjson]", "FieldValueRequired"),
    ]
    assert status["message"].startswith('Secret "Bad_Name" is invalid: [metadata.name: ')


def test_a_data_key_has_few_characters(admin: Client, place: Place) -> None:
    status = admin.post(place.secrets, secret("s", data={"bad key": ""})).refused(422, "Invalid")
    assert causes(status) == [("data[bad key]", "FieldValueInvalid")]


def test_data_of_more_than_one_mib_is_422(admin: Client, place: Place) -> None:
    admin.post(place.secrets, secret("s", data={"k": encoded("x" * MIB)})).ok()
    body = secret("t", data={"k": encoded("x" * MIB), "l": encoded("y")})
    status = admin.post(place.secrets, body).refused(422, "Invalid")
    assert causes(status) == [("data", "FieldValueTooLong")]


def test_annotations_of_more_than_256_kib_are_422(admin: Client, place: Place) -> None:
    body = secret("s", annotations={"k": "v" * 256 * 1024})
    status = admin.post(place.secrets, body).refused(422, "Invalid")
    assert causes(status) == [("metadata.annotations", "FieldValueTooLong")]


def test_another_namespace_in_the_body_is_400(admin: Client, place: Place) -> None:
    status = admin.post(place.secrets, secret("s", namespace="other")).refused(400, "BadRequest")
    assert "does not match the namespace" in status["message"]


def test_a_resource_version_in_a_create_is_refused(admin: Client, place: Place) -> None:
    status = admin.post(place.secrets, secret("s", resourceVersion="5")).refused(500, None)
    assert status["message"] == "resourceVersion should not be set on objects to be created"


def test_unknown_fields_are_dropped_or_refused_when_strict(admin: Client, place: Place) -> None:
    body = {**secret("s"), "extra": {"a": 1}}
    status = admin.post(place.secrets, body, fieldValidation="Strict").refused(400, "BadRequest")
    assert 'strict decoding error: unknown field "extra"' in status["message"]
    assert "extra" not in place.made(body)


def test_dry_run_checks_everything_and_stores_nothing(admin: Client, place: Place) -> None:
    made = admin.post(place.secrets, pull_secret("s"), dryRun="All").ok()
    assert made["data"] == {".dockerconfigjson": encoded(DOCKER_CONFIG)}
    admin.get(place.at("s")).refused(404, "NotFound")
    admin.post(place.secrets, pull_secret("s", "no json"), dryRun="All").refused(422, "Invalid")
    place.made(pull_secret("s"))
    admin.post(place.secrets, pull_secret("s"), dryRun="All").refused(409, "AlreadyExists")


@real_only
def test_another_dry_run_is_422(admin: Client, place: Place) -> None:
    admin.post(place.secrets, pull_secret("t"), dryRun="Some").refused(422, "Invalid")
