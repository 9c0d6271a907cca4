# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The list ``imagePullSecrets`` of service accounts, which has no merge key and several writers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kubernetes.integration.conftest import Run
from tests.kubernetes.integration.test_secret import NAME, desired
from tests.support.kubernetes.world import Api

ACCOUNT = "puller"


@pytest.fixture
def account(api: Api, namespace: str) -> str:
    body = {"metadata": {"name": ACCOUNT}, "imagePullSecrets": [{"name": "b"}, {"name": "a"}]}
    api.create(namespace, "serviceaccounts", body)
    return ACCOUNT


def listed(api: Api, namespace: str) -> list[str]:
    found = api.get(namespace, "serviceaccounts", ACCOUNT)
    assert found is not None
    return [entry["name"] for entry in found.get("imagePullSecrets") or []]


def add(api: Api, namespace: str, name: str) -> None:
    """Add an entry as another writer does: by sending the whole list."""
    entries = [{"name": entry} for entry in [*listed(api, namespace), name]]
    api.merge(namespace, "serviceaccounts", ACCOUNT, {"imagePullSecrets": entries})


def test_added_after_the_others(api: Api, namespace: str, run: Run, account: str) -> None:
    result = run(**desired(namespace, service_accounts=[account]))
    assert result["targets"][0]["actions"] == ["created", f"linked to service account {account}"]
    assert listed(api, namespace) == ["b", "a", NAME]
    api.calls.clear()
    assert run(**desired(namespace, service_accounts=[account]))["changed"] is False
    assert api.writes() == []


def test_taken_out_with_the_secret(api: Api, namespace: str, run: Run, account: str) -> None:
    run(**desired(namespace, service_accounts=[account]))
    add(api, namespace, "c")
    gone: dict[str, Any] = {
        "cluster_id": "cls-123",
        "namespace": namespace,
        "state": "absent",
        "service_accounts": [account],
    }
    api.calls.clear()
    result = run(**gone)
    assert result["targets"][0]["actions"] == [f"unlinked from service account {account}", "deleted"]
    assert listed(api, namespace) == ["b", "a", "c"]
    assert [line.split()[0] for line in api.writes()] == ["patch", "delete"], "unlink before the delete"
    assert run(**gone)["changed"] is False


@pytest.mark.parametrize("linking", [True, False])
def test_a_concurrent_writer_loses_nothing(
    api: Api, namespace: str, run: Run, account: str, linking: bool
) -> None:
    run(**desired(namespace, service_accounts=[] if linking else [account]))
    api.calls.clear()
    api.before("patch", "*/serviceaccounts/*", lambda: add(api, namespace, "late"))
    form = {"service_accounts": [account]} if linking else {"state": "absent", "service_accounts": [account]}
    result = run(**desired(namespace, **form))
    assert "failed" not in result
    assert listed(api, namespace) == ["b", "a", "late", *([NAME] * linking)]
    assert [call.status for call in api.calls.matching("patch", "*/serviceaccounts/*")] == [409, 200]


def test_another_writer_has_linked_it_meanwhile(api: Api, namespace: str, run: Run, account: str) -> None:
    run(**desired(namespace))
    api.before("patch", "*/serviceaccounts/*", lambda: add(api, namespace, NAME))
    result = run(**desired(namespace, service_accounts=[account]))
    assert listed(api, namespace) == ["b", "a", NAME]
    assert (result["changed"], result["targets"][0]["actions"]) == (False, [])


def test_an_ambiguous_link_is_reported_and_made_once(
    api: Api, namespace: str, run: Run, account: str
) -> None:
    api.faults.add(verb="patch", path="*/serviceaccounts/*", drop=True, phase="after")
    result = run(**desired(namespace, service_accounts=[account]))
    assert listed(api, namespace) == ["b", "a", NAME]
    assert f"linked to service account {account}" in result["targets"][0]["actions"]


def test_a_missing_account_is_a_dependency(api: Api, namespace: str, run: Run) -> None:
    result = run(**desired(namespace, service_accounts=["absent"]))
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "dependency"
    assert f"service account {namespace}/absent" in failure["msg"]
    assert api.calls.count("get", "*/serviceaccounts/absent") == 5
    (target,) = result["targets"]
    assert target["retries"] == 4
    assert target["changed"] is True, "the Secret exists and must be reported"
    assert target["actions"] == ["created"]
    assert api.secret(namespace, NAME) is not None


def test_an_account_that_appears_meanwhile(api: Api, namespace: str, run: Run) -> None:
    waited: list[int] = []

    def appear() -> None:
        waited.append(1)
        if len(waited) == 3:
            api.create(namespace, "serviceaccounts", {"metadata": {"name": ACCOUNT}})

    api.before("get", f"*/serviceaccounts/{ACCOUNT}", appear, times=3)
    result = run(**desired(namespace, service_accounts=[ACCOUNT]))
    assert "failed" not in result
    assert listed(api, namespace) == [NAME]
    assert result["targets"][0]["retries"] == 2


def test_check_mode_predicts_and_writes_nothing(api: Api, namespace: str, run: Run, account: str) -> None:
    params = desired(namespace, service_accounts=[account], digest_key="example-key")
    result = run(**params, check_mode=True, diff=True)
    assert result["targets"][0]["actions"] == ["created", f"linked to service account {account}"]
    assert api.writes() == []
    assert listed(api, namespace) == ["b", "a"]
    (diff,) = result["diff"]
    assert f"service account {account}: b, a\n" in diff["before"]
    assert f"service account {account}: b, a, {NAME}\n" in diff["after"]
    assert run(**params, diff=True)["diff"] == [diff]


def test_check_mode_reports_a_missing_account(api: Api, namespace: str, run: Run) -> None:
    result = run(**desired(namespace, service_accounts=["absent"]), check_mode=True)
    (warning,) = result["targets"][0]["warnings"]
    assert warning.startswith(f"service account {namespace}/absent does not exist")


def test_an_account_without_a_list(api: Api, namespace: str, run: Run) -> None:
    api.create(namespace, "serviceaccounts", {"metadata": {"name": ACCOUNT}})
    run(**desired(namespace, service_accounts=[ACCOUNT]))
    assert listed(api, namespace) == [NAME]
    run(**desired(namespace, service_accounts=[ACCOUNT], state="absent"))
    assert listed(api, namespace) == []
