# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Names and labels that the API server would refuse are refused before any request."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kubernetes.integration.conftest import Run
from tests.kubernetes.integration.test_secret import desired
from tests.support.kubernetes.world import Api

_LONG = "a" * 63
CASES: list[tuple[str, str, bool]] = [
    *(
        (kind, text, right)
        for kind in ("label", "annotation")
        for text, right in [
            ("team", True),
            ("Team_a.b-c", True),
            ("example.com/team", True),
            (f"{'b.' * 100}example/{_LONG}", True),
            ("_team", False),
            ("team-", False),
            ("", False),
            ("a b", False),
            (_LONG + "a", False),
            ("/team", False),
            ("example.com/", False),
            ("a/b/c", False),
            # The server converts the key of an annotation to lower case before it checks it.
            ("Example.com/team", kind == "annotation"),
            ("example..com/team", False),
            (f"{'b.' * 126}bb/team", False),
        ]
    ),
    *(
        ("value", text, right)
        for text, right in [
            ("", True),
            ("A_b.c-9", True),
            (_LONG, True),
            ("-a", False),
            ("a.", False),
            ("a b", False),
            ("é", False),
            (_LONG + "a", False),
        ]
    ),
    ("annotations", "a" * 200 * 1024, True),
    ("annotations", "a" * 256 * 1024, False),
    *(
        ("name", text, right)
        for text, right in [
            ("a", True),
            ("a.b-c.9", True),
            ("n" * 253, True),
            ("a..b", False),
            ("a-.b", False),
            (".a", False),
            ("A", False),
            ("n" * 254, False),
        ]
    ),
]


def _options(kind: str, text: str) -> dict[str, Any]:
    options: dict[str, dict[str, Any]] = {
        "label": {"labels": {text: "x"}},
        "annotation": {"annotations": {text: "x"}},
        "value": {"labels": {"team": text}},
        "name": {"name": text},
        "annotations": {"annotations": {"team": text}},
    }
    return options[kind]


@pytest.mark.parametrize(
    ("kind", "text", "right"), CASES, ids=[f"{kind}-{text[:40]}-{len(text)}" for kind, text, dummy in CASES]
)
def test_the_module_has_the_servers_rules(
    api: Api, namespace: str, run: Run, kind: str, text: str, right: bool
) -> None:
    """Send the value to the server, and give it to the module."""
    metadata = {"name": "another", **_options(kind, text)}
    path = f"/api/v1/namespaces/{namespace}/secrets?dryRun=All"
    status, answer = api.request("POST", path, {"metadata": metadata})
    assert (status == 201) is right, answer
    result = run(**desired(namespace, **_options(kind, text)))
    assert bool(result.get("failed")) is not right, result
    if not right:
        assert result["failed_targets"][0]["kind"] == "configuration"
        assert api.calls.matching() == []


def test_annotations_may_fill_all_that_the_server_takes(api: Api, namespace: str, run: Run) -> None:
    """Use every byte that the collection's own annotations leave free."""
    run(**desired(namespace, name="other"))
    other = api.secret(namespace, "other")
    assert other is not None
    room = 256 * 1024 - sum(len(key) + len(value) for key, value in other["metadata"]["annotations"].items())
    api.calls.clear()
    for check_mode in (True, False):
        result = run(**desired(namespace, annotations={"a": "x" * room}), check_mode=check_mode)
        assert result["failed_targets"][0]["kind"] == "configuration"
        assert "annotations must have at most 262144 bytes" in result["msg"]
    assert api.calls.matching() == []
    result = run(**desired(namespace, annotations={"a": "x" * (room - 1)}))
    assert result["targets"][0]["actions"] == ["created"], result


@pytest.mark.parametrize("option", ["labels", "annotations"])
@pytest.mark.parametrize("value", [None, {"b": "c"}, ["c"]], ids=["null", "mapping", "list"])
def test_a_value_that_is_not_text_is_refused(
    api: Api, namespace: str, run: Run, option: str, value: Any
) -> None:
    (failure,) = run(**desired(namespace, **{option: {"a": value}}))["failed_targets"]
    assert failure["kind"] == "configuration"
    assert failure["msg"].startswith(f"{option}.a ")
    assert api.calls.matching() == []
