# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is tried: every module, action, lookup, filter, role, playbook, rulebook, event source and document.

The lists come from the directories. What is there and has no base here has no options that work, so that
nothing behind the first check would be tried: ``missing()`` names it, and a test fails.
"""

from __future__ import annotations

import functools
import importlib
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.fuzz.bases import (
    ADAPTER_CONFIG,
    CLUSTER,
    FILTERS,
    JOB,
    LOOKUPS,
    MODULES,
    PLAYBOOKS,
    ROLES,
    RULEBOOKS,
    SOURCES,
    VARIABLES,
)
from tests.fuzz.options import Spec, made
from tests.fuzz.values import hostile, misplaced, path
from tests.secrecy.canary import Canary

__all__ = ["COLLECTION", "KINDS", "Input", "Surface", "missing", "surfaces"]

ROOT = Path(__file__).resolve().parents[2]
COLLECTION = "hyperfleet.pull_secret"
_PLUGINS = "ansible_collections.hyperfleet.pull_secret.plugins"
KINDS = ("module", "lookup", "filter", "role", "playbook", "rulebook", "source", "job", "document")
_WORD = re.compile(r"[a-z][a-z0-9_]*")
_EXPRESSION = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
# Words of templates, and what a playbook sets itself.
_NO_VARIABLES = frozenset(
    [
        "default",
        "omit",
        "undef",
        "hint",
        "if",
        "else",
        "is",
        "defined",
        "in",
        "not",
        "and",
        "or",
        "bool",
        "map",
        "join",
        "attribute",
        "key",
        "value",
        "wantlist",
        "none",
        "true",
        "false",
        "lookup",
        "hyperfleet",
        "pull_secret",
        "cluster_files",
        "dict2items",
        "rejectattr",
        "event",
    ]
)


@dataclass(frozen=True)
class Input:
    """One thing to be tried.

    :param surface: ``kind/name``; :param runner: of ``runners.py``; :param data: what the runner is given.
    :param world: whether the stand-ins answer; else nothing listens where they would.
    """

    surface: str
    runner: str
    data: dict[str, Any]
    world: bool = False
    clusters: list[Any] = field(default_factory=list)


Maker = Callable[[random.Random, Canary], Input]


@dataclass(frozen=True)
class Surface:
    """Something with options: ``kind/name``, its inputs, and how many of all inputs it gets."""

    name: str
    make: Maker
    weight: int = 10


def _names(pattern: str) -> list[str]:
    return sorted({one.stem for one in ROOT.glob(pattern) if not one.name.startswith("_")})


def _there() -> dict[str, tuple[list[str], Any]]:
    """Kind -> the names that there are, and the bases."""
    return {
        "module": (sorted({*_names("plugins/modules/*.py"), *_names("plugins/action/*.py")}), MODULES),
        "lookup": (_names("plugins/lookup/*.py"), LOOKUPS),
        "filter": (_names("plugins/filter/*.yml"), FILTERS),
        "role": (sorted(one.name for one in (ROOT / "roles").iterdir()), ROLES),
        "playbook": (_names("playbooks/*.yml"), PLAYBOOKS),
        "rulebook": (_names("extensions/eda/rulebooks/*.yml"), RULEBOOKS),
        "source": (_names("extensions/eda/plugins/event_source/*.py"), SOURCES),
    }


def missing() -> list[str]:
    """What has no base."""
    return [
        f"{kind}/{name}" for kind, (names, bases) in _there().items() for name in names if name not in bases
    ]


def surfaces() -> list[Surface]:
    """All of them."""
    makers: dict[str, Callable[[str], Surface]] = {
        "module": _module,
        "lookup": _lookup,
        "filter": _filter,
        "role": _role,
        "playbook": _playbook,
        "rulebook": _rulebook,
        "source": _source,
    }
    found = [makers[kind](name) for kind, (names, _bases) in _there().items() for name in names]
    return [*found, *_jobs(), *_documents()]


# -- modules ------------------------------------------------------------------------------------------


@functools.cache
def module_spec(name: str) -> Spec:
    """The argument spec: the task's, or of what has no task its documentation."""
    try:
        task = importlib.import_module(f"{_PLUGINS}.module_utils.tasks.{name}")
    except ModuleNotFoundError:
        return _documented(name)
    if hasattr(task, "spec"):
        whole: Spec = task.spec()
        return whole
    options = task.target_options()
    if "api_timeout" in options:
        alone: Spec = options
        return alone
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.options import with_targets

    both: Spec = with_targets(options)
    return both


def _documented(name: str) -> Spec:
    text = (ROOT / "plugins" / "modules" / f"{name}.py").read_text()
    found = re.search(r'DOCUMENTATION = r"""(.*?)"""', text, re.DOTALL)
    assert found, name
    return _with_options(yaml.safe_load(found.group(1)).get("options") or {})


def _with_options(options: dict[str, Any]) -> Spec:
    """A documentation's ``suboptions`` as an argument spec's ``options``."""
    return {
        name: {**one, **({"options": _with_options(one["suboptions"])} if "suboptions" in one else {})}
        for name, one in options.items()
    }


def _module(name: str) -> Surface:
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
            # As the action plugin sends it.
            options["source"] = {"inline": canary.text}
        if name == "pull_secret_report":
            data["variables"] = {"tried_clusters": [VARIABLES["provision"]]}
        if name.endswith("_report") and rng.random() < 0.5:
            data["variables"] = {"tried_result": _result(rng), "tried_clusters": _clusters(rng, name, canary)}
        if name == "pull_secret_job":
            data["environment"] = {**JOB, "PULL_SECRET_DATA": canary.text}
        if runner == "play":
            # One by one: ansible-core 2.18 quotes the whole of what it cannot take as arguments.
            arguments = {key: f"{{{{ given[{index}] }}}}" for index, key in enumerate(options)}
            task = {"name": "tried", f"{COLLECTION}.{name}": arguments}
            data = _play([task], {"given": list(options.values())}, rng)
        return Input(f"module/{name}", runner, data, world=rng.random() < 0.6)

    return Surface(f"module/{name}", make, 60)


def _result(rng: random.Random) -> Any:
    """What is no result of a module, or only looks like one."""
    return rng.choice(
        [
            hostile(rng),
            {"targets": hostile(rng)},
            {"targets": [hostile(rng)]},
            {"targets": [{"id": "cls-1", "actions": hostile(rng)}]},
        ]
    )


def _play(
    tasks: list[Any], variables: dict[str, Any], rng: random.Random, hosts: str = "localhost"
) -> dict[str, Any]:
    play = {
        "hosts": hosts,
        "gather_facts": False,
        "connection": "local",
        "vars": {"ansible_python_interpreter": "{{ ansible_playbook_python }}"},
        "tasks": tasks,
    }
    return {"play": [play], "variables": variables, "flags": _flags(rng)}


def _flags(rng: random.Random) -> list[str]:
    return rng.choice([[], [], ["--diff"], ["--check", "--diff"], ["-vvv"], ["-v", "--diff"]])


# -- lookups and filters ------------------------------------------------------------------------------


def _lookup(name: str) -> Surface:
    terms_of = {"cluster_files": _files_terms, "given": _given_terms}[name]

    def make(rng: random.Random, canary: Canary) -> Input:
        return Input(f"lookup/{name}", "lookup", {"name": name, **terms_of(rng, canary)})

    return Surface(f"lookup/{name}", make, 25)


def _files_terms(rng: random.Random, canary: Canary) -> dict[str, Any]:
    terms = [rng.choice([path("fleet"), path("cluster.yaml"), hostile(rng), misplaced(rng, canary)])]
    if rng.random() < 0.5:
        terms.append(rng.choice([path("fleet/cls-1.json"), hostile(rng)]))
    return {"terms": terms, "options": {} if rng.random() < 0.5 else {"namespace": hostile(rng)}}


def _given_terms(rng: random.Random, canary: Canary) -> dict[str, Any]:
    # It gives what the variables hold, whatever that is.
    spec = {name: {**one, "misplaced": False} for name, one in variable_specs("provision").items()}
    variables = made(rng, spec, VARIABLES["provision"], canary)
    terms = rng.choice([["cluster_id", "source"], [list(variables)], ["nope"], [hostile(rng)], hostile(rng)])
    options = rng.choice([{}, {"values": False}, {"values": hostile(rng)}])
    return {
        "terms": terms if isinstance(terms, list) else [terms],
        "options": options,
        "variables": variables,
    }


def _filter(name: str) -> Surface:
    def make(rng: random.Random, canary: Canary) -> Input:
        arguments: list[Any] = [_clusters(rng, name, canary), *(_argument(rng, one) for one in FILTERS[name])]
        return Input(f"filter/{name}", "filter", {"name": name, "arguments": arguments})

    return Surface(f"filter/{name}", make, 25)


def _argument(rng: random.Random, right_one: Any) -> Any:
    return right_one if rng.random() < 0.6 else hostile(rng)


def _clusters(rng: random.Random, which: str, canary: Canary) -> Any:
    """A list of clusters, which may be wrong itself."""
    if rng.random() < 0.1:
        return hostile(rng)
    spec = variable_specs("hosted_cluster" if "hosted" in which else "provision")
    base = VARIABLES["hosted_cluster" if "hosted" in which else "provision"]
    return [
        made(rng, spec, {**base, "cluster_id": rng.choice(["cls-1", "cls-2", "cls-1"])}, canary)
        for _count in range(rng.choice([0, 1, 1, 2]))
    ]


# -- roles, playbooks, rulebooks ------------------------------------------------------------------------


@functools.cache
def role_spec(name: str) -> Spec:
    """Its argument spec. Ansible's own check quotes a number or a word (docs/secrecy.md)."""
    document = yaml.safe_load((ROOT / "roles" / name / "meta" / "argument_specs.yml").read_text())
    return {
        option: {**one, "misplaced": one.get("type", "str") in ("dict", "list", "raw", "path")}
        for option, one in document["argument_specs"]["main"]["options"].items()
    }


@functools.cache
def variable_specs(playbook: str) -> Spec:
    """The variables that a playbook's templates name, and those of the role that it imports."""
    text = (ROOT / "playbooks" / f"{playbook}.yml").read_text()
    words = {word for part in _EXPRESSION.findall(text) for word in _WORD.findall(part)} - _NO_VARIABLES
    words |= set(_listed(yaml.safe_load(text)))
    words |= set(VARIABLES.get(playbook, {})) | set(re.findall(r"-e ([a-z_]+)=", text))
    modules = ("gcp_pull_secret", "k8s_pull_secret", "hosted_cluster_pull_secret", "hyperfleet_adapter")
    known: dict[str, Any] = {}
    for module in modules:
        known.update(module_spec(module))
    roles = re.findall(r"name: hyperfleet\.pull_secret\.([a-z_]+)\s*$", text, re.MULTILINE)
    for role in (one for one in roles if one in ROLES):
        known.update(role_spec(role))
        words |= set(role_spec(role))
    # What Ansible says of hosts, and what its check of a role says, is with the value.
    own = {"node_hosts", "node_serial", "node_max_fail_percentage"}
    if "rolespec_validate: false" not in text:
        own |= {word for word, one in known.items() if not one.get("misplaced", True)}
    return {word: {**known.get(word, {}), "misplaced": word not in own} for word in sorted(words)}


def _listed(value: Any) -> Iterator[str]:
    """Words in lists, as which a playbook names variables to a plugin."""
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(one, str) and isinstance(value, list) and _WORD.fullmatch(one):
            yield one
        yield from _listed(one)


def _role(name: str) -> Surface:
    def make(rng: random.Random, canary: Canary) -> Input:
        variables = made(rng, role_spec(name), ROLES[name], canary)
        _with_clusters(rng, name, variables, canary)
        task = {
            "name": "tried",
            rng.choice(["ansible.builtin.import_role", "ansible.builtin.include_role"]): {
                "name": f"{COLLECTION}.{name}"
            },
        }
        return Input(f"role/{name}", "play", _play([task], variables, rng), world=rng.random() < 0.6)

    return Surface(f"role/{name}", make, 20)


def _with_clusters(rng: random.Random, name: str, variables: dict[str, Any], canary: Canary) -> None:
    for variable in ("provision_clusters", "hosted_cluster_clusters"):
        if variable.startswith(name) and rng.random() < 0.6:
            variables[variable] = _clusters(rng, variable, canary)


def _playbook(name: str) -> Surface:
    def make(rng: random.Random, canary: Canary) -> Input:
        variables = made(rng, variable_specs(name), PLAYBOOKS[name], canary)
        if name in ("provision", "hosted_cluster") and rng.random() < 0.3:
            role = f"{name}_"
            variables = {key: value for key, value in variables.items() if key.startswith(role)}
            variables["clusters"] = _clusters(rng, name, canary)
        data = {"play": f"{COLLECTION}.{name}", "variables": variables, "flags": _flags(rng)}
        if name == "job":
            data["environment"] = {**JOB, "PULL_SECRET_DATA": canary.text}
        return Input(f"playbook/{name}", "play", data, world=rng.random() < 0.6)

    return Surface(f"playbook/{name}", make, 20)


def _rulebook(name: str) -> Surface:
    def make(rng: random.Random, canary: Canary) -> Input:
        text = (ROOT / "extensions" / "eda" / "rulebooks" / f"{name}.yml").read_text()
        words = {word for part in _EXPRESSION.findall(text) for word in _WORD.findall(part)} - _NO_VARIABLES
        known = {**role_spec("hosted_cluster"), **role_spec("adapter")}
        spec = {
            word: known.get(word, {})
            for word in sorted(words - {"cluster_events", "kubernetes_secret", "tries"})
        }
        base, event = RULEBOOKS[name]
        variables = made(rng, spec, base, canary)
        if "hosted_clusters_file" in variables and rng.random() < 0.5:
            variables["hosted_clusters_file"] = _clusters(rng, "hosted", canary)
        data = {
            "name": name,
            "variables": variables,
            "event": event if rng.random() < 0.8 else hostile(rng),
            "run": rng.random() < 0.5,
        }
        return Input(f"rulebook/{name}", "rulebook", data, world=rng.random() < 0.5)

    return Surface(f"rulebook/{name}", make, 20)


def _source(name: str) -> Surface:
    def make(rng: random.Random, canary: Canary) -> Input:
        base = rng.choice(SOURCES[name])
        spec = _spec_of(base)
        options = made(rng, spec, base, canary)
        if name == "kubernetes_secret" and rng.random() < 0.5:
            options["clusters"] = _clusters(rng, "hosted", canary)
        return Input(f"source/{name}", "source", {"name": name, "options": options})

    return Surface(f"source/{name}", make, 30)


def _spec_of(value: dict[str, Any]) -> Spec:
    """A spec by example."""
    return {
        str(name): {"type": "dict", "options": _spec_of(one)} if isinstance(one, dict) else {}
        for name, one in value.items()
    }


# -- the job, and documents -----------------------------------------------------------------------------


def _jobs() -> list[Surface]:
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.job.settings import (
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
                {"play": f"{COLLECTION}.job", "variables": {"job_retry": {"tries": 1}}, "flags": _flags(rng)}
            )
        return Input("job/environment", runner, data, world=rng.random() < 0.5)

    return [Surface("job/environment", make, 60)]


def _text(value: Any) -> str:
    """What an environment can hold."""
    return str(value).replace("\0", "").encode("utf-8", "replace").decode()[:50_000]


def _documents() -> list[Surface]:
    return [
        Surface("document/adapter_config", _adapter_config, 60),
        Surface("document/cluster", _cluster, 60),
        Surface("document/cluster_file", _cluster_file, 25),
    ]


def _adapter_config(rng: random.Random, canary: Canary) -> Input:
    document = made(rng, _spec_of(ADAPTER_CONFIG), ADAPTER_CONFIG, canary)
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
    document = made(rng, _spec_of(base), base, canary)
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
    document = made(rng, _spec_of(base), base, canary)
    name = rng.choice(["made.json", "made.yaml"])
    data = {"name": "cluster_files", "terms": [path(name)], "options": {}, "files": {name: document}}
    return Input("document/cluster_file", "lookup", data)
