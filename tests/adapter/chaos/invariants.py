# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What must be true when the random faults have ended."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.run_directories import RunDirectories
from tests.adapter.chaos.story import Story
from tests.adapter.chaos.world import ChaosWorld
from tests.adapter.world import NAMESPACE
from tests.support.secret_manager import PROJECT

_KEPT_JOBS = 2


def wrong(world: ChaosWorld, story: Story) -> list[str]:
    """The violations, in words; empty if everything is right."""
    found = list(_left(world, story))
    for cluster_id, wanted in story.clusters.items():
        if wanted.deleted:
            found += _of_a_gone(world, cluster_id)
        else:
            found += _of_a_living(world, cluster_id, wanted.config, ready=wanted.ready)
    return found


def unheard(world: ChaosWorld, story: Story) -> list[str]:
    """The lost events: no run handled their cluster after they were published.

    Only for tests without faults of the API: a cluster that could not be read waits for the sentinel's next event.
    """
    last: dict[str, float] = {}
    for call in world.hyperfleet.calls.matching():
        cluster_id = call.path.split("/clusters/")[-1].split("/")[0]
        if call.method in ("PUT", "POST") or call.status == 404:
            last[cluster_id] = max(last.get(cluster_id, 0.0), call.at)
    return [
        f"{cluster_id}: no run handled it after its event"
        for cluster_id, when in story.published.items()
        if last.get(cluster_id, 0.0) < when
    ]


def left_directories(base: Path) -> list[str]:
    """The directories of runs that the next process of the source does not remove."""
    directories = RunDirectories(base)
    directories.open()
    directories.close()
    return [f"directory {path} is left" for path in base.glob("*")]


def _left(world: ChaosWorld, story: Story) -> Iterator[str]:
    """Objects in the adapter's namespace without a use, and reports that the API refused."""
    for name in world.data_secrets():
        yield f"secret {name} is left"
    living = {one for one, wanted in story.clusters.items() if wanted.ready and not wanted.deleted}
    jobs: dict[str, list[str]] = {}
    for job in world.admin.items(NAMESPACE, "jobs"):
        name = job["metadata"]["name"]
        jobs.setdefault(job["metadata"]["labels"]["cluster-id"], []).append(name)
        if not any(one["type"] in ("Complete", "Failed") for one in job["status"].get("conditions") or ()):
            pods = [_shown(pod) for pod in world.playing.pods(name)]
            yield f"job {name} goes on{' and is deleted' * ('deletionTimestamp' in job['metadata'])}: {pods}"
    for cluster_id, names in jobs.items():
        if cluster_id not in living:
            yield f"{cluster_id} has jobs: {names}"
        if len(names) > _KEPT_JOBS:
            yield f"{cluster_id} has {len(names)} jobs"
    there = {name for names in jobs.values() for name in names}
    for pod in world.playing.pods():
        if pod["metadata"]["labels"]["job-name"] not in there:
            yield f"pod {pod['metadata']['name']} is left"
    for call in world.hyperfleet.calls.matching():
        if call.status in (400, 405, 422):
            yield f"{call.method} {call.path} was refused with {call.status}"


def _shown(pod: dict[str, Any]) -> str:
    deleted = " deleted" if "deletionTimestamp" in pod["metadata"] else ""
    return f"{pod['status'].get('phase')}{deleted} {pod['metadata'].get('finalizers') or ''}"


def _of_a_gone(world: ChaosWorld, cluster_id: str) -> Iterator[str]:
    if not world.is_gone(cluster_id):
        yield f"{cluster_id} is still there: {world.word(cluster_id)}"
    if world.manager.store.find(PROJECT, f"hyperfleet-{cluster_id}-pull-secret") is not None:
        yield f"{cluster_id} has a secret in Secret Manager"
    if world.placed(cluster_id) is not None:
        yield f"{cluster_id} has a secret in the management cluster"


def _of_a_living(world: ChaosWorld, cluster_id: str, config: object, *, ready: bool) -> Iterator[str]:
    said, generation = world.word(cluster_id), world.read(cluster_id)["generation"]
    stored = world.payloads(cluster_id)
    expected = f"{generation} TTTF PullSecretStored" if ready else f"{generation} FFTF PreconditionsNotMet"
    if said != expected:
        yield f"{cluster_id} is reported as {said!r}, and has to be {expected!r}"
    if not ready:
        if stored or world.placed(cluster_id) is not None:
            yield f"{cluster_id} has secrets, and is not ready"
        return
    if not stored or json.loads(stored[-1]) != config:
        yield f"{cluster_id}: Secret Manager's newest version is not what the cluster has"
    if len(set(stored)) != len(stored):
        yield f"{cluster_id} has {len(stored)} versions of {len(set(stored))} contents"
    if world.placed(cluster_id) != config:
        yield f"{cluster_id}: the management cluster's secret is not what the cluster has"
    if said == expected:
        version = world.status(cluster_id)["data"].get("secret_version")
        if version != str(len(stored)):
            yield f"{cluster_id} is reported with version {version} of {len(stored)}"
