# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A tenant changes a secret, and nobody starts anything: the rulebook, the playbook, the real API server."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.eda.rulebook import rulebook
from tests.integration.k8s.proxy import FaultProxy
from tests.integration.k8s.world import KEY, TYPE, Api, auth, docker_config, encoded, held
from tests.lab.session import kubernetes

pytestmark = pytest.mark.real("go", "java")

ADDITIONAL, GLOBAL = "additional-pull-secret", "global-pull-secret"
CLUSTERS = 3


def secret(name: str, **registries: str) -> dict[str, Any]:
    data = {KEY: encoded(json.dumps(docker_config(**registries)))}
    return {"metadata": {"name": name}, "type": TYPE, "data": data}


class Tenants:
    """Hosted clusters, each a namespace of the one API server, and one for its control plane."""

    def __init__(self, api: Api, kubeconfig: Path) -> None:
        self.api = api
        self.clusters: list[dict[str, Any]] = []
        for number in range(CLUSTERS):
            plane, hosted = api.namespace(), api.namespace()
            api.create(plane, "secrets", secret("pull-secret", quay_io="first"))
            original = {"namespace": plane, "name": "pull-secret"}
            place = {"hosted_kubeconfig": str(kubeconfig), "hosted_namespace": hosted}
            self.clusters.append({"cluster_id": f"cls-{number}", "original": original, **place})

    def merged(self, number: int) -> dict[str, Any]:
        """registry -> auth of the global secret; nothing where there is none."""
        found = self.api.secret(self.clusters[number]["hosted_namespace"], GLOBAL)
        return {name: entry["auth"] for name, entry in held(found)["auths"].items()} if found else {}


def test_what_a_tenant_changes_is_merged_without_anybody_starting_anything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds: dict[str, float] = {}

    async def scenario(tenants: Tenants, kubeconfig: Path) -> None:
        api, hosted = tenants.api, tenants.clusters[1]["hosted_namespace"]
        common = {"syncer_image": "registry.example.com/syncer:1", "management_kubeconfig": str(kubeconfig)}

        async def until(what: str, change: Callable[[], Any], expected: dict[str, str]) -> None:
            begun = time.monotonic()
            await asyncio.to_thread(change)
            async with asyncio.timeout(120):
                while await asyncio.to_thread(tenants.merged, 1) != expected:
                    assert running.process.returncode is None, running.text
                    await asyncio.sleep(0.05)
            seconds[what] = time.monotonic() - begun

        async with rulebook(tmp_path, tenants.clusters, **common) as running:
            mine = secret(ADDITIONAL, registry_example_com="mine")
            expected = {"quay.io": auth("first"), "registry.example.com": auth("mine")}
            await until("started, and created", lambda: api.create(hosted, "secrets", mine), expected)

            rotated = {"data": secret(ADDITIONAL, registry_example_com="rotated")["data"]}
            expected["registry.example.com"] = auth("rotated")
            await until("additional", lambda: api.merge(hosted, "secrets", ADDITIONAL, rotated), expected)

            plane = tenants.clusters[1]["original"]["namespace"]
            rotated_original = {"data": secret("pull-secret", quay_io="second")["data"]}
            expected["quay.io"] = auth("second")
            await until(
                "original", lambda: api.merge(plane, "secrets", "pull-secret", rotated_original), expected
            )
            # The others' tenants have changed nothing.
            assert [tenants.merged(number) for number in (0, 2)] == [{}, {}]
            for word in ("first", "mine", "rotated", "second"):
                assert auth(word) not in running.text
                assert f"example-password-{word}" not in running.text

    with kubernetes("real") as env, FaultProxy(env.url, env.ca_file) as proxy:
        kubeconfig = env.kubeconfig(tmp_path / "kubeconfig")
        api = Api(proxy, env.token, env.viewer_token, real=True)
        asyncio.run(scenario(Tenants(api, kubeconfig), kubeconfig))
    with capsys.disabled():
        said = ", ".join(f"{what} {value:.1f} s" for what, value in seconds.items())
        print(f"\nfrom a change to the merged secret: {said}")
