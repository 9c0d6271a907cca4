# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter checks a termination message before it uses it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model import job_vocabulary
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs import job_result
from tests.support import doc_tables
from tests.support.adapter_jobs.world import order

PAGE = doc_tables.page("job_contract")
KINDS = dict(row for row in doc_tables.tables(PAGE)[-2] if len(row) == 2)["``kind``"]

WHOLE: dict[str, Any] = {
    "result": "failure",
    "version": "3",
    "secret": "projects/p-1/secrets/hyperfleet-c-1-pull-secret",
    "management_secret": {"namespace": "clusters-c-1", "name": "c-1-pull-secret"},
    "changed": True,
    "versions_created": 1,
    "replication_differs": True,
    "kind": "permission_denied",
    "message": "PERMISSION_DENIED on projects/p-1",
    "phase": "gcp-secret-manager",
    "duration_seconds": 1.23,
    "gcp_api_calls": [{"operation": "add_secret_version", "status_code": "200", "count": 1, "seconds": 0.12}],
    "k8s_api_calls": [],
}
PLACES = ("secret", "management_secret")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def fields(message: Any) -> Any:
    """The fields of a termination message that pass the checks, or None."""
    said = job_result.parse_job_result(message, order())
    return said.fields if said is not None else None


def checked(document: Any) -> Any:
    said = job_result.checked_job_result(document, order())
    assert said is not None
    return said.fields


def test_valid_fields_are_kept() -> None:
    assert fields(json.dumps(WHOLE)) == WHOLE


@pytest.mark.parametrize(
    "message",
    [None, "", "killed", "[]", "{}", '{"result": "done"}', '{"result": 1}', "[" * 3000, "9" * 4000, 7, b"{}"],
)
def test_an_invalid_result(message: Any) -> None:
    assert fields(message) is None


def test_a_message_above_the_limit_of_kubernetes_is_ignored() -> None:
    text = json.dumps({**WHOLE, "more": ""})
    fits = text.replace('"more": ""', f'"more": "{"x" * (job_result.LARGEST - len(text))}"')
    assert len(fits) == job_result.LARGEST
    assert fields(fits) == WHOLE
    assert fields(fits + " ") is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", 3),
        ("version", "latest"),
        ("version", "3\n"),
        ("version", "0"),
        ("version", "1" * 10),
        ("changed", 1),
        ("replication_differs", "automatic"),
        ("versions_created", True),
        ("versions_created", -1),
        ("versions_created", 1.5),
        ("versions_created", 10**6),
        ("kind", 7),
        ("message", ["m"]),
        ("phase", "Phase 1"),
        ("phase", "example-password"),
        ("duration_seconds", "1"),
        ("duration_seconds", float("nan")),
        ("duration_seconds", float("inf")),
        ("duration_seconds", 10**400),
        ("gcp_api_calls", {"operation": "x"}),
        ("gcp_api_calls", "x"),
    ],
)
def test_a_field_of_another_shape_is_left_out(field: str, value: Any) -> None:
    expected = {name: item for name, item in WHOLE.items() if name != field}
    assert checked({**WHOLE, field: value}) == expected


@pytest.mark.parametrize(
    ("field", "value"),
    [
        # Each has a valid shape: a pod could give its pull secret away in it.
        ("secret", "projects/example/secrets/password"),
        ("secret", "projects/p-1/secrets/hyperfleet-c-1-pull-secret/versions/1"),
        ("secret", ["dTpw"]),
        ("management_secret", {"namespace": "example-password", "name": "c-1-pull-secret"}),
        ("management_secret", {"namespace": "clusters-c-1", "name": "example-password"}),
        ("management_secret", {**WHOLE["management_secret"], "more": "dTpw"}),
        ("management_secret", "n/m"),
    ],
)
def test_places_are_those_of_the_order_or_none(field: str, value: Any) -> None:
    said = job_result.checked_job_result({**WHOLE, field: value}, order())
    assert said is not None
    assert said.elsewhere
    # A version without its place has no meaning.
    assert said.fields == {name: item for name, item in WHOLE.items() if name not in (field, "version")}


def test_places_that_are_not_named_are_not_elsewhere() -> None:
    document = {name: item for name, item in WHOLE.items() if name not in PLACES}
    assert job_result.checked_job_result({**document, "secret": None}, order()) == job_result.JobResult(
        document
    )


def test_unknown_words_become_other() -> None:
    good = WHOLE["gcp_api_calls"][0]
    said = {
        **WHOLE,
        "kind": "example_password",
        "gcp_api_calls": [{**good, "operation": "example_password", "status_code": "dTpw"}],
        "k8s_api_calls": [{**good, "operation": "get_password"}, {**good, "operation": "patch_secret"}],
    }
    found = checked(said)
    assert found["kind"] == "other"
    assert found["gcp_api_calls"] == [{**good, "operation": "other", "status_code": "other"}]
    assert [call["operation"] for call in found["k8s_api_calls"]] == ["other", "patch_secret"]


def test_numbers_say_little() -> None:
    assert checked({**WHOLE, "duration_seconds": 1.123456789})["duration_seconds"] == 1.1235


def test_calls_of_another_shape_are_left_out_and_so_are_too_many() -> None:
    good = WHOLE["gcp_api_calls"][0]
    calls = [good, {**good, "operation": 7}, {**good, "count": "1"}, "x", {}]
    assert checked({**WHOLE, "gcp_api_calls": calls}) == WHOLE
    assert len(checked({**WHOLE, "gcp_api_calls": [good] * 1000})["gcp_api_calls"]) == 64


@pytest.mark.parametrize("kind", doc_tables.literals(KINDS))
def test_each_kind_that_the_page_names_is_known(kind: str) -> None:
    assert kind in job_vocabulary.KINDS


@given(JSON)
def test_whatever_comes_is_answered_with_a_result_or_none(document: Any) -> None:
    fields(json.dumps(document))
    given_fields = {name: document for name in WHOLE if name != "result"}
    json.dumps(checked({"result": "success", **given_fields}), allow_nan=False)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\tand\x1b[31m red\x00", "two lines and[31m red"),
        ("https://user:example-password@r.example.com/v2/", "https://r.example.com/v2/"),
        (
            'get "https://r.example.com/blob?X-Signature=abc&y=1": 403',
            'get "https://r.example.com/blob?…": 403',
        ),
        ("what? no", "what? no"),
        (None, ""),
        ("x" * 2000, "x" * 999 + "…"),
    ],
)
def test_foreign_texts_are_one_short_line(text: Any, shown: str) -> None:
    assert job_result.cleaned_text(text) == shown
