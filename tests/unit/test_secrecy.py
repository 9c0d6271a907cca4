# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What can be a name, and what is a secret that stands in a name's place."""

from __future__ import annotations

import base64
import json

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.secrecy import is_name, misplaced, shown

_DOCUMENT = json.dumps({"auths": {"quay.io": {"auth": base64.b64encode(b"example:password").decode()}}})
_ENCODED = base64.b64encode(_DOCUMENT.encode()).decode()
_AUTH = base64.b64encode(b"Example:Password-1").decode()


@pytest.mark.parametrize(
    "name",
    [
        "cls-123",
        "gke_Project-1_europe-west1_Management",
        "arn:aws:eks:eu-west-1:123456789012:cluster/ManagementClusterOne",
        "admin@Management-1",
        "/etc/Kubernetes/Admin.conf",
        "eyJ",
        "",
    ],
)
def test_names(name: str) -> None:
    assert is_name(name) == bool(name)
    assert misplaced({"context": name}) == []


@pytest.mark.parametrize(
    "text", [_DOCUMENT, _ENCODED, _AUTH, f"admin@{_ENCODED}", f"{_ENCODED}@host", f"cluster:{_AUTH}"]
)
def test_docker_configs_and_credentials(text: str) -> None:
    assert not is_name(text)
    assert shown(text) == "(not shown)"
    assert misplaced({"context": text}) == ["context"]


@pytest.mark.parametrize("text", ["Bearer example", "Basic example", "eyJhbGciOiJub25lIn0.eyJ4Ijoxf.x"])
def test_tokens_are_not_shown(text: str) -> None:
    assert not is_name(text)


def test_a_token_is_where_it_belongs() -> None:
    assert misplaced({"kubernetes": {"api_key": "eyJhbGciOiJub25lIn0.eyJ4Ijoxf.x"}}) == []
