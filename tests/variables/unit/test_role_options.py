# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A role's variable has the limits of the module's option that it sets, and messages name the variable."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.limits import LIMITS
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.role_options import (
    options_of_run,
    wrong_options,
)
from tests.support import names

_NUMBERS = [
    (role, name, name.removeprefix(f"{role}_"))
    for role in names.ROLES
    for name, spec in names.role_options(role).items()
    if spec["type"] in ("int", "float")
]
_RETRIED = [(role, f"{role}_retry") for role in names.ROLES]


def wrong(role: str, name: str, value: Any) -> list[str]:
    options = {name: names.role_options(role)[name]}
    return list(wrong_options(options, f"{role}_", {name: value}.get))


@pytest.mark.parametrize(("role", "name", "option"), _NUMBERS)
def test_a_number_out_of_range_is_refused_by_the_variables_name(role: str, name: str, option: str) -> None:
    limit = LIMITS[option]
    for value in (limit.most + 1, limit.least if limit.above else limit.least - 1):
        assert wrong(role, name, value) == [f"{name} must be {limit.text}"]
        assert wrong(role, name, str(value)) == [f"{name} must be {limit.text}"]
    assert wrong(role, name, limit.most) == []


@pytest.mark.parametrize(("role", "name"), _RETRIED)
@pytest.mark.parametrize("key", ["tries", "delay", "max_delay"])
def test_a_key_of_retry_out_of_range_is_refused_with_its_path(role: str, name: str, key: str) -> None:
    limit = LIMITS[f"retry.{key}"]
    assert wrong(role, name, {key: limit.least - 1}) == [f"{name}.{key} must be {limit.text}"]
    assert wrong(role, name, {key: limit.least, "max_delay": None}) == []
    assert wrong(role, name, {}) == []


def test_a_playbook_without_a_role_has_the_same_limits() -> None:
    options = options_of_run(["job_retry", "job_gcp", "job_other", "retry"], "job_")
    assert list(options) == ["job_retry", "job_gcp"]
    given = {"job_retry": {"tries": 0}, "job_gcp": {"endpont": "x"}}
    said = wrong_options(options, "job_", given.get)
    assert [text.split(" ")[0] for text in said] == ["job_retry.tries", "job_gcp"]
