# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a docker config from Secret Manager: which version is read, and in how many calls."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    NotFound,
    PullSecretError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.store import (
    SecretManagerStore,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings
from tests.support.secret_manager import PROJECT, Module, document, endpoint, owned, secret_id


def _read(module: Module, **reference: Any) -> bytes:
    settings = RunSettings(connections={"gcp": endpoint(module.lab, module.transport)})
    source = SecretManagerStore(settings)
    return source.read({"project": PROJECT, "secret": secret_id("cls-1"), **reference}, settings.deadline())


def _seed(module: Module, *states: str) -> None:
    versions = [{"data": document(str(n)), "state": state} for n, state in enumerate(states, start=1)]
    module.lab.seed([owned("cls-1", versions=versions)])


@pytest.mark.parametrize("reference", [{}, {"version": "latest"}], ids=["by default", "by name"])
def test_latest_is_read_with_one_call(module: Module, reference: dict[str, str]) -> None:
    _seed(module, "ENABLED", "ENABLED")
    assert _read(module, **reference) == document("2").encode()
    assert module.lab.calls.count() == module.count("AccessSecretVersion") == 1


@pytest.mark.parametrize("state", ["DISABLED", "DESTROYED"])
def test_where_the_newest_is_not_enabled_it_is_the_newest_that_is(module: Module, state: str) -> None:
    _seed(module, "ENABLED", "ENABLED", "DISABLED", state)
    assert _read(module) == document("2").encode()
    assert module.count("ListSecretVersions") == 1


def test_a_version_is_read_by_its_number(module: Module) -> None:
    _seed(module, "ENABLED", "ENABLED")
    assert _read(module, version="1") == document("1").encode()
    assert module.lab.calls.count() == 1


@pytest.mark.parametrize("states", [(), ("DISABLED",), ("DESTROYED", "DISABLED")])
def test_no_enabled_version_is_told(module: Module, states: tuple[str, ...]) -> None:
    _seed(module, *states)
    with pytest.raises(NotFound, match="has no enabled version; check the project and the secret"):
        _read(module)


def test_no_secret_is_told(module: Module) -> None:
    with pytest.raises(NotFound, match=f"{secret_id('cls-1')} does not exist"):
        _read(module)
    assert module.lab.calls.count() == 1


def test_a_disabled_version_is_not_replaced_by_another_when_it_was_asked_for(module: Module) -> None:
    _seed(module, "ENABLED", "DISABLED")
    with pytest.raises(PullSecretError, match="FAILED_PRECONDITION"):
        _read(module, version="2")
    assert module.lab.calls.count() == 1
