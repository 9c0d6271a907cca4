# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbooks, with a pull secret in every place from which they read one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.secrecy.watcher import Watcher
from tests.secrecy.world import World
from tests.support.nightly import some
from tests.support.secrecy.labs import MANAGED, PROJECT, Labs

_COLLECTION = "hyperfleet.pull_secret"


def _connections(labs: Labs, prefix: str) -> dict[str, Any]:
    options = labs.options()
    return {f"{prefix}_{name}": options[name] for name in ("gcp", "kubernetes", "hyperfleet", "retry")}


@pytest.mark.parametrize("mode", some([[], ["--check"]]), ids=["run", "check"])
def test_provision(watcher: Watcher, labs: Labs, mode: list[str]) -> None:
    world = World(watcher, labs)
    clusters = []
    for kind in ("inline", "mapping", "file", "field", "env", "kubernetes", "hyperfleet"):
        for good in (True, False):
            canary = world.canary(f"provision from {kind}, {'good' if good else 'bad'}")
            data = canary.text.encode() if good else canary.text[:-30].encode()
            if kind == "mapping" and not good:
                continue
            clusters.append(
                {
                    "cluster_id": f"cls-{kind}-{str(good).lower()}",
                    "cluster_name": kind,
                    "gcp_project_id": PROJECT,
                    "management_namespace": MANAGED,
                    "source": world.source(kind, canary, data),
                }
            )
    recording = watcher.play(
        f"{_COLLECTION}.provision",
        {"clusters": clusters, **_connections(labs, "provision")},
        options=["-vvvv", "--diff", *mode],
        settings=world.environment,
    )
    assert "cls-file-true" in recording.output
    assert recording.status == 2, recording.output[-2000:]
    leaks = world.leaks(recording)
    assert leaks == [], "\n".join(map(str, leaks))


@pytest.mark.nightly
def test_provision_with_a_pull_secret_where_none_belongs(watcher: Watcher, labs: Labs) -> None:
    """Each misplaced pull secret ends the play before it changes anything."""
    good = {"cluster_id": "cls-1", "gcp_project_id": PROJECT, "management_namespace": MANAGED}
    world = World(watcher, labs)
    for index, place in enumerate(
        ("souce", "source", "cluster_name", "an unknown key", "a list", "a cluster")
    ):
        canary = world.canary(f"a pull secret as {place}")
        clusters: Any = [{**good, "source": {"file": "/nowhere"}, place: canary.document}]
        if place == "cluster_name":
            clusters[0][place] = canary.text
        elif place == "an unknown key":
            clusters = [{**good, canary.text: "x"}]
        elif place == "a list":
            clusters = canary.document
        elif place == "a cluster":
            clusters = [canary.text]
        recording = watcher.play(
            f"{_COLLECTION}.provision",
            {"clusters": clusters, **_connections(labs, "provision")},
            options=["-vvv" if index % 2 else "-v"],
        )
        assert recording.status != 0, place
        leaks = world.leaks(recording)
        assert leaks == [], "\n".join(map(str, leaks))
    assert labs.secret_manager.calls.count() == 0


@pytest.mark.parametrize("form", some(["json", "text"]))
@pytest.mark.parametrize("what", some(["good", "truncated", "cluster id"]))
def test_job(watcher: Watcher, labs: Labs, what: str, form: str) -> None:
    """According to the job contract, the pull secret is only in the environment."""
    world = World(watcher, labs)
    canary = world.canary(f"job, {what}, {form}")
    world.in_environment.add(canary.name)
    environment = {
        "CLUSTER_ID": canary.text if what == "cluster id" else "cls-123",
        "CLUSTER_NAME": "production",
        "GCP_PROJECT_ID": PROJECT,
        "MANAGEMENT_NAMESPACE": MANAGED,
        "PULL_SECRET_DATA": canary.text[:-30] if what == "truncated" else canary.text,
        "LOG_LEVEL": "debug",
        "LOG_FORMAT": form,
    }
    variables = json.loads(json.dumps(_connections(labs, "job")))
    variables.pop("job_hyperfleet")
    recording = watcher.play(
        f"{_COLLECTION}.job", variables, options=["-vvvv", "--diff"], settings=environment
    )
    assert (recording.status == 0) == (what == "good"), recording.output[-2000:]
    leaks = world.leaks(recording)
    assert leaks == [], "\n".join(map(str, leaks))
