# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter on a real API server, whose controllers create pods, end Jobs and collect garbage."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.adapter.world import World
from tests.lab.session import REAL, kubernetes
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.adapter_jobs.rights import pod
from tests.support.secret_manager import PROJECT

pytestmark = pytest.mark.real("go")


@pytest.fixture
def real(hyperfleet: HyperFleetLab, secret_manager: SecretManagerLab, tmp_path: Path) -> Iterator[World]:
    """A world with its own namespaces on the shared server."""
    with ExitStack() as stack:
        server = stack.enter_context(kubernetes(REAL))
        world = World(hyperfleet, server, secret_manager, tmp_path, prefix=f"t{secrets.token_hex(3)}-")
        try:
            account = {"metadata": {"name": "pullsecret-adapter-job"}}
            path = f"/api/v1/namespaces/{world.home}/serviceaccounts"
            assert world.request("POST", path, account)[0] == 201
            yield world
        finally:
            for namespace in world.namespaces:
                world.request("DELETE", f"/api/v1/namespaces/{namespace}")


def until(world: World, cluster: str, state: str) -> None:
    """Run as the event source would, until a run reports this state."""
    deadline = time.monotonic() + 180
    while (found := world.one(cluster)).entry()["state"] != state:
        assert time.monotonic() < deadline, found.detail()
        time.sleep(0.2)


def test_from_the_first_event_to_the_end(real: World) -> None:
    cluster = real.cluster()
    checked = real.one(cluster, check_mode=True)
    job = f"pullsecret-{cluster}-gen1"
    assert f"created job {job}" in checked.actions, checked.detail()
    assert real.jobs() == []
    first = real.one(cluster)
    assert first.entry()["state"] == "created", first.detail()
    real.playing.run(job)
    until(real, cluster, "running")
    real.do_the_job(cluster, job, "7")
    until(real, cluster, "succeeded")
    assert real.said(cluster).startswith("TTTF ")
    assert real.status(cluster)["data"]["secret_version"] == "7"
    assert real.data_secrets() == [], "the Secret with the data must be deleted"
    real.delete(cluster)
    until(real, cluster, "deleted")
    assert real.is_gone(cluster)
    assert real.jobs() == real.data_secrets() == []
    assert real.versions(cluster) == 0
    assert real.manager.store.find(PROJECT, f"hyperfleet-{cluster}-pull-secret") is None


@pytest.mark.nightly
def test_deleted_while_its_job_waits_for_a_node(real: World) -> None:
    cluster = real.cluster()
    job = f"pullsecret-{cluster}-gen1"
    real.one(cluster)
    real.playing.begin(job)
    real.delete(cluster)
    until(real, cluster, "deleted")
    assert real.jobs() == []
    assert real.playing.pods(job) == []


@pytest.mark.nightly
def test_a_sweep_takes_what_a_lost_cluster_left(real: World) -> None:
    """A pod still runs: the adapter first suspends the Job, and the Job controller ends the pod."""
    lost, done, kept = real.cluster(), real.cluster(), real.cluster(ready=False)
    real.handle(lost, done)
    real.playing.begin(f"pullsecret-{lost}-gen1")
    real.do_the_job(done, f"pullsecret-{done}-gen1")
    until(real, done, "succeeded")
    spec = real.read(kept)["spec"]
    real.hyperfleet.store.reset()
    real.hyperfleet.store.seed([{"id": kept, "spec": spec}])
    deadline = time.monotonic() + 180
    while real.jobs() or real.data_secrets():
        assert time.monotonic() < deadline
        real.handle(all=True)
    assert real.playing.pods() == []
    assert (real.versions(done), real.placed(done)) == (0, None)


@pytest.mark.nightly
def test_the_api_server_accepts_the_manifests_of_the_page(real: World) -> None:
    """The API server checks the page's pod: an unknown or duplicate field is an error."""
    places = {
        "ConfigMap": "/api/v1/namespaces/{}/configmaps",
        "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
    }
    for item in pod():
        item["metadata"]["namespace"] = real.home
        place = places[item["kind"]].format(real.home)
        status, answer = real.request("POST", f"{place}?dryRun=All&fieldValidation=Strict", item)
        assert status == 201, answer
