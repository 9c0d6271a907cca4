# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source against an API server that fails on demand."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from tests.support.secret_events.api_server import CANARY, TOKEN, ApiServer
from tests.support.secret_events.source import entry, running, token_file
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("no_secret_anywhere")

NAMESPACE, NAME = "kube-system", "additional-pull-secret"


@pytest.fixture
def token(tmp_path: Path) -> str:
    return token_file(tmp_path)


def test_every_cluster_is_named_once_when_it_starts(token: str) -> None:
    async def scenario() -> None:
        async with ApiServer() as server:
            version = server.change(NAMESPACE, NAME)
            with_one = entry("cls-1", server.url, token)
            without = entry("cls-2", server.url, token, namespace="other")
            async with running([with_one, without]) as source:
                await source.until(lambda it: len(it.clusters) == 2)
                assert sorted(source.clusters) == ["cls-1", "cls-2"]
                assert source.changes == [("cls-1", "ADDED", str(version))]

    asyncio.run(scenario())


def test_changes_are_told_with_their_kinds_and_only_of_their_cluster(token: str) -> None:
    async def scenario() -> None:
        async with ApiServer() as server:
            entries = [entry(f"cls-{number}", server.url, token, f"ns-{number}") for number in range(3)]
            async with running(entries) as source:
                await source.until(lambda it: len(it.clusters) == 3)
                await until(lambda: server.watches == 3)
                source.events.clear()
                expected = []
                for kind in ("ADDED", "MODIFIED", "DELETED", "ADDED"):
                    if kind == "DELETED":
                        version = server.delete("ns-1", NAME)
                    else:
                        version = server.change("ns-1", NAME)
                    expected.append(("cls-1", kind, str(version)))
                    await source.until(lambda it, wanted=list(expected): it.changes == wanted)  # type: ignore[misc]
                assert set(source.clusters) == {"cls-1"}

    asyncio.run(scenario())


def test_a_lost_connection_loses_nothing_and_repeats_nothing(token: str) -> None:
    async def scenario() -> None:
        async with ApiServer() as server:
            server.change(NAMESPACE, NAME)
            async with running([entry("cls-1", server.url, token)]) as source:
                for _round in range(3):
                    await until(lambda: server.watches == 1)
                    server.drop()
                    await until(lambda: server.watches == 0)
                    # This change happens while no watch is open.
                    version = server.change(NAMESPACE, NAME)
                    last = ("cls-1", "MODIFIED", str(version))
                    await source.until(lambda it, last=last: it.changes[-1:] == [last])  # type: ignore[misc]
                assert len(source.changes) == 4
                assert server.calls.count("list") == 1
                # Each watch continued where the one before had ended.
                resumed = [parse_qs(call.query)["resourceVersion"] for call in server.calls.matching("watch")]
                assert resumed[1:] == [[version] for _one, _kind, version in source.changes[:3]]
                assert source.problems == []

    asyncio.run(scenario())


@pytest.mark.parametrize("expired", ["while watching", "before watching", "by the HTTP status"])
def test_after_an_expired_watch_only_the_secret_that_changed_is_an_event(token: str, expired: str) -> None:
    async def scenario() -> None:
        async with ApiServer() as server:
            server.change(NAMESPACE, NAME)
            server.change("other", NAME)
            entries = [entry("cls-1", server.url, token), entry("cls-2", server.url, token, "other")]
            async with running(entries) as source:
                await source.until(lambda it: len(it.changes) == 2)
                await until(lambda: server.watches == 2)
                if expired == "while watching":
                    server.store.compact(open_watches=True)
                    version = server.change(NAMESPACE, NAME)
                else:
                    server.drop()
                    await until(lambda: server.watches == 0)
                    version = server.change(NAMESPACE, NAME)
                    if expired == "before watching":
                        server.store.compact()
                    else:
                        server.faults.add(verb="watch", status=410, times=2)
                await source.until(lambda it: len(it.changes) > 2)
                await until(lambda: server.calls.count("list") == 4 and server.watches == 2)
                assert source.changes[2:] == [("cls-1", "MODIFIED", str(version))]
                assert source.problems == []

    asyncio.run(scenario())


def test_a_secret_that_was_deleted_unseen_is_told(token: str) -> None:
    async def scenario() -> None:
        async with ApiServer() as server:
            server.change(NAMESPACE, NAME)
            async with running([entry("cls-1", server.url, token)]) as source:
                await source.until(lambda it: len(it.changes) == 1)
                await until(lambda: server.watches == 1)
                server.drop()
                await until(lambda: server.watches == 0)
                server.delete(NAMESPACE, NAME)
                server.store.compact()
                await source.until(lambda it: len(it.changes) == 2)
                assert source.changes[1][1] == "DELETED"

    asyncio.run(scenario())


def test_a_secret_that_goes_between_list_and_get_is_absent(token: str) -> None:
    async def scenario() -> None:
        async with ApiServer() as server:
            server.change(NAMESPACE, NAME)
            server.faults.add(verb="get", path="*/secrets/*", act=lambda: server.delete(NAMESPACE, NAME))
            async with running([entry("cls-1", server.url, token)]) as source:
                await source.until(lambda it: it.clusters == ["cls-1"])
                await until(lambda: server.watches == 1)
                assert source.changes == []
                version = server.change(NAMESPACE, NAME)
                await source.until(lambda it: it.changes == [("cls-1", "ADDED", str(version))])

    asyncio.run(scenario())


def test_a_change_between_list_and_get_is_told_once(token: str) -> None:
    async def scenario() -> None:
        async with ApiServer() as server:
            server.change(NAMESPACE, NAME)
            server.faults.add(verb="get", path="*/secrets/*", act=lambda: server.change(NAMESPACE, NAME))
            async with running([entry("cls-1", server.url, token)], batch={"delay": 0}) as source:
                await until(lambda: server.watches == 1)
                # The watch delivers the same change first.
                version = server.change(NAMESPACE, NAME)
                await source.until(lambda it: it.changes[-1:] == [("cls-1", "MODIFIED", str(version))])
                assert [kind for _cluster, kind, _version in source.changes] == ["ADDED", "MODIFIED"]

    asyncio.run(scenario())


def test_a_server_that_says_nothing_is_asked_again(token: str) -> None:
    async def scenario() -> None:
        async with ApiServer() as server, running([entry("cls-1", server.url, token)], silence=1) as source:
            await until(lambda: server.watches == 1)
            # The server sends nothing over the first watch.
            server.store.watchers.clear()
            version = server.change(NAMESPACE, NAME)
            await source.until(lambda it: it.changes == [("cls-1", "ADDED", str(version))])

    asyncio.run(scenario())


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_cluster_is_reported_once_and_stops_no_other(
    token: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick(monkeypatch)

    async def scenario() -> None:
        async with ApiServer() as broken, ApiServer() as healthy:
            broken.refuse(status)
            entries = [entry("cls-1", broken.url, token), entry("cls-2", healthy.url, token)]
            async with running(entries) as source:
                await until(lambda: len(broken.calls) >= 5)
                assert [(cluster, state) for cluster, state, _text in source.problems] == [
                    ("cls-1", "failing")
                ]
                assert str(status) in str(source.problems[0][2])
                healthy.change(NAMESPACE, NAME)
                await source.until(lambda it: [change[0] for change in it.changes] == ["cls-2"])
                broken.faults.clear()
                await source.until(lambda it: "cls-1" in it.clusters)
                await until(lambda: broken.watches == 1)
                broken.change(NAMESPACE, NAME)
                await source.until(lambda it: ("cls-1", "solved", None) in it.problems)
                assert len(source.problems) == 2

    asyncio.run(scenario())


def test_a_token_that_was_replaced_is_read_again_without_a_report(token: str) -> None:
    async def scenario() -> None:
        async with ApiServer() as server, running([entry("cls-1", server.url, token)]) as source:
            await until(lambda: server.watches == 1)
            server.accept("example-token-2")
            Path(token).write_text("example-token-2")
            server.drop()
            await until(lambda: server.watches == 0)
            await until(lambda: server.watches == 1)
            assert source.problems == []

    asyncio.run(scenario())


def test_a_server_that_sends_whole_secrets_is_not_listened_to(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick(monkeypatch)

    async def scenario() -> None:
        async with ApiServer() as server:
            server.older_form = True
            server.change(NAMESPACE, NAME)
            async with running([entry("cls-1", server.url, token)]) as source:
                await source.until(lambda it: bool(it.problems))
                assert source.problems[0][:2] == ("cls-1", "failing")
                assert CANARY not in json.dumps(source.events)
                assert source.changes == []

    asyncio.run(scenario())


def test_a_server_that_is_gone_is_reported_and_waited_for(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick(monkeypatch)

    async def scenario() -> None:
        async with ApiServer() as server:
            url = server.url
        async with running([entry("cls-1", url, token)]) as source:
            await source.until(lambda it: bool(it.problems))
            assert source.problems[0][2] is not None
            assert source.problems[0][2].startswith("no connection to the API server")

    asyncio.run(scenario())


def test_nothing_secret_is_in_any_event(token: str) -> None:
    async def scenario() -> None:
        async with ApiServer() as server:
            server.change(NAMESPACE, NAME)
            async with running([entry("cls-1", server.url, token)]) as source:
                await source.until(lambda it: len(it.changes) == 1)
                await until(lambda: server.watches == 1)
                server.change(NAMESPACE, NAME)
                await source.until(lambda it: len(it.changes) == 2)
                server.delete(NAMESPACE, NAME)
                await source.until(lambda it: len(it.changes) == 3)
                assert CANARY not in json.dumps(source.events)
                assert TOKEN not in json.dumps(source.events)
            # Without this a table holds the annotations.
            assert all("includeObject=None" in call.query for call in server.calls.matching())

    asyncio.run(scenario())


def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses between two attempts, which are minutes."""
    from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching import watch

    monkeypatch.setattr(watch.Pauses.__init__, "__defaults__", (0.05, 0.05, 0.05))
