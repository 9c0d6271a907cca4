# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in's faults, through the real client. Not for a real project."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from google.api_core import exceptions
from google.auth.exceptions import InvalidOperation
from google_crc32c import value as crc32c

from tests.secret_manager.contract.support import REAL_PROJECT, Client, Workspace, refused, status_of
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.nightly import some

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


@pytest.mark.parametrize("phase", some(["before", "after"], "after"))
def test_a_delay_outlasts_the_clients_deadline_and_the_add_still_happens(
    lab: SecretManagerLab, work: Workspace, secret: str, transport: str, phase: str
) -> None:
    lab.faults.add("AddSecretVersion", delay=3.0, phase=phase, times=1)
    with pytest.raises((exceptions.GatewayTimeout, exceptions.RetryError, OSError)):
        work.client.add_secret_version(parent=secret, payload={"data": b"example-2"}, timeout=1.5, retry=None)
    limit = time.monotonic() + 180
    # Wait until the delayed call is counted, so that it is not counted in another test.
    while work.versions(secret) != ["2", "1"] or not lab.calls.count("AddSecretVersion"):
        assert time.monotonic() < limit


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
