# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Inputs for modules, lookups and filters."""

from __future__ import annotations

import json
import random
from typing import Any

from ansible.release import __version__

from tests.fuzz.bases import FILTERS, JOB, MODULES, VARIABLES
from tests.fuzz.inputs import COLLECTION, ROOT, Input, Surface
from tests.fuzz.options import made
from tests.fuzz.parts import clusters_of, play_of
from tests.fuzz.specs import module_spec, variable_specs
from tests.fuzz.values import hostile, misplaced, path
from tests.support.secrecy.canary import Canary
from tests.support.secrecy.needles import Evidence, Needles


def module_surface(name: str) -> Surface:
    has_action = (ROOT / "plugins" / "action" / f"{name}.py").exists()
    has_module_code = "main()" in (ROOT / "plugins" / "modules" / f"{name}.py").read_text()

    def make(rng: random.Random, canary: Canary) -> Input:
        options = made(rng, module_spec(name), MODULES[name], canary)
        if "targets" in module_spec(name) and rng.random() < 0.3:
            one = {
                key: value
                for key, value in options.items()
                if key in module_spec(name)["targets"].get("options", {})
            }
            options = {key: value for key, value in options.items() if key not in one}
            other = {"cluster_id": "cls-2", "dest": path("other.json")}
            second = {
                key: other.get(key, value) if rng.random() < 0.8 else value for key, value in one.items()
            }
            second = made(rng, module_spec(name)["targets"].get("options", {}), second, canary)
            options["targets"] = [one, second]
        turn = rng.random()
        runner = (
            "play"
            if turn < 0.12
            else "module"
            if not has_action or (turn < 0.45 and has_module_code)
            else "action"
        )
        data: dict[str, Any] = {
            "name": name,
            "options": options,
            "check": rng.random() < 0.2,
            "diff": rng.random() < 0.5,
        }
        if (
            name == "kubelet_auth_sync"
            and runner == "module"
            and options.get("source") == MODULES[name]["source"]
        ):
            # The form in which the action plugin sends it.
            options["source"] = {"inline": canary.text}
        if name == "pull_secret_report":
            data["variables"] = {"tried_clusters": [VARIABLES["provision"]]}
        if name.endswith("_report") and rng.random() < 0.5:
            data["variables"] = {
                "tried_result": _result(rng),
                "tried_clusters": clusters_of(rng, name, canary),
            }
        if name == "pull_secret_job":
            data["environment"] = {**JOB, "PULL_SECRET_DATA": canary.text}
        if runner == "play" and any(_is_printed(one, canary) for one in options.values()):
            # Ansible would print it before any code of the collection runs (page *Secrecy*).
            runner = "action" if has_action else "module"
        if runner == "play":
            arguments = {key: f"{{{{ given_{index} }}}}" for index, key in enumerate(options)}
            task = {"name": "tried", f"{COLLECTION}.{name}": arguments}
            variables = {f"given_{index}": value for index, value in enumerate(options.values())}
            data = play_of([task], variables, rng)
        return Input(f"module/{name}", runner, data, world=rng.random() < 0.6)

    return Surface(f"module/{name}", make, 60)


def _is_printed(value: Any, canary: Canary) -> bool:
    """Return whether ansible-core 2.18 prints a secret if a template in the same variable is wrong."""
    text = json.dumps(value, default=str)
    is_beside = __version__.startswith("2.18.") and any(mark in text for mark in ("{{", "{%", "{#"))
    return is_beside and bool(Needles([canary]).leaks([Evidence("given", "options", text.encode())]))


def _result(rng: random.Random) -> Any:
    """Return a value that is not a module's result, or only resembles one."""
    return rng.choice(
        [
            hostile(rng),
            {"targets": hostile(rng)},
            {"targets": [hostile(rng)]},
            {"targets": [{"id": "cls-1", "actions": hostile(rng)}]},
        ]
    )


def lookup_surface(name: str) -> Surface:
    terms_of = {
        "cluster_files": _files_terms,
        "cluster_variables": _no_terms,
        "given": _given_terms,
    }[name]

    def make(rng: random.Random, canary: Canary) -> Input:
        return Input(f"lookup/{name}", "lookup", {"name": name, **terms_of(rng, canary)})

    return Surface(f"lookup/{name}", make, 25)


def _files_terms(rng: random.Random, canary: Canary) -> dict[str, Any]:
    terms = [rng.choice([path("fleet"), path("cluster.yaml"), hostile(rng), misplaced(rng, canary)])]
    if rng.random() < 0.5:
        terms.append(rng.choice([path("fleet/cls-1.json"), hostile(rng)]))
    return {"terms": terms, "options": {} if rng.random() < 0.5 else {"namespace": hostile(rng)}}


def _no_terms(rng: random.Random, canary: Canary) -> dict[str, Any]:
    return {"terms": rng.choice([[], [hostile(rng)], [canary.text]]), "options": {}}


def _given_terms(rng: random.Random, canary: Canary) -> dict[str, Any]:
    # The lookup returns the values of variables unchanged.
    spec = {name: {**one, "misplaced": False} for name, one in variable_specs("provision").items()}
    variables = made(rng, spec, VARIABLES["provision"], canary)
    terms = rng.choice([["cluster_id", "source"], [list(variables)], ["nope"], [hostile(rng)], hostile(rng)])
    options = rng.choice([{}, {"values": False}, {"values": hostile(rng)}])
    return {
        "terms": terms if isinstance(terms, list) else [terms],
        "options": options,
        "variables": variables,
    }


def filter_surface(name: str) -> Surface:
    def make(rng: random.Random, canary: Canary) -> Input:
        arguments: list[Any] = [
            _config(rng, canary) if name == "credential_for" else clusters_of(rng, name, canary),
            *(_argument(rng, one) for one in FILTERS[name]),
        ]
        return Input(f"filter/{name}", "filter", {"name": name, "arguments": arguments})

    return Surface(f"filter/{name}", make, 25)


def _config(rng: random.Random, canary: Canary) -> Any:
    """Return a right or wrong docker config, in one of the forms that a template may have."""
    auths = canary.document["auths"]
    spoilt = {rng.choice([*auths, "quay.io/team", canary.entries[0].auth, "*.io"]): hostile(rng)}
    return rng.choice(
        [
            canary.text,
            canary.document,
            {"auths": {**auths, **spoilt}},
            {**canary.document, "credHelpers": {"quay.io": hostile(rng)}},
            {"auths": hostile(rng)},
            hostile(rng),
        ]
    )


def _argument(rng: random.Random, right_one: Any) -> Any:
    return right_one if rng.random() < 0.6 else hostile(rng)
