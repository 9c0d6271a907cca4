# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Concurrent callers: exactly one creates, every version has its own number, one etag allows one change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from google.api_core.exceptions import GoogleAPICallError

from tests.secret_manager.contract.support import AUTOMATIC, Client, Workspace, status_of

CALLERS = 16


@pytest.fixture
def together(
    make_client: Callable[[str], Client], transport: str
) -> Iterator[Callable[[Callable[[Client, int], object]], list[str]]]:
    """Run a call in 16 threads at once, each with its own client; return the status names."""
    own = [make_client(transport) for dummy in range(CALLERS)]
    barrier = threading.Barrier(CALLERS)

    def run(call: Callable[[Client, int], object]) -> list[str]:
        def one(number: int) -> str:
            barrier.wait(timeout=60)
            try:
                call(own[number], number)
            except GoogleAPICallError as error:
                return status_of(error)
            return "OK"

        with ThreadPoolExecutor(CALLERS) as pool:
            return sorted(pool.map(one, range(CALLERS)))

    yield run
    for client in own:
        client.transport.close()


Together = Callable[[Callable[[Client, int], object]], list[str]]


def test_one_of_many_creators_wins(work: Workspace, together: Together) -> None:
    secret_id = work.secret_id()

    def create(client: Client, number: int) -> None:
        secret = {**AUTOMATIC, "labels": {"creator": f"c{number}"}}
        client.create_secret(parent=work.parent, secret_id=secret_id, secret=secret)

    assert together(create) == ["ALREADY_EXISTS"] * (CALLERS - 1) + ["OK"]
    assert work.client.get_secret(name=work.name(secret_id)).labels["creator"]


def test_versions_added_at_once_have_their_own_numbers_and_bytes(work: Workspace, together: Together) -> None:
    name = work.create().name
    added: dict[str, bytes] = {}

    def add(client: Client, number: int) -> None:
        data = b"example-%d" % number
        added[client.add_secret_version(parent=name, payload={"data": data}).name] = data

    assert together(add) == ["OK"] * CALLERS
    assert work.versions(name, "state:ENABLED") == [str(number) for number in range(CALLERS, 0, -1)]
    for version, data in added.items():
        assert work.client.access_secret_version(name=version).payload.data == data


def test_one_etag_serves_one_change(work: Workspace, together: Together) -> None:
    secret = work.create()

    def update(client: Client, number: int) -> None:
        client.update_secret(
            secret={"name": secret.name, "labels": {"by": f"c{number}"}, "etag": secret.etag},
            update_mask={"paths": ["labels"]},
        )

    assert together(update) == ["FAILED_PRECONDITION"] * (CALLERS - 1) + ["OK"]
