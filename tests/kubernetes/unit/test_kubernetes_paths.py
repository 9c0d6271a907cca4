# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A name is one segment of a path, whatever it contains: HTTP clients resolve dots between slashes."""

from __future__ import annotations

import pytest
from urllib3.util import parse_url

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.paths import (
    list_path,
    object_path,
)

BASE = "/api/v1/namespaces/mine/secrets"


@pytest.mark.parametrize(
    "name", ["../../theirs/secrets/a", "a/../../../theirs/secrets/a", "a?b", "a#b", "%2e%2e"]
)
def test_a_name_leads_nowhere_else(name: str) -> None:
    asked = parse_url("https://h.example.com" + object_path("mine", "secrets", name))
    assert asked.path is not None
    assert asked.path.startswith(f"{BASE}/")
    assert asked.path.count("/") == BASE.count("/") + 1
    assert (asked.query, asked.fragment) == (None, None)


def test_neither_does_a_namespace() -> None:
    asked = parse_url("https://h.example.com" + object_path("mine/secrets/a/..", "secrets", "b"))
    assert asked.path == "/api/v1/namespaces/mine%2Fsecrets%2Fa%2F../secrets/b"


def test_names_stay_as_they_are() -> None:
    assert list_path("mine", "secrets") == BASE
    assert object_path("mine", "roles", "system:a.b-c").endswith("/namespaces/mine/roles/system:a.b-c")
