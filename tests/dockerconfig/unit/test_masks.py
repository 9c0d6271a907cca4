# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which texts of an invalid document are masked, and that one pass is enough to find them."""

from __future__ import annotations

import json

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import lint, sensitive_forms
from tests.support.docker_configs import encoded


@pytest.mark.parametrize(
    ("secret", "document"),
    [
        ("example-password", '{"auths": {"quay.io": {"password": "example-password"'),
        ("example-password", '{"auths: {"quay.io": {"password": "example-password"}}}'),
        ("example-password", '{"auths": {"quay.io": {"password": "example-password}}}'),
        ("example-token", '{\'auths\': 1, "identitytoken" : "example-token",}'),
    ],
)
def test_values_of_an_invalid_document(secret: str, document: str) -> None:
    forms = sensitive_forms(document)
    assert any(secret in form and len(form) < len(secret) + 12 for form in forms), forms


def test_names_in_an_invalid_document_stay_readable() -> None:
    forms = sensitive_forms('{"auths": {"registry.example.com": {"email": "user@example.com", "auth": }}}')
    assert not [form for form in forms if form in ("registry.example.com", "user@example.com")]


@pytest.mark.parametrize(
    "document",
    [
        '{"' * 65 + '"\\' * 300_000,
        '{"auths": {}, "' + '\\"' * 300_000 + '": 1}',
        '"' * 600_000,
        "[" * 600_000,
    ],
    ids=["quotes that are never closed", "a name of quotes", "quotes", "brackets"],
)
def test_no_document_takes_more_than_one_pass(document: str) -> None:
    """A pattern that searches for the end of a string from every quote would take an hour for one of these."""
    assert sensitive_forms(document)
    assert lint(document)


@pytest.mark.parametrize("separators", [None, (",", ":")])
@pytest.mark.parametrize("has_auth", [True, False])
def test_the_lines_and_the_key_of_a_key_file_are_masked(
    has_auth: bool, separators: tuple[str, str] | None
) -> None:
    key = "-----BEGIN PRIVATE KEY-----\nRkFLRUZBS0VGQUtF\n-----END PRIVATE KEY-----\n"
    file = json.dumps(
        {"type": "service_account", "private_key": key},
        indent=None if separators else 2,
        separators=separators,
    )
    entry = (
        {"auth": encoded(f"_json_key:{file}")} if has_auth else {"username": "_json_key", "password": file}
    )
    forms = sensitive_forms({"auths": {"us-docker.pkg.dev": entry}})
    lines = {line.strip() for line in file.splitlines() if len(line) > 5}
    assert {*lines, "RkFLRUZBS0VGQUtF", key.strip(), json.dumps(key.strip())[1:-1]} - forms == set()
    assert "service_account" not in forms
