# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the client reads refusals of an API server."""

from __future__ import annotations

import json

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.errors import (
    translate_kubernetes_error,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    PermissionDenied,
    Unavailable,
)

_USER = 'is forbidden: User "jane" cannot'


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        (
            f'secrets "a" {_USER} get resource "secrets" in API group "" in the namespace "n"',
            "give that user a Role that allows get on secrets in this namespace",
        ),
        (
            f'jobs.batch "a" {_USER} patch resource "jobs" in API group "batch" in the namespace "n"',
            "give that user a Role that allows patch on jobs (batch) in this namespace",
        ),
        (
            f'nodes {_USER} list resource "nodes" in API group "" at the cluster scope',
            "give that user a ClusterRole that allows list on nodes",
        ),
        ('admission webhook "a.example.com" denied the request: no', None),
        ("exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1", None),
    ],
)
def test_a_refusal_of_rbac_names_the_one_missing_right(message: str, hint: str | None) -> None:
    body = json.dumps({"reason": "Forbidden", "message": message}).encode()
    refusal = translate_kubernetes_error(403, body, "GET", "namespaces/n/secrets/a")
    assert isinstance(refusal, PermissionDenied)
    assert refusal.hint == hint


def test_a_namespace_that_is_named_like_a_credential_is_not_shown() -> None:
    body = json.dumps({"details": {"kind": "namespaces", "name": 'example "password"'}}).encode()
    assert "password" not in str(translate_kubernetes_error(404, body, "POST", "namespaces/n/secrets/a"))


@pytest.mark.parametrize(
    ("detail", "problem"),
    [
        (".example: field not declared in schema", ".example: field not declared in schema"),
        (
            ".metadata.annotations.example.com/port: expected string, got &value.valueUnstructured{Value:8080}",
            ".metadata.annotations.example.com/port: expected string",
        ),
        ("duplicate entries for key [name=8080]", "the manifest does not fit its kind"),
    ],
)
def test_a_manifest_that_does_not_fit_its_kind_is_no_outage(detail: str, problem: str) -> None:
    message = f"failed to create typed patch object (n/a; /v1, Kind=ConfigMap): {detail}"
    body = json.dumps({"message": message}).encode()
    error = translate_kubernetes_error(500, body, "PATCH", "namespaces/n/configmaps/a")
    assert str(error) == f"Invalid: PATCH namespaces/n/configmaps/a: {problem}; correct the manifest"
    assert isinstance(translate_kubernetes_error(500, b"{}", "PATCH", "a"), Unavailable)
