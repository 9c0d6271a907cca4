# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Inputs for the job's environment and for documents."""

from __future__ import annotations

import random
from typing import Any

from tests.fuzz.bases import ADAPTER_CONFIG, CLUSTER, JOB, MODULES
from tests.fuzz.inputs import COLLECTION, Input, Surface
from tests.fuzz.options import Spec, made
from tests.fuzz.parts import flags_of
from tests.fuzz.specs import spec_of
from tests.fuzz.values import path
from tests.support.secrecy.canary import Canary


def job_surfaces() -> list[Surface]:
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.provision.environment import (
        VARIABLES as NAMES,
    )

    def make(rng: random.Random, canary: Canary) -> Input:
        spec: Spec = {name: {"misplaced": name != "PULL_SECRET_DATA"} for name in NAMES}
        given = made(rng, spec, {**JOB, "PULL_SECRET_DATA": canary.text}, canary)
        environment = {name: _text(value) for name, value in given.items() if name and "=" not in name}
        runner = rng.choice(["program", "program", "play"])
        data: dict[str, Any] = {"environment": environment}
        if runner == "play":
            data.update(
                {
                    "play": f"{COLLECTION}.job",
                    "variables": {"job_retry": {"tries": 1}},
                    "flags": flags_of(rng),
                }
            )
        return Input("job/environment", runner, data, world=rng.random() < 0.5)

    return [Surface("job/environment", make, 60)]


def _text(value: Any) -> str:
    """Return the value as a string that an environment variable can hold."""
    return str(value).replace("\0", "").encode("utf-8", "replace").decode()[:50_000]


def document_surfaces() -> list[Surface]:
    return [
        Surface("document/adapter_config", _adapter_config, 60),
        Surface("document/cluster", _cluster, 60),
        Surface("document/cluster_file", _cluster_file, 25),
    ]


def _adapter_config(rng: random.Random, canary: Canary) -> Input:
    document = made(rng, spec_of(ADAPTER_CONFIG), ADAPTER_CONFIG, canary)
    run = rng.random() < 0.4
    options = {**MODULES["hyperfleet_adapter"], "config": path("made.json")}
    data = {
        "name": "hyperfleet_adapter",
        "options": options,
        "files": {"made.json": document},
        "check": False,
        "diff": False,
    }
    return Input("document/adapter_config", "action" if run else "config", data, world=run)


def _cluster(rng: random.Random, canary: Canary) -> Input:
    base = {**CLUSTER, "spec": {**CLUSTER["spec"], "pullSecret": {"data": canary.text}}}
    document = made(rng, spec_of(base), base, canary)
    execution = rng.choice(["inline", "job"])
    options = {
        **MODULES["hyperfleet_adapter"],
        "cluster_ids": ["cls-3"],
        "overrides": {"execution": execution},
    }
    data = {"name": "hyperfleet_adapter", "options": options, "check": rng.random() < 0.2, "diff": False}
    return Input("document/cluster", "action", data, world=True, clusters=[document])


def _cluster_file(rng: random.Random, canary: Canary) -> Input:
    base = {**CLUSTER, "spec": {**CLUSTER["spec"], "pullSecret": {"data": canary.text}}}
    document = made(rng, spec_of(base), base, canary)
    name = rng.choice(["made.json", "made.yaml"])
    data = {"name": "cluster_files", "terms": [path(name)], "options": {}, "files": {name: document}}
    return Input("document/cluster_file", "lookup", data)
