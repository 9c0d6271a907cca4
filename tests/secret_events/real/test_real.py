# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source against the real API server, through a relay that can cut its connections."""

from __future__ import annotations

import asyncio
import itertools
import json
import ssl
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching import watch
from tests.lab.session import KubernetesEnv, kubernetes
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.support.docker_configs import docker_config, encoded
from tests.support.kubernetes.world import Api
from tests.support.relay import Relay
from tests.support.secret_events.source import running

pytestmark = pytest.mark.real("go")

NAME = "additional-pull-secret"
CANARY = "canary-example-password"


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[KubernetesEnv, Api]]:
    with ExitStack() as stack:
        env = stack.enter_context(kubernetes("real"))
        api = stack.enter_context(Api(env))
        yield env, api


def secret(text: str) -> dict[str, Any]:
    return {
        "metadata": {
            "name": NAME,
            # As `kubectl apply` writes it.
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"data": CANARY})},
        },
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": encoded(json.dumps(docker_config(quay_io=text + CANARY)))},
    }


def entries(kubeconfig: Path, namespace: str, context: str = "mgmt-1") -> list[dict[str, Any]]:
    watches = [{"namespace": namespace, "name": NAME}]
    return [{"cluster_id": "cls-1", "kubeconfig": str(kubeconfig), "context": context, "watches": watches}]


def test_changes_are_seen_and_survive_cut_connections(
    server: tuple[KubernetesEnv, Api],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env, api = server
    received = spy_on_what_arrives(monkeypatch)
    values: list[bytes] = []

    async def scenario() -> None:
        namespace = await asyncio.to_thread(api.namespace)
        authority = Path(str(env.ca_file)).read_bytes()
        async with Relay(urlsplit(env.url).port or 443) as relay:
            kubeconfig = write_kubeconfig(
                tmp_path / "kubeconfig",
                [Cluster("mgmt-1", relay.url.replace("http:", "https:"), env.token, authority)],
            )
            async with running(entries(kubeconfig, namespace)) as source:
                await source.until(lambda it: it.clusters == ["cls-1"])
                begun = time.monotonic()
                made = await asyncio.to_thread(api.create, namespace, "secrets", secret("one"))
                await source.until(lambda it: len(it.changes) == 1)
                seconds = [time.monotonic() - begun]
                versions = [made["metadata"]["resourceVersion"]]
                for number in range(5):
                    relay.cut()
                    while relay.connections:
                        await asyncio.sleep(0.01)
                    patch = {"data": secret(str(number))["data"]}
                    begun = time.monotonic()
                    made = await asyncio.to_thread(api.merge, namespace, "secrets", NAME, patch)
                    versions.append(made["metadata"]["resourceVersion"])
                    values.append(made["data"][".dockerconfigjson"].encode())
                    await source.until(lambda it: len(it.changes) == len(versions))
                    seconds.append(time.monotonic() - begun)
                begun = time.monotonic()
                await asyncio.to_thread(api.delete, namespace, "secrets", NAME)
                await source.until(lambda it: len(it.changes) == len(versions) + 1)
                seconds.append(time.monotonic() - begun)
                kinds = [kind for _cluster, kind, _version in source.changes]
                assert kinds == ["ADDED", *["MODIFIED"] * 5, "DELETED"]
                assert [version for _cluster, _kind, version in source.changes][:-1] == versions
                assert source.problems == []
                assert CANARY not in json.dumps(source.events)
        with capsys.disabled():
            watched, cut = (seconds[0], seconds[-1]), seconds[1:-1]
            print(f"\nchange to event: {max(watched):.2f} s; over a cut connection: {max(cut):.2f} s")

    asyncio.run(scenario())
    # Neither the values nor the annotation that repeats them are sent.
    assert b"resourceVersion" in received
    assert CANARY.encode() not in received
    assert all(value not in received for value in values)


@pytest.mark.nightly
def test_bookmarks_and_ends_of_watches_make_no_events(
    server: tuple[KubernetesEnv, Api], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env, api = server
    from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching import api as module

    monkeypatch.setattr(module, "_WATCH", (6, 6))
    received = spy_on_what_arrives(monkeypatch)

    async def scenario() -> None:
        namespace = await asyncio.to_thread(api.namespace)
        await asyncio.to_thread(api.create, namespace, "secrets", secret("one"))
        async with running(entries(env.kubeconfig(tmp_path / "kubeconfig"), namespace)) as source:
            async with asyncio.timeout(60):
                for number in itertools.count():
                    if received.count(b'"BOOKMARK"') >= 2:
                        break
                    # A server without changes sends no bookmarks.
                    other = {"metadata": {"name": f"other-{number}"}}
                    await asyncio.to_thread(api.create, namespace, "secrets", other)
                    # The server sends a bookmark about once a minute and before a watch ends.
                    await asyncio.sleep(0.5)
            assert [kind for _cluster, kind, _version in source.changes] == ["ADDED"]
            assert source.problems == []

    asyncio.run(scenario())


def test_a_role_for_the_one_secret_is_enough(
    server: tuple[KubernetesEnv, Api], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env, api = server
    monkeypatch.setattr(watch.Pauses.__init__, "__defaults__", (0.2, 0.2, 0.2))

    async def scenario() -> None:
        namespace = await asyncio.to_thread(api.namespace)
        kubeconfig = env.kubeconfig(tmp_path / "kubeconfig", token=env.viewer_token)
        async with running(entries(kubeconfig, namespace)) as source:
            await source.until(lambda it: bool(it.problems))
            assert "HTTP 403" in str(source.problems[0][2])
            rules = [
                {
                    "apiGroups": [""],
                    "resources": ["secrets"],
                    "resourceNames": [NAME],
                    "verbs": ["get", "list", "watch"],
                }
            ]
            rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
            named = {"metadata": {"name": "watcher"}}
            user = {"kind": "User", "name": "viewer", "apiGroup": "rbac.authorization.k8s.io"}
            role = {"kind": "Role", "name": "watcher", "apiGroup": "rbac.authorization.k8s.io"}
            await asyncio.to_thread(api.post, f"{rbac}/roles", {**named, "rules": rules})
            await asyncio.to_thread(
                api.post, f"{rbac}/rolebindings", {**named, "roleRef": role, "subjects": [user]}
            )
            await source.until(lambda it: it.clusters == ["cls-1"])
            await asyncio.to_thread(api.create, namespace, "secrets", secret("one"))
            await source.until(lambda it: [change[1] for change in it.changes] == ["ADDED"])

    asyncio.run(scenario())


def spy_on_what_arrives(monkeypatch: pytest.MonkeyPatch) -> bytearray:
    """Collect all bytes that TLS delivers to the process."""
    received = bytearray()
    read = ssl.SSLObject.read

    def spied(self: ssl.SSLObject, *arguments: Any) -> Any:
        data = read(self, *arguments)
        received.extend(bytes(arguments[1][:data]) if len(arguments) > 1 else data)
        return data

    monkeypatch.setattr(ssl.SSLObject, "read", spied)
    return received
