# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Paged lists that the service never ends."""

from __future__ import annotations

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google import client
from tests.stand_ins.secret_manager import lists
from tests.support.secret_manager import PROJECT, Module, document, owned


def test_a_token_that_comes_again_ends_the_list(module: Module, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_LIST_PAGE", 1)
    # Each page is the first one again.
    monkeypatch.setattr(lists, "read_token", lambda _token: None)
    module.lab.seed([owned("cls-1", document("one"), document("two"))])
    result = module.put("two", retention={"keep": 1, "destroy_after": 0})
    assert result["failed"]
    assert result["msg"].startswith(f"ListSecretVersions on projects/{PROJECT}/secrets/")
    assert "the list does not end: the token of the next page is" in result["msg"]
    # One for the newest version and two pages of all versions.
    assert module.count("ListSecretVersions") <= 3
