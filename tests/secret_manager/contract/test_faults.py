# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in's faults and counters, through the real client. Not for a real project."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
from google.api_core import exceptions
from google.auth.exceptions import InvalidOperation
from google_crc32c import value as crc32c

from tests.secret_manager.contract.support import REAL_PROJECT, Client, Workspace, refused, status_of
from tests.stand_ins.secret_manager import SecretManagerLab

pytestmark = pytest.mark.skipif(bool(REAL_PROJECT), reason="a real project has no fault table")

DATA = b"example-password"


@pytest.fixture
def secret(lab: SecretManagerLab, work: Workspace) -> str:
    """A secret with one version; the calls that make it are not counted."""
    name = work.create().name
    work.add(name, DATA)
    lab.calls.clear()
    return str(name)


def access(work: Workspace, secret: str, version: str = "1") -> Any:
    """Access a version without the client's own retries."""
    name = f"{secret}/versions/{version}"
    return work.client.access_secret_version(name=name, retry=None).payload


@pytest.mark.parametrize(
    ("code", "parent"),
    [
        ("PERMISSION_DENIED", exceptions.Forbidden),
        ("RESOURCE_EXHAUSTED", exceptions.TooManyRequests),
        ("UNAVAILABLE", exceptions.ServiceUnavailable),
        ("INTERNAL", exceptions.InternalServerError),
        ("ABORTED", exceptions.Conflict),
        ("ALREADY_EXISTS", exceptions.Conflict),
        ("FAILED_PRECONDITION", exceptions.BadRequest),
        ("INVALID_ARGUMENT", exceptions.BadRequest),
        ("NOT_FOUND", exceptions.NotFound),
        ("DEADLINE_EXCEEDED", exceptions.GatewayTimeout),
    ],
)
def test_a_code_arrives_as_the_clients_own_exception(
    lab: SecretManagerLab,
    work: Workspace,
    secret: str,
    code: str,
    parent: type[exceptions.GoogleAPICallError],
) -> None:
    lab.faults.add("AccessSecretVersion", code=code, times=1)
    with pytest.raises(parent) as caught:
        access(work, secret)
    assert status_of(caught.value) == code
    assert access(work, secret).data == DATA
    assert lab.calls.count("AccessSecretVersion", "*", code) == 1
    assert lab.calls.count("AccessSecretVersion", "*", "OK") == 1


def test_unauthenticated(lab: SecretManagerLab, work: Workspace, secret: str, transport: str) -> None:
    """Over REST the client first tries to refresh its credentials, which anonymous ones cannot do."""
    lab.faults.add("AccessSecretVersion", code="UNAUTHENTICATED")
    expected = {"grpc": exceptions.Unauthorized, "rest": InvalidOperation}[transport]
    with pytest.raises(expected):
        access(work, secret)


def test_a_refusal_names_permission_and_resource(lab: SecretManagerLab, work: Workspace, secret: str) -> None:
    lab.faults.add("AccessSecretVersion", code="PERMISSION_DENIED")
    with refused("PERMISSION_DENIED") as error:
        access(work, secret)
    assert "'secretmanager.versions.access'" in str(error.value)
    assert f"{secret}/versions/1" in str(error.value)


def test_a_message_of_ones_own(lab: SecretManagerLab, work: Workspace, secret: str) -> None:
    lab.faults.add("GetSecret", code="INTERNAL", message="the disk is on fire")
    with refused("INTERNAL") as error:
        work.client.get_secret(name=secret, retry=None)
    assert "the disk is on fire" in str(error.value)


def test_only_the_method_and_resource_named_are_hit(
    lab: SecretManagerLab, work: Workspace, secret: str
) -> None:
    secret_id = secret.rpartition("/")[2]
    fault = lab.faults.add("AccessSecretVersion", f"{work.name(secret_id)}/*", code="INTERNAL")
    other = work.create().name
    work.add(other, DATA)
    assert access(work, other).data == DATA
    assert work.client.get_secret(name=secret).name == secret
    assert fault.hits == 0
    # The rule names the project's id. It also matches calls with the project's number.
    for name in (secret, work.name(secret_id)):
        with refused("INTERNAL"):
            access(work, name)
    assert fault.hits == 2


def test_skip_and_times(lab: SecretManagerLab, work: Workspace, secret: str) -> None:
    lab.faults.add("AccessSecretVersion", code="INTERNAL", skip=2, times=2)
    outcomes = []
    for dummy in range(6):
        try:
            outcomes.append(access(work, secret).data == DATA)
        except exceptions.InternalServerError:
            outcomes.append(False)
    assert outcomes == [True, True, False, False, True, True]


def test_rules_are_tried_in_order(lab: SecretManagerLab, work: Workspace, secret: str) -> None:
    lab.faults.add("AccessSecretVersion", code="INTERNAL", times=1)
    lab.faults.add("*", code="PERMISSION_DENIED", times=1)
    with refused("INTERNAL"):
        access(work, secret)
    with refused("PERMISSION_DENIED"):
        access(work, secret)
    assert access(work, secret).data == DATA


def test_before_has_no_effect_and_after_has(lab: SecretManagerLab, work: Workspace, secret: str) -> None:
    fault = lab.faults.add("AddSecretVersion", code="UNAVAILABLE", times=1)
    with refused("UNAVAILABLE"):
        work.add(secret, b"example-2")
    assert (fault.hits, work.versions(secret)) == (1, ["1"])
    lab.faults.add("AddSecretVersion", code="UNAVAILABLE", phase="after", times=1)
    with refused("UNAVAILABLE"):
        work.add(secret, b"example-2")
    assert work.versions(secret) == ["2", "1"]
    assert access(work, secret, "2").data == b"example-2"


def test_a_call_that_fails_by_itself_keeps_its_own_error(
    lab: SecretManagerLab, work: Workspace, secret: str
) -> None:
    lab.faults.add("AccessSecretVersion", code="UNAVAILABLE", phase="after")
    with refused("NOT_FOUND"):
        access(work, secret, "9")


@pytest.mark.parametrize("phase", ["before", "after"])
def test_a_delay_outlasts_the_clients_deadline_and_the_add_still_happens(
    lab: SecretManagerLab, work: Workspace, secret: str, transport: str, phase: str
) -> None:
    lab.faults.add("AddSecretVersion", delay=3.0, phase=phase, times=1)
    with pytest.raises((exceptions.GatewayTimeout, exceptions.RetryError, OSError)):
        work.client.add_secret_version(parent=secret, payload={"data": b"example-2"}, timeout=1.5, retry=None)
    limit = time.monotonic() + 60
    # Wait until the delayed call is counted, so that it is not counted in another test.
    while work.versions(secret) != ["2", "1"] or not lab.calls.count("AddSecretVersion"):
        assert time.monotonic() < limit


def test_a_delay_without_a_code_only_takes_time(lab: SecretManagerLab, work: Workspace, secret: str) -> None:
    lab.faults.add("AccessSecretVersion", delay=0.05, times=1)
    start = time.monotonic()
    assert access(work, secret).data == DATA
    assert time.monotonic() - start >= 0.05


def test_a_corrupt_answer_shows_in_its_checksum(lab: SecretManagerLab, work: Workspace, secret: str) -> None:
    for kind in ("payload", "crc"):
        lab.faults.add("AccessSecretVersion", corrupt=kind, times=1)
        payload = access(work, secret)
        assert crc32c(payload.data) != payload.data_crc32c
        assert (payload.data == DATA) == (kind == "crc")
        intact = access(work, secret)
        assert (intact.data, intact.data_crc32c) == (DATA, crc32c(DATA))


def test_a_corrupt_add_shows_in_the_flag_or_in_the_bytes(
    lab: SecretManagerLab, work: Workspace, secret: str
) -> None:
    lab.faults.add("AddSecretVersion", corrupt="crc", times=1)
    assert work.add(secret, DATA).client_specified_payload_checksum is False
    assert access(work, secret, "2").data == DATA
    lab.faults.add("AddSecretVersion", corrupt="payload", times=1)
    assert work.add(secret, DATA).client_specified_payload_checksum is True
    stored = access(work, secret, "3")
    assert (stored.data != DATA, stored.data_crc32c) == (True, crc32c(stored.data))


@pytest.mark.parametrize(
    "rule",
    [
        {"method": "Nope", "code": "INTERNAL"},
        {"code": "OK"},
        {"code": "NOPE"},
        {"code": "INTERNAL", "phase": "during"},
        {"code": "INTERNAL", "times": 0},
        {"code": "INTERNAL", "skip": -1},
        {"method": "AccessSecretVersion", "corrupt": "colour"},
    ],
)
def test_a_rule_without_sense_is_refused(lab: SecretManagerLab, rule: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="fault:"):
        lab.faults.add(**rule)
    assert not lab.faults


def test_the_clients_own_retry_shows_in_the_counters(
    lab: SecretManagerLab, make_client: Callable[[str], Client]
) -> None:
    """Measured: gRPC retries `access` after UNAVAILABLE by itself (within 2 s), and never `add`."""
    work = Workspace(make_client("grpc"), "customer-prod-12345")
    secret = work.create().name
    lab.faults.add("AddSecretVersion", code="UNAVAILABLE", times=1)
    with refused("UNAVAILABLE"):
        work.add(secret, DATA)
    assert lab.calls.count("AddSecretVersion") == 1
    work.add(secret, DATA)
    lab.faults.add("AccessSecretVersion", code="UNAVAILABLE", times=1)
    answer = work.client.access_secret_version(name=f"{secret}/versions/1")
    assert answer.payload.data == DATA
    assert lab.calls.count("AccessSecretVersion") == 2


def test_calls_are_counted_by_method_code_and_resource(
    lab: SecretManagerLab, work: Workspace, secret: str
) -> None:
    access(work, secret)
    with refused("NOT_FOUND"):
        access(work, secret, "9")
    by_id = f"{work.name(secret.rpartition('/')[2])}/versions/1"
    assert lab.calls.count() == lab.calls.count("AccessSecretVersion") == 2
    assert lab.calls.count("AccessSecretVersion", "*", "OK") == 1
    assert [call.code for call in lab.calls.matching("AccessSecretVersion", by_id)] == ["OK"]


def admin(lab: SecretManagerLab, verb: str, path: str, data: Any = None) -> tuple[int, Any]:
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(f"{lab.rest}/_lab/{path}", data=body, method=verb)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_the_admin_routes(lab: SecretManagerLab, work: Workspace) -> None:
    fleet = [
        {
            "project": "customer-prod-12345",
            "secret": f"seeded-{number}",
            "labels": {"managed-by": "hyperfleet"},
            "versions": [{"data": "example-1", "state": "DISABLED"}, {"data": "example-2"}],
        }
        for number in range(3)
    ]
    assert admin(lab, "POST", "seed", fleet) == (200, 3)
    assert work.secrets("labels.managed-by=hyperfleet") == ["seeded-2", "seeded-1", "seeded-0"]
    name = work.name("seeded-1")
    assert work.versions(name, "state:ENABLED") == ["2"]
    assert access(work, name, "latest").data == b"example-2"

    with refused("FAILED_PRECONDITION"):
        access(work, name, "1")
    called = [
        call["code"] for call in admin(lab, "GET", "calls")[1] if call["method"] == "AccessSecretVersion"
    ]
    assert called == ["OK", "FAILED_PRECONDITION"]
    assert admin(lab, "DELETE", "calls")[0] == 200
    assert admin(lab, "GET", "calls") == (200, [])


@pytest.mark.parametrize(
    "data", ["nonsense", [{"project": "p-1"}], [{"project": "p-1", "secret": "s", "labels": {"K": "v"}}]]
)
def test_a_seed_that_does_not_fit_is_refused(lab: SecretManagerLab, data: Any) -> None:
    status, answer = admin(lab, "POST", "seed", data)
    assert (status, list(answer)) == (400, ["error"])


@pytest.mark.parametrize(
    "rule",
    [{"method": "Nope", "code": "INTERNAL"}, {"method": "GetSecret", "code": "INTERNAL", "colour": "red"}],
)
def test_a_fault_that_makes_no_sense_is_refused(lab: SecretManagerLab, rule: dict[str, str]) -> None:
    with pytest.raises((TypeError, ValueError)):
        lab.faults.add(**rule)
    assert not lab.faults
