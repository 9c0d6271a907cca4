# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The times of the story's steps, from the audit log, the stand-ins' calls, the pod's log and the statuses."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from tests.adapter.story.world import StoryWorld
from tests.support.adapter_jobs.place import CLUSTER, PLACE, SYSTEM

ADAPTER = f"system:serviceaccount:{SYSTEM}:pullsecret-adapter"
JOB = f"{ADAPTER}-job"


@dataclass(frozen=True)
class Audited:
    """A request to the API server that was answered."""

    at: float
    user: str
    what: str  # "create secrets NAMESPACE/NAME"
    code: int


def seconds(text: str) -> float:
    """RFC 3339 as seconds since 1970."""
    return datetime.fromisoformat(text).timestamp()


def audited(world: StoryWorld, since: float) -> list[Audited]:
    """The requests since then, in the order in which the server received them."""
    found = []
    with open(world.lab.hosted.audit_log) as lines:
        for line in lines:
            entry = json.loads(line)
            at = seconds(entry["requestReceivedTimestamp"])
            if at >= since and entry["stage"] == "ResponseComplete" and "objectRef" in entry:
                what = f"{entry['verb']} {_object(entry['objectRef'])}"
                code = int(entry["responseStatus"]["code"])
                found.append(Audited(at, entry["user"]["username"], what, code))
    return sorted(found, key=lambda one: one.at)


def _object(reference: dict[str, str]) -> str:
    kind = "/".join(filter(None, (reference["resource"], reference.get("subresource"))))
    where = "/".join(filter(None, (reference.get("namespace"), reference.get("name"))))
    return f"{kind} {where}"


@dataclass(frozen=True)
class Step:
    """One line of the adapter contract's timeline.

    :param seed: its seconds there; :param at: when it happened here, seconds since 1970.
    :param precision: how much later it may have happened, if the time is in whole seconds.
    """

    seed: int
    text: str
    at: float
    precision: float = 0.0


def timeline(world: StoryWorld, published: float, reported: float) -> list[Step]:
    """The happy path of generation 1.

    :param reported: when Available=True was in the API.
    """
    job = f"pullsecret-{CLUSTER}-gen1"
    requests = [one for one in audited(world, published) if one.code < 300]
    log = {(line["phase"], line["operation"]): seconds(line["timestamp"]) for line in world.job_log(job)}

    def asked(method: str, path: str) -> list[float]:
        found = world.hyperfleet.calls.matching(method, f"/api/hyperfleet/v1/clusters{path}")
        return [call.at for call in found if published <= call.at <= reported]

    def did(user: str, what: str, which: Callable[[list[float]], float] = min) -> float:
        times = [one.at for one in requests if one.user == user and one.what.startswith(what)]
        assert times, f"{user} did not {what}"
        return which(times)

    def stored(method: str) -> float:
        return min(float(call.at) for call in world.manager.calls.matching(method) if call.at >= published)

    begun = did(ADAPTER, f"create secrets {SYSTEM}/cluster-{CLUSTER}-pullsecret-data")
    ended = did(JOB, f"create secrets {PLACE}")
    complete = did(
        "system:serviceaccount:kube-system:job-controller", f"update jobs/status {SYSTEM}/{job}", max
    )
    return [
        Step(1, "the sentinel publishes the event", published),
        Step(2, "the adapter fetches the cluster", min(asked("GET", "*"))),
        Step(3, "… and evaluates preconditions", min(asked("GET", f"/{CLUSTER}/statuses"))),
        Step(4, "… creates the Secret with the data", begun),
        Step(5, "… creates the Job", did(ADAPTER, f"create jobs {SYSTEM}")),
        Step(6, "Kubernetes schedules the pod", did("admin", f"create pods/binding {SYSTEM}/{job}")),
        Step(8, "the job starts, loads its configuration", log["initialization", "load-config"], 1.0),
        Step(15, "… creates the secret in Secret Manager", stored("CreateSecret")),
        Step(18, "… adds the version", stored("AddSecretVersion")),
        Step(20, "… verifies that it can be read", stored("AccessSecretVersion")),
        Step(22, "… creates the management Secret", ended),
        Step(25, "the Job is complete", complete),
        Step(26, "the adapter notes its end", did(ADAPTER, f"patch jobs {SYSTEM}/{job}")),
        Step(27, "… PUTs the status", max(asked("PUT", f"/{CLUSTER}/statuses"))),
        Step(28, "the API has Available=True", reported),
    ]


def table(steps: list[Step]) -> Iterator[str]:
    """The lines of a table: the contract's seconds, ours, the step."""
    first = steps[0].at - steps[0].seed
    yield "seed    here"
    for step in steps:
        yield f"T+{step.seed:<3}  T+{step.at - first:6.2f}  {step.text}"


def in_order(steps: list[Step]) -> bool:
    """Whether the steps happened in this order."""
    return all(one.at <= two.at + two.precision for one, two in itertools.pairwise(steps))


def used(requests: list[Audited]) -> set[tuple[str, str | None, str, str]]:
    """(user, namespace, verb, resource) of the requests of our two accounts."""
    return {
        (one.user, where.partition("/")[0], verb, resource)
        for one in requests
        if one.user in (ADAPTER, JOB)
        for verb, resource, where in [one.what.split(" ")]
    }
