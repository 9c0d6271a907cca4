# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A termination message is not trusted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.jobs import result

WHOLE: dict[str, Any] = {
    "result": "failure",
    "version": "3",
    "secret": "projects/p-1/secrets/hyperfleet-c-1-pull-secret",
    "management_secret": {"namespace": "clusters-c-1", "name": "c-1-pull-secret"},
    "changed": True,
    "versions_created": 1,
    "kind": "permission_denied",
    "message": "PERMISSION_DENIED on projects/p-1",
    "phase": "gcp-secret-manager",
    "duration_seconds": 1.23,
    "gcp_api_calls": [{"operation": "add_secret_version", "status_code": "200", "count": 1, "seconds": 0.12}],
    "k8s_api_calls": [],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_what_is_right_comes_through() -> None:
    assert result.parse(json.dumps(WHOLE)) == WHOLE


@pytest.mark.parametrize(
    "message",
    [None, "", "killed", "[]", "{}", '{"result": "done"}', '{"result": 1}', "[" * 3000, "9" * 4000, 7, b"{}"],
)
def test_what_is_no_result(message: Any) -> None:
    assert result.parse(message) is None


def test_more_than_kubernetes_lets_through_is_none() -> None:
    text = json.dumps({**WHOLE, "more": ""})
    fits = text.replace('"more": ""', f'"more": "{"x" * (result.LARGEST - len(text))}"')
    assert len(fits) == result.LARGEST
    assert result.parse(fits) == WHOLE
    assert result.parse(fits + " ") is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", 3),
        ("version", "latest"),
        ("version", "3\n"),
        ("secret", "projects/p/secrets/s/versions/1"),
        ("secret", "dTpw"),
        ("management_secret", {"namespace": "n"}),
        ("management_secret", {"namespace": "n", "name": "N M"}),
        ("management_secret", "n/m"),
        ("changed", 1),
        ("versions_created", True),
        ("versions_created", -1),
        ("versions_created", 1.5),
        ("kind", "Permission Denied"),
        ("kind", "x" * 41),
        ("message", ["m"]),
        ("phase", "Phase 1"),
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
    assert result.checked({**WHOLE, field: value}) == expected


def test_calls_of_another_shape_are_left_out_and_so_are_too_many() -> None:
    good = WHOLE["gcp_api_calls"][0]
    calls = [good, {**good, "operation": "cluster=c-1"}, {**good, "count": "1"}, "x", {}]
    assert result.checked({**WHOLE, "gcp_api_calls": calls}) == WHOLE
    found = result.checked({**WHOLE, "gcp_api_calls": [good] * 1000})
    assert found is not None
    assert len(found["gcp_api_calls"]) == 64


@given(JSON)
def test_whatever_comes_is_answered_with_a_result_or_none(document: Any) -> None:
    result.parse(json.dumps(document))
    given_fields = {name: document for name in WHOLE if name != "result"}
    found = result.checked({"result": "success", **given_fields})
    assert found is not None
    json.dumps(found, allow_nan=False)


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
def test_texts_of_others_are_one_short_line(text: Any, shown: str) -> None:
    assert result.clean(text) == shown
