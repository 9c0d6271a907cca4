# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What only the stand-in can do: inject faults, forget its history."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import urllib3

from tests.kubernetes.contract.support import Client, Place, secret
from tests.lab.session import STAND_IN, KubernetesEnv
from tests.stand_ins.kubernetes import KubernetesLab


@pytest.fixture
def lab() -> Iterator[KubernetesLab]:
    with KubernetesLab() as lab:
        yield lab


@pytest.fixture
def admin(lab: KubernetesLab) -> Client:
    return Client(KubernetesEnv(STAND_IN, lab.url, lab.admin_token, lab.viewer_token), lab.admin_token)


@pytest.fixture
def place(admin: Client) -> Place:
    return Place(admin, "default")


def route(lab: KubernetesLab, method: str, path: str) -> Any:
    return urllib3.request(method, f"{lab.url}/_lab/{path}").json()


def test_a_fault_applies_as_often_as_set_and_only_to_what_it_names(
    lab: KubernetesLab, admin: Client, place: Place
) -> None:
    place.made(secret("s"))
    lab.faults.add(verb="get", path="*/secrets/s", status=503, times=2, headers={"Retry-After": "1"})
    admin.get(place.secrets).ok()
    for dummy in range(2):
        admin.get(place.at("s")).refused(503, "ServiceUnavailable")
    admin.get(place.at("s")).ok()


def test_skipped_calls_pass_first(lab: KubernetesLab, admin: Client, place: Place) -> None:
    lab.faults.add(verb="create", status=429, skip=2)
    place.made(secret("a"))
    place.made(secret("b"))
    admin.post(place.secrets, secret("c")).refused(429, "TooManyRequests")
    place.made(secret("c"))


def test_a_fault_before_does_nothing_and_one_after_did_the_work(
    lab: KubernetesLab, admin: Client, place: Place
) -> None:
    lab.faults.add(verb="create", status=500, message="before")
    assert admin.post(place.secrets, secret("s")).refused(500, "InternalError")["message"] == "before"
    admin.get(place.at("s")).refused(404, "NotFound")
    lab.faults.add(verb="create", status=504, phase="after")
    admin.post(place.secrets, secret("s")).refused(504, "Timeout")
    admin.get(place.at("s")).ok()


@pytest.mark.parametrize(("phase", "code"), [("before", 404), ("after", 200)])
def test_a_dropped_connection(lab: KubernetesLab, admin: Client, place: Place, phase: str, code: int) -> None:
    lab.faults.add(verb="create", drop=True, phase=phase)
    with pytest.raises(urllib3.exceptions.HTTPError):
        admin.post(place.secrets, secret("s"))
    assert admin.get(place.at("s")).code == code
    assert [call.status for call in lab.calls.matching("create")] == [0]


def test_a_delay_longer_than_the_clients_patience(lab: KubernetesLab, place: Place) -> None:
    lab.faults.add(verb="list", delay=3600)
    headers = {"Authorization": f"Bearer {lab.admin_token}"}
    with pytest.raises(urllib3.exceptions.HTTPError):
        urllib3.request("GET", lab.url + place.secrets, headers=headers, timeout=0.2, retries=False)
    # The server still answers other clients.
    assert urllib3.request("GET", lab.url + place.secrets, headers=headers, timeout=60).status == 200


def test_the_log_of_calls_keeps_no_content(lab: KubernetesLab, place: Place) -> None:
    place.made(secret("s", stringData={"k": "example-password"}))
    calls = json.dumps(route(lab, "GET", "calls"))
    assert "example-password" not in calls
    assert lab.admin_token not in calls


def test_a_watch_from_a_forgotten_version_gets_410(lab: KubernetesLab, admin: Client, place: Place) -> None:
    start = admin.get(place.secrets).ok()["metadata"]["resourceVersion"]
    place.made(secret("s"))
    lab.store.compact()
    event = json.loads(admin.get(place.secrets, watch="true", resourceVersion=start, timeoutSeconds=1).text)
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")
