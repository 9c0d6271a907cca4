# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parts of several kinds of inputs: clusters, plays, flags."""

from __future__ import annotations

import random
from typing import Any

from tests.fuzz.bases import VARIABLES
from tests.fuzz.options import made
from tests.fuzz.specs import variable_specs
from tests.fuzz.values import hostile
from tests.support.secrecy.canary import Canary


def clusters_of(rng: random.Random, which: str, canary: Canary) -> Any:
    """Return a list of clusters, or a wrong value in its place."""
    if rng.random() < 0.1:
        return hostile(rng)
    spec = variable_specs("hosted_cluster" if "hosted" in which else "provision")
    base = VARIABLES["hosted_cluster" if "hosted" in which else "provision"]
    return [
        made(rng, spec, {**base, "cluster_id": rng.choice(["cls-1", "cls-2", "cls-1"])}, canary)
        for _count in range(rng.choice([0, 1, 1, 2]))
    ]


def play_of(
    tasks: list[Any], variables: dict[str, Any], rng: random.Random, hosts: str = "localhost"
) -> dict[str, Any]:
    play = {
        "hosts": hosts,
        "gather_facts": False,
        "connection": "local",
        "vars": {"ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "tasks": tasks,
    }
    return {"play": [play], "variables": variables, "flags": flags_of(rng)}


def flags_of(rng: random.Random) -> list[str]:
    return rng.choice([[], [], ["--diff"], ["--check", "--diff"], ["-vvv"], ["-v", "--diff"]])
