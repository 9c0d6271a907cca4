# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Changes that the API server does not make in place: another type, and immutable Secrets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import VerificationFailed
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes_secret import replacing
from tests.kubernetes.integration.conftest import Run
from tests.kubernetes.integration.test_secret import NAME, ONE, TWO, desired
from tests.support.docker_configs import KEY, TYPE, encoded, held
from tests.support.kubernetes.world import Api

OURS = {"managed-by": "hyperfleet", "cluster-id": "cls-123"}


def opaque(api: Api, namespace: str, **more: Any) -> dict[str, Any]:
    """A Secret of the collection with the wrong type, and with labels and data of other writers."""
    body = {
        "metadata": {
            "name": NAME,
            "labels": {**OURS, "team": "a"},
            "annotations": {"note": "b"},
        },
        "type": "Opaque",
        "data": {KEY: encoded(json.dumps(ONE)), "extra": encoded("kept")},
        **more,
    }
    return dict(api.create(namespace, "secrets", body))


def test_another_type_is_replaced(api: Api, namespace: str, run: Run) -> None:
    owner = api.create(namespace, "configmaps", {"metadata": {"name": "owner"}})
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": owner["metadata"]["uid"],
    }
    old = opaque(api, namespace)
    api.merge(namespace, "secrets", NAME, {"metadata": {"ownerReferences": [reference]}})
    result = run(**desired(namespace))
    secret = api.secret(namespace, NAME)
    assert secret is not None
    assert result["targets"][0]["actions"] == ["replaced"]
    assert secret["type"] == TYPE
    assert held(secret) == ONE
    assert secret["metadata"]["uid"] != old["metadata"]["uid"]
    assert secret["metadata"]["labels"]["team"] == "a"
    assert secret["metadata"]["annotations"]["note"] == "b"
    assert secret["metadata"]["ownerReferences"] == [reference]
    assert secret["data"]["extra"] == encoded("kept"), "other writers' keys must be copied"
    assert run(**desired(namespace))["changed"] is False


def test_the_old_format_is_replaced_and_not_kept(api: Api, namespace: str, run: Run) -> None:
    api.create(
        namespace,
        "secrets",
        {
            "metadata": {"name": NAME, "labels": OURS},
            "type": "kubernetes.io/dockercfg",
            "data": {".dockercfg": encoded(json.dumps(ONE["auths"]))},
        },
    )
    run(**desired(namespace))
    secret = api.secret(namespace, NAME)
    assert secret is not None
    assert (secret["type"], list(secret["data"])) == (TYPE, [KEY])


def test_an_immutable_secret_stays_while_nothing_has_to_change(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace, immutable=True))
    before = api.secret(namespace, NAME)
    assert before is not None
    assert before["immutable"] is True
    for form in ({}, {"immutable": True}):
        assert run(**desired(namespace, **form))["changed"] is False
    assert api.secret(namespace, NAME) == before


def test_labels_of_an_immutable_secret_change_in_place(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace, immutable=True))
    before = api.secret(namespace, NAME)
    assert before is not None
    result = run(**desired(namespace, labels={"team": "a"}))
    after = api.secret(namespace, NAME)
    assert after is not None
    assert result["targets"][0]["actions"] == ["labels updated"]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["metadata"]["labels"]["team"] == "a"


def test_an_immutable_secret_is_replaced_when_its_content_has_to_change(
    api: Api, namespace: str, run: Run
) -> None:
    run(**desired(namespace, immutable=True))
    before = api.secret(namespace, NAME)
    assert before is not None
    result = run(**desired(namespace, TWO))
    after = api.secret(namespace, NAME)
    assert after is not None
    assert result["targets"][0]["actions"] == ["replaced"]
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert held(after) == TWO
    assert after["immutable"] is True, "without the option, immutable must not change"


def test_immutable_false_makes_it_mutable_again(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace, immutable=True))
    result = run(**desired(namespace, immutable=False))
    after = api.secret(namespace, NAME)
    assert after is not None
    assert result["targets"][0]["actions"] == ["replaced"]
    assert not after.get("immutable")
    assert held(after) == ONE
    assert run(**desired(namespace, immutable=False))["changed"] is False


def test_immutable_true_seals_an_existing_secret(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace))
    before = api.secret(namespace, NAME)
    result = run(**desired(namespace, TWO, immutable=True))
    after = api.secret(namespace, NAME)
    assert before is not None
    assert after is not None
    assert result["targets"][0]["actions"] == ["updated", "made immutable"]
    assert after["immutable"] is True
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert held(after) == TWO


def test_a_replacement_that_the_server_would_refuse_loses_nothing(api: Api, namespace: str, run: Run) -> None:
    """Only the server sees the total size of both annotations."""
    old = opaque(
        api, namespace, metadata={"name": NAME, "labels": OURS, "annotations": {"note": "n" * 200_000}}
    )
    result = run(**desired(namespace, annotations={"other": "too long " * 10_000}))
    assert result["failed_targets"][0]["kind"] == "configuration"
    assert "metadata.annotations" in result["msg"]
    assert api.secret(namespace, NAME) == old
    assert api.writes() == []
    assert result["targets"][0]["changed"] is False


def test_a_replacement_is_checked_under_a_name_that_nothing_else_has(
    api: Api, namespace: str, run: Run
) -> None:
    for name in (f"{NAME}-check", "pull-secret-check"):
        api.create(namespace, "secrets", {"metadata": {"name": name}})
    opaque(api, namespace)
    assert run(**desired(namespace))["targets"][0]["actions"] == ["replaced"]


def test_a_replacement_of_the_longest_name(api: Api, namespace: str, run: Run) -> None:
    name = "n" * 253
    opaque(api, namespace, metadata={"name": name, "labels": OURS})
    assert run(**desired(namespace, name=name))["targets"][0]["actions"] == ["replaced"]
    assert held(api.secret(namespace, name)) == ONE


def test_a_replacement_that_the_server_changes_is_reported(
    api: Api, namespace: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*unused: object) -> None:
        raise VerificationFailed("the secret does not hold what was written")

    opaque(api, namespace)
    monkeypatch.setattr(replacing, "verify_written", fail)
    result = run(**desired(namespace))
    assert "(the old secret is deleted; the new one has other content; does" in result["msg"]
    assert api.secret(namespace, NAME) is not None


def test_an_interrupted_replacement_is_reported_and_finished_by_the_next_run(
    api: Api, namespace: str, run: Run
) -> None:
    opaque(api, namespace)
    # The dry run succeeds; the create after the delete fails.
    api.faults.add(verb="create", path=f"*/{namespace}/secrets", skip=1, times=5, status=503)
    result = run(**desired(namespace))
    assert result["failed_targets"][0]["kind"] == "unavailable"
    assert "the next run creates" in result["msg"]
    assert result["targets"][0]["changed"] is True
    assert result["targets"][0]["actions"] == ["deleted"]
    assert api.secret(namespace, NAME) is None
    assert run(**desired(namespace))["targets"][0]["actions"] == ["created"]


def test_a_secret_that_another_owner_creates_during_a_replacement_is_kept(
    api: Api, namespace: str, run: Run
) -> None:
    opaque(api, namespace)

    def foreign() -> None:
        if api.secret(namespace, NAME) is None:
            api.create(
                namespace, "secrets", {"metadata": {"name": NAME, "labels": {"managed-by": "someone"}}}
            )

    api.before("create", f"*/{namespace}/secrets", foreign, times=2)
    result = run(**desired(namespace))
    assert result["failed_targets"][0]["kind"] == "ownership"
    assert "someone" in result["msg"]
    secret = api.secret(namespace, NAME)
    assert secret is not None
    assert secret["metadata"]["labels"] == {"managed-by": "someone"}


HOLD = "example.com/hold"


@pytest.fixture
def held_back(api: Api, namespace: str) -> Iterator[dict[str, Any]]:
    """A Secret that must be replaced, with foreign data, a finalizer and an owner reference."""
    owner = api.create(namespace, "configmaps", {"metadata": {"name": "owner"}})
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    old = opaque(api, namespace)
    patch = {"metadata": {"finalizers": [HOLD], "ownerReferences": [reference]}}
    yield {**old, **api.merge(namespace, "secrets", NAME, patch)}
    if api.secret(namespace, NAME) is not None:
        api.merge(namespace, "secrets", NAME, {"metadata": {"finalizers": None}})


def let_go(api: Api, namespace: str, *, after: int) -> None:
    """Remove the finalizer when the deleted Secret has been read more than ``after`` times."""
    seen = 0

    def act() -> None:
        nonlocal seen
        secret = api.secret(namespace, NAME)
        if secret is None or not secret["metadata"].get("deletionTimestamp"):
            return
        seen += 1
        if seen > after:
            api.merge(namespace, "secrets", NAME, {"metadata": {"finalizers": None}})

    api.before("get", f"*/{namespace}/secrets/{NAME}", act, times=20)


@pytest.mark.parametrize("after", [0, 2], ids=["gone at once", "gone after a while"])
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(None, id="no fault"),
        pytest.param({"verb": "delete", "drop": True, "phase": "after"}, id="delete unanswered"),
        pytest.param({"verb": "create", "skip": 1, "drop": True}, id="create unanswered"),
    ],
)
def test_foreign_data_survives_the_wait_for_a_finalizer(
    api: Api, namespace: str, run: Run, held_back: dict[str, Any], after: int, fault: dict[str, Any] | None
) -> None:
    let_go(api, namespace, after=after)
    if fault is not None:
        api.faults.add(path=f"*/{namespace}/*", **fault)
    result = run(**desired(namespace))
    assert "failed" not in result, result["msg"]
    assert result["targets"][0]["actions"] == ["replaced"]
    secret = api.secret(namespace, NAME)
    assert (secret["type"], held(secret)) == (TYPE, ONE)
    old, new = held_back["metadata"], secret["metadata"]
    assert new["uid"] != old["uid"]
    assert (new["labels"]["team"], new["annotations"]["note"]) == ("a", "b")
    assert secret["data"]["extra"] == encoded("kept")
    assert (new["ownerReferences"], new["finalizers"]) == (old["ownerReferences"], [HOLD])
    assert run(**desired(namespace))["changed"] is False


def test_a_replacement_does_not_return_after_another_writers_secret(
    api: Api, namespace: str, run: Run, held_back: dict[str, Any]
) -> None:
    """Another run created a new Secret after the delete, and another writer deleted that one."""
    let_go(api, namespace, after=0)
    body = {"metadata": {"name": NAME, "labels": OURS}, "type": TYPE, "data": {KEY: encoded(json.dumps(TWO))}}
    # The dry run, the create before the delete, and the create after it.
    is_the_turn = iter([False, False, True])

    def foreign() -> None:
        if next(is_the_turn):
            api.create(namespace, "secrets", body)

    api.before("create", f"*/{namespace}/secrets", foreign, times=3)
    api.before("patch", f"*/secrets/{NAME}", lambda: api.delete(namespace, "secrets", NAME))
    result = run(**desired(namespace))
    assert "failed" not in result, result["msg"]
    assert result["targets"][0]["actions"] == ["deleted", "created"]
    secret = api.secret(namespace, NAME)
    assert held(secret) == ONE
    assert "team" not in secret["metadata"]["labels"]
    assert list(secret["data"]) == [KEY]


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_secret_that_waits_for_its_finalizers_is_named(
    api: Api, namespace: str, run: Run, check_mode: bool
) -> None:
    opaque(api, namespace)
    api.merge(namespace, "secrets", NAME, {"metadata": {"finalizers": ["example.com/hold"]}})
    api.delete(namespace, "secrets", NAME)
    try:
        result = run(**desired(namespace), timeout=3, check_mode=check_mode)
        if check_mode:
            assert result["changed"] is True
        else:
            assert "finalizer" in result["msg"]
            assert "example.com/hold" in result["msg"]
            assert api.writes() == []
    finally:
        api.merge(namespace, "secrets", NAME, {"metadata": {"finalizers": None}})
    if not check_mode:
        assert run(**desired(namespace))["targets"][0]["actions"] == ["created"]
