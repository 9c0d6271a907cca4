# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A tenant changes a secret, and the rulebook runs the playbook against a real API server by itself."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.session import kubernetes
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.support.docker_configs import KEY, TYPE, auth, docker_config, encoded, held
from tests.support.kubernetes.world import Api
from tests.support.relay import Listener
from tests.support.rulebook import Rulebook, rulebook

pytestmark = pytest.mark.real("go", "java")

ADDITIONAL, GLOBAL = "additional-pull-secret", "global-pull-secret"
CLUSTERS = 3
# Seconds from a change to the merged secret: 2 to 3 on an idle machine, more on a busy one.
SOON = 30.0
# The same behind a run for a cluster that does not answer: two requests of 10 s and two starts of a playbook.
BEHIND_A_SILENT_ONE = 60.0


def secret(name: str, **registries: str) -> dict[str, Any]:
    data = {KEY: encoded(json.dumps(docker_config(**registries)))}
    return {"metadata": {"name": name}, "type": TYPE, "data": data}


class Tenants:
    """Hosted clusters: each is a namespace of the one API server, and one more namespace is the control
    plane.
    """

    def __init__(self, api: Api, kubeconfig: Path) -> None:
        self.api = api
        self.clusters: list[dict[str, Any]] = []
        for number in range(CLUSTERS):
            plane, hosted = api.namespace(), api.namespace()
            api.create(plane, "secrets", secret("pull-secret", quay_io="first"))
            original = {"namespace": plane, "name": "pull-secret"}
            place = {"hosted_kubeconfig": str(kubeconfig), "hosted_namespace": hosted}
            self.clusters.append({"cluster_id": f"cls-{number}", "original": original, **place})

    def silence(self, number: int, kubeconfig: Path) -> None:
        """Let the hosted cluster's kubeconfig lead to another API server from now on."""
        self.clusters[number]["hosted_kubeconfig"] = str(kubeconfig)

    async def until(self, number: int, expected: dict[str, str], running: Rulebook, seconds: float) -> float:
        """Wait until this is merged; return how many seconds it took."""
        begun = time.monotonic()
        async with asyncio.timeout(seconds):
            while await asyncio.to_thread(self.merged, number) != expected:
                assert running.process.poll() is None, running.text
                await asyncio.sleep(0.05)
        return time.monotonic() - begun

    def merged(self, number: int) -> dict[str, Any]:
        """registry -> auth of the global secret; empty if there is no secret."""
        found = self.api.secret(self.clusters[number]["hosted_namespace"], GLOBAL)
        return {name: entry["auth"] for name, entry in held(found)["auths"].items()} if found else {}


def common(kubeconfig: Path) -> dict[str, Any]:
    return {"syncer_image": "registry.example.com/syncer:1", "management_kubeconfig": str(kubeconfig)}


@contextlib.contextmanager
def tenants(directory: Path) -> Iterator[tuple[Tenants, Path]]:
    with contextlib.ExitStack() as stack:
        env = stack.enter_context(kubernetes("real"))
        api = stack.enter_context(Api(env))
        kubeconfig = env.kubeconfig(directory / "kubeconfig")
        yield Tenants(api, kubeconfig), kubeconfig


@pytest.mark.nightly
def test_what_a_tenant_changes_is_merged_without_anybody_starting_anything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds: dict[str, float] = {}

    async def scenario(world: Tenants, kubeconfig: Path) -> None:
        api, hosted = world.api, world.clusters[1]["hosted_namespace"]

        with rulebook(tmp_path, world.clusters, **common(kubeconfig)) as running:
            mine = secret(ADDITIONAL, registry_example_com="mine")
            expected = {"quay.io": auth("first"), "registry.example.com": auth("mine")}
            await asyncio.to_thread(api.create, hosted, "secrets", mine)
            seconds["started, and created"] = await world.until(1, expected, running, 120)

            rotated = {"data": secret(ADDITIONAL, registry_example_com="rotated")["data"]}
            expected["registry.example.com"] = auth("rotated")
            await asyncio.to_thread(api.merge, hosted, "secrets", ADDITIONAL, rotated)
            seconds["additional"] = await world.until(1, expected, running, SOON)

            plane = world.clusters[1]["original"]["namespace"]
            rotated = {"data": secret("pull-secret", quay_io="second")["data"]}
            expected["quay.io"] = auth("second")
            await asyncio.to_thread(api.merge, plane, "secrets", "pull-secret", rotated)
            seconds["original"] = await world.until(1, expected, running, SOON)
            # The other tenants have changed nothing.
            assert [world.merged(number) for number in (0, 2)] == [{}, {}]
            for word in ("first", "mine", "rotated", "second"):
                assert auth(word) not in running.text
                assert f"example-password-{word}" not in running.text

    with tenants(tmp_path) as (world, kubeconfig):
        asyncio.run(scenario(world, kubeconfig))
    report(capsys, "from a change to the merged secret", seconds)


@pytest.mark.nightly
def test_an_api_server_that_never_answers_holds_up_nobody_for_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds: dict[str, float] = {}

    async def scenario(world: Tenants, kubeconfig: Path) -> None:
        api, hosted = world.api, world.clusters[1]["hosted_namespace"]
        plane = world.clusters[0]["original"]["namespace"]
        async with Silent() as silent:
            path = write_kubeconfig(tmp_path / "silent", [Cluster("mgmt-1", silent.url, "example-token")])
            world.silence(0, path)
            with rulebook(tmp_path, world.clusters, **common(kubeconfig)) as running:
                await asyncio.to_thread(
                    api.create, hosted, "secrets", secret(ADDITIONAL, a_example_com="one")
                )
                expected = {"quay.io": auth("first"), "a.example.com": auth("one")}
                seconds["created, all are looked at"] = await world.until(1, expected, running, 120)
                for word in ("two", "three"):
                    # A change for the silent cluster, and a request of its run; the event source only lists.
                    before = silent.asked
                    patch = {"data": secret("pull-secret", quay_io=word)["data"]}
                    await asyncio.to_thread(api.merge, plane, "secrets", "pull-secret", patch)
                    async with asyncio.timeout(120):
                        while f"/secrets/{ADDITIONAL} " not in silent.text[before:]:
                            await asyncio.sleep(0.05)
                    patch = {"data": secret(ADDITIONAL, a_example_com=word)["data"]}
                    await asyncio.to_thread(api.merge, hosted, "secrets", ADDITIONAL, patch)
                    expected["a.example.com"] = auth(word)
                    seconds[f"changed, {word}"] = await world.until(1, expected, running, BEHIND_A_SILENT_ONE)

    with tenants(tmp_path) as (world, kubeconfig):
        asyncio.run(scenario(world, kubeconfig))
    report(capsys, "behind a cluster that does not answer", seconds)


class Silent(Listener):
    """An API server that accepts every request and answers none; ``text`` is what it received."""

    def __init__(self) -> None:
        self.text = ""

    @property
    def asked(self) -> int:
        return len(self.text)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            self.text += data.decode("latin-1")
        writer.close()


def report(capsys: pytest.CaptureFixture[str], what: str, seconds: dict[str, float]) -> None:
    with capsys.disabled():
        print(f"\n{what}: " + ", ".join(f"{step} {value:.2f} s" for step, value in seconds.items()))
