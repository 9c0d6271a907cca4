# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Authentication, authorization, health, version, discovery and unknown paths."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.kubernetes.contract.support import MERGE_PATCH, Client, Place, pull_secret, secret


@pytest.mark.parametrize("token", [None, "not-a-token-of-the-lab"])
def test_no_token_or_an_unknown_one_is_401(anyone: Callable[[str | None], Client], token: str | None) -> None:
    status = anyone(token).get("/api/v1/namespaces/default/secrets").refused(401, "Unauthorized")
    assert status["message"] == "Unauthorized"


@pytest.mark.parametrize("path", ["/readyz", "/livez", "/healthz"])
def test_health_needs_no_token(anyone: Callable[[str | None], Client], path: str) -> None:
    answer = anyone(None).get(path)
    assert (answer.code, answer.text) == (200, "ok")


def test_version_needs_no_token(anyone: Callable[[str | None], Client]) -> None:
    version = anyone(None).get("/version").ok()
    assert version["major"] == "1"
    assert int(version["minor"].rstrip("+")) >= 25
    assert version["gitVersion"].startswith("v1.")


CALLS = [
    ("GET", "/secrets/x", None, "get", 'secrets "x"'),
    ("GET", "/secrets", None, "list", "secrets"),
    ("GET", "/secrets?watch=true", None, "watch", "secrets"),
    ("POST", "/secrets", secret("x"), "create", "secrets"),
    ("PUT", "/secrets/x", secret("x"), "update", 'secrets "x"'),
    ("PATCH", "/secrets/x", {}, "patch", 'secrets "x"'),
    ("DELETE", "/secrets/x", None, "delete", 'secrets "x"'),
    ("DELETE", "/secrets", None, "deletecollection", "secrets"),
    ("GET", "/serviceaccounts/default", None, "get", 'serviceaccounts "default"'),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "verb", "what"), CALLS, ids=[f"{c[3]}-{c[4]}" for c in CALLS]
)
def test_a_user_without_rights_is_told_which_right_is_missing(
    viewer: Client, place: Place, method: str, path: str, body: object, verb: str, what: str
) -> None:
    content_type = MERGE_PATCH if method == "PATCH" else "application/json"
    status = viewer.call(method, place.root + path, body, content_type).refused(403, "Forbidden")
    plural = what.split()[0]
    assert status["message"] == (
        f'{what} is forbidden: User "viewer" cannot {verb} resource "{plural}" in API group "" '
        f'in the namespace "{place.namespace}"'
    )
    assert status["details"]["kind"] == plural


def test_across_all_namespaces_the_refusal_says_cluster_scope(viewer: Client) -> None:
    status = viewer.get("/api/v1/secrets").refused(403, "Forbidden")
    assert status["message"].endswith('"secrets" in API group "" at the cluster scope')


def test_a_user_without_rights_changes_nothing(admin: Client, viewer: Client, place: Place) -> None:
    place.made(pull_secret("kept"))
    viewer.delete(place.at("kept")).refused(403, "Forbidden")
    viewer.post(place.secrets, pull_secret("made")).refused(403, "Forbidden")
    admin.get(place.at("kept")).ok()
    admin.get(place.at("made")).refused(404, "NotFound")


def test_discovery_lists_the_kinds_we_use(viewer: Client) -> None:
    assert "v1" in viewer.get("/api").ok()["versions"]
    assert viewer.get("/apis").ok()["kind"] == "APIGroupList"
    found = {r["name"]: r for r in viewer.get("/api/v1").ok()["resources"]}
    for plural, kind, namespaced in [
        ("secrets", "Secret", True),
        ("serviceaccounts", "ServiceAccount", True),
        ("configmaps", "ConfigMap", True),
        ("events", "Event", True),
        ("namespaces", "Namespace", False),
    ]:
        assert (found[plural]["kind"], found[plural]["namespaced"]) == (kind, namespaced)
        assert {"get", "list", "create", "update", "patch", "delete", "watch"} <= set(found[plural]["verbs"])


@pytest.mark.parametrize("path", ["/api/v1/nothings", "/api/v1/namespaces/default/nothings/x"])
def test_a_kind_that_does_not_exist_is_404(admin: Client, path: str) -> None:
    status = admin.get(path).refused(404, "NotFound")
    assert status["message"] == "the server could not find the requested resource"


def test_a_group_that_does_not_exist_is_404(admin: Client) -> None:
    answer = admin.get("/apis/nothing.example.com/v1/things")
    assert (answer.code, answer.text) == (404, "404 page not found\n")


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/secrets/x"), ("PUT", "/secrets"), ("PATCH", "/secrets")],
)
def test_a_method_in_the_wrong_place_is_405(admin: Client, place: Place, method: str, path: str) -> None:
    content_type = MERGE_PATCH if method == "PATCH" else "application/json"
    admin.call(method, place.root + path, {}, content_type).refused(405, "MethodNotAllowed")
