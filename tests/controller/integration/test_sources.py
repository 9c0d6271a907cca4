# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The container that starts runs when sources change."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching import custom_resources
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.custom_resources import (
    ATTEMPT,
    CHANGED,
    Sources,
    sources_of,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.client import (
    KubernetesClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import (
    Deadline,
    RetryPolicy,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.kubernetes.resources import RESOURCES


def secret(name: Any) -> dict[str, Any]:
    return {"kubernetes": {"namespace": "home", "name": name}}


def test_names_that_cannot_exist_are_no_sources() -> None:
    """One of a fleet must not keep the others from being watched."""
    layers = [{"name": "a", "source": secret("b")}, {"name": "b", "source": {"gcp": {"project": "p"}}}]
    clusters = [{"source": secret("a")}, {"source": secret("not/a/name")}, {"layers": layers}]
    assert list(sources_of({"clusters": clusters})) == [("home", "a"), ("home", "b")]


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KubernetesLab]:
    monkeypatch.setattr(custom_resources, "_LIST_SECONDS", 0.2)
    with KubernetesLab() as started:
        started.store.create_namespace("home")
        metadata = {"name": "source", "namespace": "home"}
        started.store.create(RESOURCES["secrets"], {"metadata": metadata, "type": "Opaque"})
        kubeconfig = tmp_path / "kubeconfig"
        write_kubeconfig(kubeconfig, [Cluster("mgmt-1", started.url, started.admin_token)])
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        yield started


def annotations_of(lab: KubernetesLab) -> dict[str, str]:
    item = lab.store.find("pullsecrets", "home", "one") or {}
    return dict(item["metadata"].get("annotations") or {})


async def until(lab: KubernetesLab, annotation: str, before: str | None = None) -> str:
    while annotations_of(lab).get(annotation, before) == before:
        await asyncio.sleep(0.05)
    return annotations_of(lab)[annotation]


def test_what_cannot_be_written_is_written_later(lab: KubernetesLab) -> None:
    metadata = {"name": "one", "namespace": "home"}
    status = {"nextAttempt": "2020-01-01T00:00:00Z"}
    body = {"metadata": metadata, "spec": {"source": secret("source")}, "status": status}
    lab.store.create(RESOURCES["pullsecrets"], body)
    lab.faults.add(verb="patch", path="*/pullsecrets/one", status=403, times=2)
    settings = RunSettings.from_options(
        {"timeout": 5.0, "api_timeout": 5.0, "concurrency": 1}, threading.Event(), {}, RetryPolicy()
    )
    client = KubernetesClients(settings).get(Deadline(5.0))

    async def play() -> None:
        running = asyncio.create_task(Sources(client).run())
        try:
            first = await until(lab, CHANGED)
            assert await until(lab, ATTEMPT) == status["nextAttempt"]
            source = lab.store.find("secrets", "home", "source") or {}
            lab.store.replace(RESOURCES["secrets"], {**source, "data": {"a": ""}})
            assert await until(lab, CHANGED, first) != first
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    asyncio.run(asyncio.wait_for(play(), 60))
    patches = [call for call in lab.calls.matching() if call.verb == "patch"]
    assert len(patches) == 5
