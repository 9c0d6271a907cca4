# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Old versions: what retention does to them, and going back to one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.lab.secret_manager.records import NANO

from .support import PROJECT, Module, document, owned, secret_id

_DAY = 86_400


def _age(module: Module, *days: float) -> None:
    """Make the versions, oldest first, this many days old."""
    record = module.lab.store.find(PROJECT, secret_id("cls-1"))
    assert record is not None
    now = module.lab.store.now()
    for version, old in zip(record.versions, days, strict=True):
        version.created = now - int(old * _DAY * NANO)


def _words(count: int) -> list[str]:
    return [document(str(number)) for number in range(1, count + 1)]


def test_without_retention_old_versions_stay(module: Module) -> None:
    module.lab.seed([owned("cls-1", *_words(5))])
    module.put("new")
    assert module.states() == ["ENABLED"] * 6


def test_keep_disables_older_ones(module: Module) -> None:
    module.lab.seed([owned("cls-1", *_words(4))])
    result = module.put("new", retention={"keep": 2})
    assert module.states() == ["DISABLED"] * 3 + ["ENABLED"] * 2
    assert result["actions"][0] == "version added"
    assert sorted(result["actions"][1:]) == [f"version {number} disabled" for number in (1, 2, 3)]

    module.lab.calls.reset()
    assert not module.put("new", retention={"keep": 2})["changed"]
    assert module.writes() == 0


def test_retention_works_without_a_new_version(module: Module) -> None:
    module.lab.seed([owned("cls-1", *_words(3))])
    result = module.put("3", retention={"keep": 1})
    assert sorted(result["actions"]) == ["version 1 disabled", "version 2 disabled"]


def test_disable_false_leaves_them_enabled(module: Module) -> None:
    module.lab.seed([owned("cls-1", *_words(3))])
    assert not module.put("3", retention={"keep": 1, "disable": False, "destroy_after": 0})["changed"]
    assert module.states() == ["ENABLED"] * 3


@pytest.mark.parametrize("check", [False, True], ids=["run", "check"])
def test_disabled_ones_are_destroyed_once_they_are_out_of_use_for_long_enough(
    module: Module, check: bool
) -> None:
    states = ["DISABLED", "DISABLED", "DISABLED", "ENABLED", "ENABLED"]
    versions = [{"data": word, "state": state} for word, state in zip(_words(5), states, strict=True)]
    module.lab.seed([owned("cls-1", versions=versions)])
    # Version 2 was in use until 3 came, 6 days ago; version 1 until 2 came, 20 days ago.
    _age(module, 30, 20, 6, 3, 1)
    result = module.put("5", retention={"keep": 1, "destroy_after": 7 * _DAY}, check=check)

    assert sorted(result["actions"]) == ["version 1 destroyed", "version 4 disabled"]
    if check:
        assert module.writes() == 0
        assert module.states() == states
    else:
        assert module.states() == ["DESTROYED", "DISABLED", "DISABLED", "DISABLED", "ENABLED"]
        assert module.count("DestroySecretVersion") == 1


def test_an_enabled_version_is_never_destroyed_at_once(module: Module) -> None:
    module.lab.seed([owned("cls-1", *_words(2))])
    retention = {"keep": 1, "destroy_after": 0}
    assert module.put("2", retention=retention)["actions"] == ["version 1 disabled"]
    assert module.put("2", retention=retention)["actions"] == ["version 1 destroyed"]
    assert not module.put("2", retention=retention)["changed"]


# Going back.


def test_an_enabled_version_is_restored_as_a_new_one(module: Module) -> None:
    module.lab.seed([owned("cls-1", document("one"), document("two"))])
    result = module.one(restore_version="1")
    assert result["actions"] == ["version added"]
    assert result["version"] == "3"
    assert result["registries"] == {"quay.io": "version 1", "registry.redhat.io": "version 1"}
    assert module.states() == ["ENABLED"] * 3
    assert module.holds("one")

    module.lab.calls.reset()
    assert not module.one(restore_version="1")["changed"]
    assert module.writes() == 0


def test_a_disabled_version_is_enabled_only_to_be_read(module: Module) -> None:
    versions = [{"data": document("one"), "state": "DISABLED"}, {"data": document("two")}]
    module.lab.seed([owned("cls-1", versions=versions)])
    assert module.one(restore_version="1")["version"] == "3"
    assert module.states() == ["DISABLED", "ENABLED", "ENABLED"]
    assert module.holds("one")
    assert not module.one(restore_version="1")["changed"]
    assert module.states() == ["DISABLED", "ENABLED", "ENABLED"]


@pytest.mark.parametrize(
    ("version", "kind", "words"),
    [("1", "not_found", "is destroyed"), ("9", "not_found", "versions/9")],
    ids=["destroyed", "unknown"],
)
@pytest.mark.parametrize("check", [False, True], ids=["run", "check"])
def test_what_cannot_be_restored_is_told(
    module: Module, version: str, kind: str, words: str, check: bool
) -> None:
    versions: list[dict[str, Any]] = [
        {"data": document("one"), "state": "DESTROYED"},
        {"data": document("two")},
    ]
    module.lab.seed([owned("cls-1", versions=versions)])
    result = module.one(restore_version=version, check=check)
    assert result["kind"] == kind
    assert words in result["msg"]
    assert module.writes() == 0


def test_a_broken_old_version_is_not_restored(module: Module) -> None:
    module.lab.seed([owned("cls-1", "{", document("two"))])
    result = module.one(restore_version="1")
    assert result["kind"] == "invalid_document"
    assert module.writes() == 0


def test_check_mode_foresees_a_restore(module: Module) -> None:
    module.lab.seed([owned("cls-1", document("one"), document("two"))])
    assert module.one(restore_version="1", check=True)["actions"] == ["version added"]
    assert module.writes() == 0


def test_there_is_nothing_to_restore_of_a_secret_that_is_not_there(module: Module) -> None:
    assert module.one(restore_version="1")["kind"] == "not_found"
