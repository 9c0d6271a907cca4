# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Old versions: retention and restoring."""

from __future__ import annotations

import itertools
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.client import (
    SecretManagerClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import InvalidDocument
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.outcome import Outcome
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager import claim
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.target import (
    SecretManagerTarget,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.writer import (
    SecretManagerWriter,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings
from tests.secret_manager.integration.elsewhere import start
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.stand_ins.secret_manager.store import NANO
from tests.support.secret_manager import PROJECT, Module, document, endpoint, owned, secret_id

_DAY = 86_400


def _age(module: Module, *days: float) -> None:
    """Set the versions' ages in days, oldest first."""
    record = module.lab.store.find(PROJECT, secret_id("cls-1"))
    assert record is not None
    now = module.lab.store.now()
    for version, old in zip(record.versions, days, strict=True):
        version.message.create_time.FromNanoseconds(now - int(old * _DAY * NANO))


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

    module.lab.calls.clear()
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


def _only(one: str, other: str) -> set[str]:
    """The lines that only one side of a diff has."""
    return set(one.splitlines()) - set(other.splitlines())


@pytest.mark.parametrize("check", [False, True], ids=["run", "check"])
def test_disabled_ones_are_destroyed_once_they_are_out_of_use_for_long_enough(
    module: Module, check: bool
) -> None:
    states = ["DISABLED", "DISABLED", "DISABLED", "ENABLED", "ENABLED"]
    versions = [{"data": word, "state": state} for word, state in zip(_words(5), states, strict=True)]
    module.lab.seed([owned("cls-1", versions=versions)])
    # Version 2 was in use until 3 was added 6 days ago, and version 1 until 2 was added 20 days ago.
    _age(module, 30, 20, 6, 3, 1)
    result = module.put("5", retention={"keep": 1, "destroy_after": 7 * _DAY}, check=check, diff=True)

    assert sorted(result["actions"]) == ["version 1 destroyed", "version 4 disabled"]
    (diff,) = result["diff"]
    assert _only(diff["before"], diff["after"]) == {"version 1: DISABLED", "version 4: ENABLED"}
    assert _only(diff["after"], diff["before"]) == {"version 1: DESTROYED", "version 4: DISABLED"}
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


def test_who_may_not_disable_is_warned_and_does_what_is_left(module: Module) -> None:
    """One call and one warning, however many versions there are. Other actions may still be allowed."""
    states = ["DISABLED", "ENABLED", "ENABLED", "ENABLED"]
    versions = [{"data": word, "state": state} for word, state in zip(_words(4), states, strict=True)]
    module.lab.seed([owned("cls-1", versions=versions)])
    module.lab.faults.add("DisableSecretVersion", code="PERMISSION_DENIED")
    for actions in (["version added", "version 1 destroyed"], []):
        module.lab.calls.clear()
        result = module.put("new", retention={"keep": 1, "destroy_after": 0})
        assert result["actions"] == actions
        assert module.count("DisableSecretVersion") == 1
        (warning,) = result["warnings"]
        assert warning.startswith("this run could not disable versions 4, 3, 2: PERMISSION_DENIED: ")
        assert "secretmanager.versions.disable" in warning
    assert module.states() == ["DESTROYED", "ENABLED", "ENABLED", "ENABLED", "ENABLED"]


# Restoring.


def test_an_enabled_version_is_restored_as_a_new_one(module: Module) -> None:
    module.lab.seed([owned("cls-1", document("one"), document("two"))])
    result = module.one(restore_version="1")
    assert result["actions"] == ["restored from 1"]
    assert result["version"] == "3"
    assert result["registries"] == {"quay.io": "version 1", "registry.redhat.io": "version 1"}
    assert module.states() == ["ENABLED"] * 3
    assert module.holds("one")

    module.lab.calls.clear()
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
    assert "the playbook hyperfleet.pull_secret.inspect lists" in result["msg"]
    assert module.writes() == 0


def test_a_broken_old_version_is_not_restored(module: Module) -> None:
    module.lab.seed([owned("cls-1", "{", document("two"))])
    result = module.one(restore_version="1")
    assert result["kind"] == "invalid_document"
    assert module.writes() == 0


def test_check_mode_foresees_a_restore(module: Module) -> None:
    module.lab.seed([owned("cls-1", document("one"), document("two"))])
    assert module.one(restore_version="1", check=True)["actions"] == ["restored from 1"]
    assert module.writes() == 0


@pytest.mark.parametrize("check", [False, True], ids=["run", "check"])
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"inline": document("two")}, "the source still holds another pull secret; the next run without "),
        ({"inline": document("one", indent=1)}, None),
        ({"env": "NO_SUCH_EXAMPLE_VARIABLE"}, "the source could not be compared with the restored version: "),
    ],
    ids=["another", "same", "unreadable"],
)
def test_a_source_beside_a_restore_is_only_compared(
    module: Module, source: dict[str, str], said: str | None, check: bool
) -> None:
    module.lab.seed([owned("cls-1", document("one"), document("two"))])
    for actions in (["restored from 1"], ["restored from 1"] if check else []):
        result = module.one(restore_version="1", source=source, check=check, diff=True)
        assert result["actions"] == actions
        assert [warning.startswith(said or "") for warning in result["warnings"]] == ([True] if said else [])
        assert ("credential differs" in str(result.get("diff"))) == bool(actions)
    assert module.holds("two" if check else "one")


def test_layers_beside_a_restore_are_compared_too(module: Module) -> None:
    module.lab.seed([owned("cls-1", document("one"), document("two"))])
    layers = [{"name": "all", "source": {"inline": document("two")}}]
    (warning,) = module.one(restore_version="1", layers=layers)["warnings"]
    assert warning == (
        "the source still holds another pull secret; the next run without restore_version puts it back: "
        "change the source"
    )


def test_there_is_nothing_to_restore_of_a_secret_that_is_not_there(module: Module) -> None:
    assert module.one(restore_version="1")["kind"] == "not_found"


_LEFT = "hyperfleet-restoring"


def _left(module: Module, version: str = "1", *states: str) -> None:
    """The state after a restore was killed just after it had enabled its version."""
    versions = [
        {"data": document(word), "state": state}
        for word, state in zip(("one", "two"), states or ("ENABLED", "ENABLED"), strict=True)
    ]
    module.lab.seed([owned("cls-1", versions=versions, annotations={_LEFT: version, "team": "other"})])


def _is_tidy(module: Module) -> bool:
    annotations = dict(module.secret().annotations)
    return _LEFT not in annotations and annotations["team"] == "other"


def test_a_version_that_a_restore_left_enabled_is_disabled_by_the_next_run(module: Module) -> None:
    _left(module)
    assert module.put("two", check=True)["actions"] == ["version 1 disabled"]
    assert module.writes() == 0
    result = module.put("two")
    assert result["actions"] == ["version 1 disabled"]
    assert [entry["operation"] for entry in result["operations"]] == ["disable-secret-version"]
    assert module.states() == ["DISABLED", "ENABLED"]
    assert _is_tidy(module)
    assert not module.put("two")["changed"]


def test_in_a_batch_as_well(module: Module) -> None:
    _left(module)
    targets = [
        {"cluster_id": f"cls-{number}", "project": PROJECT, "source": {"inline": document("two")}}
        for number in (1, 2, 3)
    ]
    assert module.run(targets=targets)["targets"][0]["actions"] == ["version 1 disabled"]
    assert _is_tidy(module)
    assert not module.run(targets=targets)["changed"]


def test_the_same_restore_goes_on_where_it_was_cut_off(module: Module) -> None:
    _left(module)
    assert module.one(restore_version="1")["actions"] == ["restored from 1"]
    assert module.states() == ["DISABLED", "ENABLED", "ENABLED"]
    assert module.holds("one")
    assert _is_tidy(module)


def test_a_restore_of_another_version_tidies_up_first(module: Module) -> None:
    _left(module, "1", "ENABLED", "DISABLED")
    assert module.one(restore_version="2")["actions"] == ["version 1 disabled", "restored from 2"]
    assert module.states() == ["DISABLED", "DISABLED", "ENABLED"]
    assert module.holds("two")
    assert _is_tidy(module)


@pytest.mark.parametrize("version", ["9", "1", "", "../1", "latest"])
def test_a_mark_without_an_enabled_version_is_only_taken_away(module: Module, version: str) -> None:
    _left(module, version, "DISABLED", "ENABLED")
    assert not module.put("two")["changed"]
    assert module.states() == ["DISABLED", "ENABLED"]
    assert _is_tidy(module)


def test_who_may_not_disable_says_so_and_does_the_rest(module: Module) -> None:
    _left(module)
    module.lab.faults.add("DisableSecretVersion", code="PERMISSION_DENIED")
    result = module.put("new")
    assert result["actions"] == ["version added"]
    (warning,) = result["warnings"]
    assert warning.startswith(
        "an interrupted restore left version 1 enabled, and this run could not disable it: PERMISSION_DENIED"
    )
    assert not _is_tidy(module)


def test_a_version_that_is_disabled_while_it_is_read_is_enabled_again(module: Module) -> None:
    """Another run finds the mark and assumes that the run that wrote it was killed."""
    versions = [{"data": document("one"), "state": "DISABLED"}, {"data": document("two")}]
    module.lab.seed([owned("cls-1", versions=versions)])
    fault = module.lab.faults.add("AccessSecretVersion", resource="*/versions/1", delay=3.0, times=1)
    with ThreadPoolExecutor(1) as pool:
        restored = pool.submit(module.one, restore_version="1")
        while not fault.hits:
            time.sleep(0.002)
        assert module.put("two")["actions"] == ["version 1 disabled"]
        assert restored.result()["actions"] == ["restored from 1"]
    assert module.states() == ["DISABLED", "ENABLED", "ENABLED"]
    assert module.holds("one")
    assert _LEFT not in module.secret().annotations


@pytest.mark.parametrize("again", [True, False], ids=["the same restore", "an ordinary run"])
def test_wherever_a_restore_is_killed_the_next_run_is_right(
    again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The restore is killed after each of its calls in turn."""
    real = time.time
    monkeypatch.setattr(claim, "time", SimpleNamespace(time=lambda: real() + 30))
    arguments = {"cluster_id": "cls-1", "project": PROJECT, "restore_version": "1"}
    left_enabled = 0
    for number in itertools.count():
        with SecretManagerLab() as lab:
            # Only gRPC: if a REST request is cut off, the stand-in executes what it has received.
            module = Module(lab, "grpc")
            versions = [{"data": document("one"), "state": "DISABLED"}, {"data": document("two")}]
            lab.seed([owned("cls-1", versions=versions)])
            fault = lab.faults.add(skip=number, delay=600, phase="after", times=1)
            process = start(module.parameters(arguments), tmp_path / f"answer-{number}")
            while not fault.hits and process.is_alive():
                time.sleep(0.002)
            process.kill()
            process.join(60)
            if not fault.hits:
                break
            left_enabled += module.states()[0] == "ENABLED"
            result = module.one(restore_version="1") if again else module.put("two")

            assert not result.get("failed"), (number, result.get("msg"))
            assert module.states()[0] == "DISABLED", number
            assert module.holds("one" if again else "two"), number
            assert _LEFT not in module.secret().annotations, number
            if again:
                assert len(module.states()) == 3, number
    assert number >= 10
    assert left_enabled >= 2


@pytest.mark.parametrize("payload", [document("one"), "{"], ids=["restored", "broken"])
def test_a_restored_document_is_known_to_the_net_under_messages(module: Module, payload: str) -> None:
    module.lab.seed([owned("cls-1", payload, document("two"))])
    settings = RunSettings(connections={"gcp": endpoint(module.lab, module.transport)})
    writer = SecretManagerWriter(settings, SecretManagerClients(settings))
    target = SecretManagerTarget("cls-1", PROJECT, secret_id("cls-1"), cluster_id="cls-1")
    seen: list[bytes] = []
    with nullcontext() if payload != "{" else pytest.raises(InvalidDocument):
        writer.restore(target, "1", Outcome("cls-1", target.name), settings.deadline(), seen)
    assert seen == [payload.encode()]
