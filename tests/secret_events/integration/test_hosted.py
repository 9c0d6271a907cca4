# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Hosted clusters as the role takes them: the event source gets only the file of the clusters."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching import watch
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes.hypershift import hosted_control_plane
from tests.stand_ins.metadata_server import ADDRESS, metadata_server
from tests.support.docker_configs import encoded
from tests.support.secret_events.api_server import CANARY, TOKEN, ApiServer
from tests.support.secret_events.source import Source, running
from tests.support.waiting import until
from tests.support.yaml_bombs import MERGES

ADDITIONAL = ("kube-system", "additional-pull-secret")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch.Pauses.__init__, "__defaults__", (0.05, 0.05, 0.05))


class Fleet:
    """A management cluster, and the file that lists its hosted clusters."""

    def __init__(self, management: ApiServer, directory: Path) -> None:
        self.management = management
        self.path = directory / "clusters.yml"
        self.kubeconfig = write_kubeconfig(
            directory / "management", [Cluster("mgmt-1", management.url, TOKEN)]
        )
        self.entries: list[dict[str, Any]] = []

    def add(self, cluster: str, hosted: ApiServer, *, plane: bool = True) -> None:
        namespace = f"clusters-{cluster}"
        self.entries.append(
            {
                "cluster_id": cluster,
                "control_plane_namespace": namespace,
                "syncer_image": "none of our business",
            }
        )
        if plane:
            self.plane(namespace)
        self.kubeconfig_secret(namespace, hosted.url, TOKEN)

    def plane(self, namespace: str, original: str = "pull-secret") -> None:
        fields = hosted_control_plane(namespace)
        fields["spec"]["pullSecret"]["name"] = original
        self.management.put(
            "hostedcontrolplanes", namespace, "plane", spec=fields["spec"], status=fields["status"]
        )

    def kubeconfig_secret(
        self, namespace: str, url: str, token: str, proxy: str | None = None, **user: Any
    ) -> None:
        content = {
            "current-context": "admin",
            "contexts": [{"name": "admin", "context": {"cluster": "cluster", "user": "admin"}}],
            "clusters": [{"name": "cluster", "cluster": {"server": url, "proxy-url": proxy}}],
            "users": [{"name": "admin", "user": {"token": token, **user}}],
        }
        self.kubeconfig_text(namespace, json.dumps(content))

    def kubeconfig_text(self, namespace: str, text: str) -> None:
        self.management.put("secrets", namespace, "admin-kubeconfig", data={"kubeconfig": encoded(text)})

    def write(self) -> str:
        fresh = self.path.with_suffix(".new")
        fresh.write_text("clusters:\n" + "".join(f"- {json.dumps(entry)}\n" for entry in self.entries))
        fresh.replace(self.path)
        return str(self.path)

    @property
    def options(self) -> dict[str, Any]:
        return {"kubernetes": {"kubeconfig": str(self.kubeconfig)}}


@asynccontextmanager
async def one_cluster(directory: Path) -> AsyncIterator[tuple[Fleet, ApiServer, ApiServer]]:
    """``cls-1``: its management cluster and its own API server."""
    async with ApiServer() as management, ApiServer() as hosted:
        fleet = Fleet(management, directory)
        fleet.add("cls-1", hosted)
        yield fleet, management, hosted


@asynccontextmanager
async def watched_cluster(directory: Path) -> AsyncIterator[tuple[Fleet, ApiServer, ApiServer, Source]]:
    """``one_cluster`` and a source that reads its file."""
    async with one_cluster(directory) as (fleet, management, hosted):
        clusters = fleet.write()
        async with running(clusters, **fleet.options) as source:
            yield fleet, management, hosted, source


def names(source: Source) -> set[tuple[str, str, str]]:
    return {
        (change["cluster_id"], change["namespace"], change["name"])
        for event in source.events
        for change in event.get("changes", ())
    }


def test_a_control_planes_namespace_is_enough(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with watched_cluster(tmp_path) as (fleet, management, hosted, source):
            await source.until(lambda it: "cls-1" in it.clusters)
            await until(lambda: management.watches == 1)
            await until(lambda: hosted.watches == 1)
            management.change("clusters-cls-1", "pull-secret")
            hosted.change(*ADDITIONAL)
            expected = {("cls-1", "clusters-cls-1", "pull-secret"), ("cls-1", *ADDITIONAL)}
            await source.until(lambda it: names(it) == expected)
            assert source.problems == []
            # The event contains the targets for the playbook.
            assert all(event["targets"] == fleet.entries for event in source.events)

    asyncio.run(scenario())


def test_a_kubeconfig_that_was_rotated_is_read_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with watched_cluster(tmp_path) as (fleet, _management, hosted, source):
            await until(lambda: hosted.watches == 1)
            fleet.kubeconfig_secret("clusters-cls-1", hosted.url, "example-token-2")
            hosted.accept("example-token-2")
            hosted.drop()
            await until(lambda: hosted.watches == 0)
            hosted.change(*ADDITIONAL)
            await source.until(lambda it: names(it) == {("cls-1", *ADDITIONAL)})
            assert source.problems == []

    asyncio.run(scenario())


def test_tokens_that_rotate_in_a_kubeconfig_file_are_read_again_without_a_report(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with watched_cluster(tmp_path) as (fleet, management, _hosted, source):
            for number in range(4):
                await until(lambda: management.watches == 1)
                management.accept(f"example-token-{number}")
                write_kubeconfig(
                    fleet.kubeconfig, [Cluster("mgmt-1", management.url, f"example-token-{number}")]
                )
                management.drop()
                await until(lambda: management.watches == 0)
                version = str(management.change("clusters-cls-1", "pull-secret"))
                await source.until(
                    lambda it, version=version: version in [change[2] for change in it.changes]  # type: ignore[misc]
                )
            assert source.problems == []

    asyncio.run(scenario())


def test_another_original_is_watched_once_the_control_plane_names_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with watched_cluster(tmp_path) as (fleet, management, _hosted, source):
            await until(lambda: management.watches == 1)
            version = str(management.change("clusters-cls-1", "pull-secret-2"))
            fleet.plane("clusters-cls-1", "pull-secret-2")
            # A server ends a watch after some minutes; that is no failure.
            management.drop()
            await source.until(lambda it: it.changes == [("cls-1", "ADDED", version)])
            assert names(source) == {("cls-1", "clusters-cls-1", "pull-secret-2")}
            management.change("clusters-cls-1", "pull-secret")
            version = str(management.change("clusters-cls-1", "pull-secret-2"))
            await source.until(lambda it: it.changes[1:] == [("cls-1", "MODIFIED", version)])
            assert source.problems == []

    asyncio.run(scenario())


def test_a_cluster_that_is_not_ready_delays_no_other(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with ApiServer() as management, ApiServer() as hosted:
            fleet = Fleet(management, tmp_path)
            fleet.add("cls-1", hosted, plane=False)
            fleet.add("cls-2", hosted)
            async with running(fleet.write(), **fleet.options) as source:
                await source.until(lambda it: "cls-2" in it.clusters and len(it.problems) >= 2)
                assert {problem[0] for problem in source.problems} == {"cls-1"}
                assert all("has 0 HostedControlPlanes" in str(problem[2]) for problem in source.problems)
                fleet.plane("clusters-cls-1")
                await source.until(lambda it: "cls-1" in it.clusters)
                await until(lambda: hosted.watches == 2)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "field",
    [
        {"exec": {"command": "true"}},
        {"exec": {"command": "true"}, "exec-data": "x"},
        {"token": "", "tokenFile": "token", "tokenFile-data": "x"},
        {"client-key": "key"},
    ],
)
def test_a_kubeconfig_in_a_secret_leads_to_nothing_of_this_machine(
    tmp_path: Path, field: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with one_cluster(tmp_path) as (fleet, _management, hosted):
            user = {"token": TOKEN, **field}
            fleet.kubeconfig_secret("clusters-cls-1", hosted.url, **user)
            async with running(fleet.write(), **fleet.options) as source:
                await source.until(lambda it: bool(it.problems))
                assert f"has {next(iter(field))}" in str(source.problems[0][2])
                assert len(hosted.calls) == 0

    caplog.set_level(logging.DEBUG)
    asyncio.run(scenario())
    assert TOKEN not in caplog.text


@pytest.mark.parametrize("proxy", [None, "http://127.0.0.1:9", "http://api.example:{port}"])
def test_a_kubeconfig_in_a_secret_leads_to_no_metadata_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, proxy: str | None
) -> None:
    async def scenario() -> None:
        async with one_cluster(tmp_path) as (fleet, _management, hosted):
            fleet.add("cls-2", hosted)
            with metadata_server(monkeypatch, api_example=[ADDRESS]) as (metadata, received):
                through = proxy.format(port=metadata.port) if proxy else None
                server = (
                    "http://127.0.0.1:9" if proxy and "{" in proxy else f"http://api.example:{metadata.port}"
                )
                fleet.kubeconfig_secret("clusters-cls-1", server, TOKEN, through)
                async with running(fleet.write(), **fleet.options) as source:
                    await source.until(lambda it: bool(it.problems) and "cls-2" in it.clusters)
                    assert {problem[0] for problem in source.problems} == {"cls-1"}
                    said = str(source.problems[0][2])
                    assert said.startswith(
                        "secret clusters-cls-1/admin-kubeconfig: the cluster's kubeconfig leads"
                    )
                assert b"".join(received) == b""

    asyncio.run(scenario())


def test_a_kubeconfig_that_is_a_bomb_holds_up_nobody(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with one_cluster(tmp_path) as (fleet, _management, hosted):
            fleet.add("cls-2", hosted)
            fleet.kubeconfig_text("clusters-cls-1", MERGES)
            async with running(fleet.write(), **fleet.options) as source:
                await source.until(lambda it: bool(it.problems) and "cls-2" in it.clusters)
                assert {problem[0] for problem in source.problems} == {"cls-1"}
                assert "the kubeconfig has more than 10000 values" in str(source.problems[0][2])

    asyncio.run(scenario())


def test_clusters_come_and_go_with_their_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with watched_cluster(tmp_path) as (fleet, management, hosted, source):
            await until(lambda: management.watches == 1)
            fleet.add("cls-2", hosted)
            fleet.write()
            await source.until(lambda it: "cls-2" in it.clusters)
            await until(lambda: management.watches == 2)
            # Clusters that were already listed get no further event.
            assert source.clusters.count("cls-1") <= 2
            del fleet.entries[0]
            fleet.write()
            await until(lambda: management.watches == 1)
            await until(lambda: hosted.watches == 1)
            # An unreadable list changes nothing; an unusable entry is skipped alone.
            fleet.path.write_text("clusters: [" + CANARY)
            fleet.entries.append({"cluster_id": "cls-3"})
            fleet.add("cls-4", hosted)
            while "neither JSON nor YAML" not in caplog.text:
                await asyncio.sleep(0.05)
            assert management.watches == 1
            fleet.write()
            await source.until(lambda it: "cls-4" in it.clusters)
            assert "cluster cls-3: control_plane_namespace is missing" in caplog.text
            await until(lambda: management.watches == 2)
            assert source.problems == []

    asyncio.run(scenario())
    assert CANARY not in caplog.text


def test_clusters_are_named_again_after_the_time_to_resync(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with one_cluster(tmp_path) as (fleet, _management, hosted):
            fleet.add("cls-2", hosted)
            async with running(fleet.write(), resync=1, **fleet.options) as source:
                await source.until(lambda it: it.clusters.count("cls-1") > 4 < it.clusters.count("cls-2"))
                assert source.changes == []

    asyncio.run(scenario())
