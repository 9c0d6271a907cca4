# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Inputs for roles, playbooks, rulebooks and event sources."""

from __future__ import annotations

import random
from typing import Any

from tests.fuzz.bases import JOB, PLAYBOOKS, ROLES, RULEBOOKS, SOURCES
from tests.fuzz.inputs import COLLECTION, ROOT, Input, Surface
from tests.fuzz.options import made
from tests.fuzz.parts import clusters_of, flags_of, play_of
from tests.fuzz.specs import EXPRESSION, NO_VARIABLES, WORD, role_spec, spec_of, variable_specs
from tests.fuzz.values import hostile
from tests.support.secrecy.canary import Canary


def role_surface(name: str) -> Surface:
    def make(rng: random.Random, canary: Canary) -> Input:
        variables = made(rng, role_spec(name), ROLES[name], canary)
        _with_clusters(rng, name, variables, canary)
        task = {
            "name": "tried",
            rng.choice(["ansible.builtin.import_role", "ansible.builtin.include_role"]): {
                "name": f"{COLLECTION}.{name}"
            },
        }
        return Input(f"role/{name}", "play", play_of([task], variables, rng), world=rng.random() < 0.6)

    return Surface(f"role/{name}", make, 20)


def _with_clusters(rng: random.Random, name: str, variables: dict[str, Any], canary: Canary) -> None:
    for variable in ("provision_clusters", "hosted_cluster_clusters"):
        if variable.startswith(name) and rng.random() < 0.6:
            variables[variable] = clusters_of(rng, variable, canary)


def playbook_surface(name: str) -> Surface:
    def make(rng: random.Random, canary: Canary) -> Input:
        variables = made(rng, variable_specs(name), PLAYBOOKS[name], canary)
        if name in ("provision", "hosted_cluster") and rng.random() < 0.3:
            role = f"{name}_"
            variables = {key: value for key, value in variables.items() if key.startswith(role)}
            variables["clusters"] = clusters_of(rng, name, canary)
        data = {"play": f"{COLLECTION}.{name}", "variables": variables, "flags": flags_of(rng)}
        if name == "job":
            data["environment"] = {**JOB, "PULL_SECRET_DATA": canary.text}
        return Input(f"playbook/{name}", "play", data, world=rng.random() < 0.6)

    return Surface(f"playbook/{name}", make, 20)


def rulebook_surface(name: str) -> Surface:
    def make(rng: random.Random, canary: Canary) -> Input:
        text = (ROOT / "extensions" / "eda" / "rulebooks" / f"{name}.yml").read_text()
        words = {word for part in EXPRESSION.findall(text) for word in WORD.findall(part)} - NO_VARIABLES
        known = {**role_spec("hosted_cluster"), **role_spec("adapter")}
        spec = {
            word: known.get(word, {})
            for word in sorted(words - {"cluster_events", "kubernetes_secret", "tries"})
        }
        base, event = RULEBOOKS[name]
        variables = made(rng, spec, base, canary)
        if "hosted_clusters_file" in variables and rng.random() < 0.5:
            variables["hosted_clusters_file"] = clusters_of(rng, "hosted", canary)
        data = {
            "name": name,
            "variables": variables,
            "event": event if rng.random() < 0.8 else hostile(rng),
            "run": rng.random() < 0.5,
        }
        return Input(f"rulebook/{name}", "rulebook", data, world=rng.random() < 0.5)

    return Surface(f"rulebook/{name}", make, 20)


def source_surface(name: str) -> Surface:
    def make(rng: random.Random, canary: Canary) -> Input:
        base = rng.choice(SOURCES[name])
        spec = spec_of(base)
        options = made(rng, spec, base, canary)
        if name == "kubernetes_secret" and rng.random() < 0.5:
            options["clusters"] = clusters_of(rng, "hosted", canary)
        return Input(f"source/{name}", "source", {"name": name, "options": options})

    return Surface(f"source/{name}", make, 30)
