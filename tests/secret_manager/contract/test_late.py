# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stale answers, through the real client: only what Google's documentation promises is fresh."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.secret_manager.contract.support import REAL_PROJECT, Workspace, lab_client, refused
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.stand_ins.secret_manager.faults import Fault

pytestmark = pytest.mark.skipif(bool(REAL_PROJECT), reason="a real project has no fault table")

SECOND = 1_000_000_000


class Clock:
    def __init__(self) -> None:
        self.now = time.time_ns()

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock that only the test advances."""
    return Clock()


@pytest.fixture
def lab(clock: Clock) -> Iterator[SecretManagerLab]:
    with SecretManagerLab(clock=clock) as lab:
        yield lab


@pytest.fixture
def work(lab: SecretManagerLab, transport: str) -> Iterator[Workspace]:
    workspace = Workspace(lab_client(transport, lab.grpc, lab.rest), "customer-prod-12345")
    yield workspace
    lab.faults.clear()
    workspace.clean()


def _access(work: Workspace, name: str, version: str) -> bytes:
    return bytes(work.client.access_secret_version(name=f"{name}/versions/{version}").payload.data)


def test_all_but_a_version_by_its_number_is_old(lab: SecretManagerLab, clock: Clock, work: Workspace) -> None:
    name = work.create(labels={"word": "old"}).name
    work.add(name, b"one")
    fault = lab.faults.add(late=60)
    clock.now += SECOND
    work.add(name, b"two")
    work.client.update_secret(
        secret={"name": name, "labels": {"word": "new"}}, update_mask={"paths": ["labels"]}
    )
    for _later in range(59):
        assert (_access(work, name, "latest"), _access(work, name, "2")) == (b"one", b"two")
        assert work.client.get_secret(name=name).labels["word"] == "old"
        clock.now += SECOND
    assert work.versions(name) == ["1"]
    assert work.client.get_secret_version(name=f"{name}/versions/latest").name.endswith("/1")
    with refused("NOT_FOUND"):
        work.client.get_secret_version(name=f"{name}/versions/2")
    clock.now += SECOND
    assert _access(work, name, "latest") == b"two"
    assert work.versions(name) == ["2", "1"]
    assert work.client.get_secret(name=name).labels["word"] == "new"
    assert fault.hits > 100


def test_what_was_created_or_deleted_is_seen_late_and_known_to_writes(
    lab: SecretManagerLab, clock: Clock, work: Workspace
) -> None:
    lab.faults.add(late=60)
    clock.now += SECOND
    name = work.create("new").name
    with refused("NOT_FOUND"):
        work.client.get_secret(name=name)
    assert work.secrets("") == []
    with refused("ALREADY_EXISTS"):
        work.create("new")
    work.add(name, b"one")
    assert _access(work, name, "1") == b"one"
    clock.now += 60 * SECOND
    assert len(work.secrets("")) == 1
    work.client.delete_secret(name=name)
    assert _access(work, name, "latest") == b"one"
    with refused("NOT_FOUND"):
        _access(work, name, "1")
    with refused("NOT_FOUND"):
        work.add(name, b"two")


def test_an_etag_that_was_read_late_is_refused(lab: SecretManagerLab, clock: Clock, work: Workspace) -> None:
    name = work.create().name
    lab.faults.add("GetSecret", late=60)
    clock.now += SECOND
    change = {"name": name, "labels": {"word": "new"}}
    work.client.update_secret(secret=change, update_mask={"paths": ["labels"]})
    old = work.client.get_secret(name=name).etag
    with refused("FAILED_PRECONDITION"):
        work.client.update_secret(secret={**change, "etag": old}, update_mask={"paths": ["labels"]})
    clock.now += 60 * SECOND
    work.client.update_secret(
        secret={**change, "etag": work.client.get_secret(name=name).etag}, update_mask={"paths": ["labels"]}
    )


def test_late_and_another_fault_are_both_met(lab: SecretManagerLab, work: Workspace) -> None:
    name = work.create().name
    work.add(name, b"one")
    lab.faults.add(late=60)
    lab.faults.add("AccessSecretVersion", code="ABORTED", times=1)
    work.add(name, b"two")
    with refused("ABORTED"):
        _access(work, name, "latest")
    assert _access(work, name, "latest") == b"one"


@pytest.mark.parametrize("other", [{"code": "ABORTED"}, {"times": 1}, {"skip": 1}, {"delay": 1}])
def test_late_goes_alone(other: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="late goes with method and resource only"):
        Fault(late=60, **other)  # type: ignore[arg-type]
