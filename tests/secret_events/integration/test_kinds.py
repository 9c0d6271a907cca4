# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Watches of whole kinds: Clusters and namespaces that come and go count, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching import api as api_module
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.clusters import check_clusters
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.support.secret_events.api_server import ApiServer
from tests.support.secret_events.source import Source, running, token_file
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("no_secret_anywhere")


def _host(server: ApiServer, directory: Path) -> list[dict[str, Any]]:
    watches = [{"kind": "clusters"}, {"kind": "namespaces", "label_selector": "team=example"}]
    connection = {"host": server.url, "api_key_file": token_file(directory)}
    return [{"cluster_id": "host", "watches": watches, **connection}]


def _label(server: ApiServer, value: str | None) -> None:
    labels = {} if value is None else {"team": value}
    with server.store.lock:
        found = server.store.find("namespaces", "", "guests")
        metadata = {**(found["metadata"] if found else {"name": "guests"}), "labels": labels}
        write = server.store.replace if found else server.store.create
        write(RESOURCES["namespaces"], {"metadata": metadata, "status": {"phase": "Active"}})


def _kinds(source: Source) -> list[tuple[str, str]]:
    return [
        (change["name"], change["type"]) for event in source.events for change in event.get("changes", ())
    ]


def _ended_with(seen: tuple[str, str], source: Source) -> bool:
    return _kinds(source)[-1:] == [seen]


@pytest.mark.parametrize("versions", [("v1beta2",), ("v1beta3", "v1beta2")], ids=["newest", "older"])
def test_what_comes_and_goes_is_an_event(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, versions: tuple[str, ...]
) -> None:
    paths = tuple(f"/apis/cluster.x-k8s.io/{version}/clusters" for version in versions)
    monkeypatch.setitem(api_module.COLLECTIONS, "clusters", paths)

    async def scenario() -> None:
        async with ApiServer() as server:
            _label(server, None)
            async with running(_host(server, tmp_path)) as source:
                await until(lambda: server.watches == 2)
                await source.until(lambda source: len(_kinds(source)) == 2)
                source.events.clear()
                steps: list[tuple[Callable[[], object], tuple[str, str]]] = [
                    (lambda: server.put("clusters", "guests", "one"), ("clusters", "ADDED")),
                    (lambda: _label(server, "example"), ("namespaces", "ADDED")),
                    (lambda: _label(server, None), ("namespaces", "DELETED")),
                ]
                for act, seen in steps:
                    act()
                    await source.until(partial(_ended_with, seen))
                assert _kinds(source) == [seen for _act, seen in steps]
                # What changes an object that is there counts for nothing.
                server.put("clusters", "guests", "one", spec={"paused": True})
                server.drop()
                server.put("clusters", "guests", "two")
                await source.until(lambda source: len(_kinds(source)) > len(steps))
                assert _kinds(source)[len(steps) :] == [("clusters", "ADDED")]
                server.store.remove(RESOURCES["clusters"], "guests", "two")
                await source.until(partial(_ended_with, ("clusters", "DELETED")))

    asyncio.run(scenario())


def test_a_kind_that_the_server_has_not_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(api_module.COLLECTIONS, "clusters", ("/apis/cluster.x-k8s.io/v1beta9/clusters",))

    async def scenario() -> None:
        async with ApiServer() as server, running(_host(server, tmp_path)) as source:
            await source.until(lambda source: bool(source.problems))
            assert source.problems[0][1:] == ("failing", "the API server answers with HTTP 404")

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("watch", "said"),
    [
        ({"kind": "pods"}, "kind must be one of clusters, namespaces"),
        ({"kind": "clusters", "name": "one"}, "kind cannot be combined with namespace or name"),
        ({"kind": "clusters", "label_selector": "a&b"}, "label_selector must be a label selector"),
        ({"namespace": "a", "name": "b", "label_selector": "a"}, "label_selector needs kind"),
    ],
)
def test_a_wrong_watch_of_a_kind_is_refused(watch: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        check_clusters([{"cluster_id": "host", "watches": [watch]}])
