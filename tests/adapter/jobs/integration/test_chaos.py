# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random interruptions, lost answers and manual deletions: the final state must match the last document."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from tests.lab.session import STAND_IN
from tests.support.adapter_jobs.world import FAILURE, SUCCESS, World, said
from tests.support.nightly import some

played = pytest.mark.parametrize("server", [pytest.param(STAND_IN, id="stand-in")], indirect=True)
_FAULTS = (
    ("create", "*/secrets"),
    ("create", "*/jobs"),
    ("delete", "*/jobs/*"),
    ("delete", "*/secrets/*"),
    ("patch", "*/jobs/*"),
    ("patch", "*/secrets/*"),
    ("list", "*/jobs"),
    ("list", "*/pods"),
    ("get", "*"),
)


class Chaos:
    """A cluster whose document changes while everything around it fails."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.random = random.Random(seed)
        self.generation = 1
        self.content = 0

    @property
    def document(self) -> str:
        return json.dumps(
            {"auths": {"quay.io": {"auth": base64.b64encode(b"u:p%d" % self.content).decode()}}}
        )

    def step(self) -> None:
        self.random.choice(
            (self.look, self.look, self.look, self.fault, self.order, self.play, self.meddle)
        )()
        going_on = [job for job in self.jobs() if not ended(job) and not deleting(job)]
        assert len(going_on) <= 1, "two Jobs are active"

    def look(self) -> None:
        generation = self.random.choice((self.generation, self.generation, max(1, self.generation - 1)))
        try:
            self.world.apply(generation, self.document, by=self.world.adapter(backoff_limit=0))
        except PullSecretError:
            pass

    def fault(self) -> None:
        verb, path = self.random.choice(_FAULTS)
        what: dict[str, Any] = self.random.choice(({"status": 500}, {"status": 409}, {"drop": True}))
        phase = self.random.choice(("before", "after"))
        self.world.api.faults.add(verb=verb, path=path, phase=phase, times=self.random.randint(1, 4), **what)

    def order(self) -> None:
        self.generation += 1
        self.content += self.random.choice((0, 1))

    def play(self) -> None:
        playing = self.world.playing
        self.world.ahead += self.random.choice((0, 40))
        playing.end_deleted()
        for job in self.jobs():
            name = job["metadata"]["name"]
            if ended(job) or deleting(job):
                continue
            how = self.random.randrange(4)
            if how == 0:
                playing.run(name, node="node-1")
            elif how == 1:
                playing.stick(name, "CreateContainerConfigError")
            else:
                playing.finish(name, said(SUCCESS if how == 2 else FAILURE), exit_code=how - 2)

    def meddle(self) -> None:
        kind = self.random.choice(("jobs", "secrets"))
        for name in list(self.world.secrets()) if kind == "secrets" else self.world.job_names():
            base = "/apis/batch/v1" if kind == "jobs" else "/api/v1"
            policy = {"propagationPolicy": self.random.choice(("Background", "Foreground"))}
            at = f"{base}/namespaces/{self.world.namespace}/{kind}/{name}"
            self.world.api.request("DELETE", at, policy)

    def jobs(self) -> list[Any]:
        return self.world.api.items(self.world.namespace, "jobs")


def ended(job: dict[str, Any]) -> bool:
    return any(found["type"] in ("Complete", "Failed") for found in job["status"].get("conditions") or ())


def deleting(job: dict[str, Any]) -> bool:
    return "deletionTimestamp" in job["metadata"]


@played
@pytest.mark.parametrize("seed", some(range(12), 0, 1))
def test_at_the_end_all_is_as_it_was_ordered(world: World, seed: int) -> None:
    chaos = Chaos(world, seed)
    for dummy in range(40):
        chaos.step()
    world.api.faults.clear()
    deadline = Deadline(60)
    while (seen := world.apply(chaos.generation, chaos.document)).state != "succeeded":
        assert deadline.remaining(), seen
        world.ahead += 2000
        world.playing.end_deleted()
        for job in chaos.jobs():
            if not ended(job) and not deleting(job):
                world.playing.finish(job["metadata"]["name"], said(SUCCESS))
    # The Job was made for the current document: an adapter without memory must agree.
    again = world.apply(chaos.generation, chaos.document, by=world.adapter())
    assert (again.state, again.job, again.actions) == ("succeeded", seen.job, ())
    assert world.secrets() == {}
    assert len(world.job_names()) <= 2
    while not world.remove().gone:
        world.playing.end_deleted()
        assert deadline.remaining()
    assert (world.job_names(), world.secrets(), world.playing.pods()) == ([], {}, [])
