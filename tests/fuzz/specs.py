# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the existing options: in argument specs, documentation, and the variables of playbooks."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterator
from typing import Any

import yaml

from tests.fuzz.bases import ROLES, VARIABLES
from tests.fuzz.inputs import ROOT
from tests.fuzz.options import Spec

_PLUGINS = "ansible_collections.hyperfleet.pull_secret.plugins"


WORD = re.compile(r"[a-z][a-z0-9_]*")


EXPRESSION = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


# Keywords of templates, and variables that a playbook sets itself.
NO_VARIABLES = frozenset(
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
        "cluster_variables",
        "query",
        "dict2items",
        "rejectattr",
        "event",
    ]
)


@functools.cache
def module_spec(name: str) -> Spec:
    """Return the argument spec of a module's task, or the options of its documentation if it has no task."""
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
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import with_targets

    both: Spec = with_targets(options)
    return both


def _documented(name: str) -> Spec:
    text = (ROOT / "plugins" / "modules" / f"{name}.py").read_text()
    found = re.search(r'DOCUMENTATION = r"""(.*?)"""', text, re.DOTALL)
    assert found, name
    return _with_options(yaml.safe_load(found.group(1)).get("options") or {})


def _with_options(options: dict[str, Any]) -> Spec:
    """Return a documentation's options with ``suboptions`` renamed to an argument spec's ``options``."""
    return {
        name: {**one, **({"options": _with_options(one["suboptions"])} if "suboptions" in one else {})}
        for name, one in options.items()
    }


@functools.cache
def role_spec(name: str) -> Spec:
    """Return a role's argument spec. Ansible's own check quotes wrong numbers and words (page *Secrecy*)."""
    document = yaml.safe_load((ROOT / "roles" / name / "meta" / "argument_specs.yml").read_text())
    return {
        option: {**one, "misplaced": one.get("type", "str") in ("dict", "list", "raw", "path")}
        for option, one in document["argument_specs"]["main"]["options"].items()
    }


@functools.cache
def variable_specs(playbook: str) -> Spec:
    """Return the variables in a playbook's templates, and those of its role."""
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster import CLUSTER_KEYS

    text = (ROOT / "playbooks" / f"{playbook}.yml").read_text()
    words = {word for part in EXPRESSION.findall(text) for word in WORD.findall(part)} - NO_VARIABLES
    words |= set(_listed(yaml.safe_load(text)))
    words |= CLUSTER_KEYS if "cluster_variables" in text else set()
    words |= set(VARIABLES.get(playbook, {})) | set(re.findall(r"-e ([a-z_]+)=", text))
    modules = ("gcp_pull_secret", "k8s_pull_secret", "hosted_cluster_pull_secret", "hyperfleet_adapter")
    known: dict[str, Any] = {}
    for module in modules:
        known.update(module_spec(module))
    roles = re.findall(r"name: hyperfleet\.pull_secret\.([a-z_]+)\s*$", text, re.MULTILINE)
    for role in (one for one in roles if one in ROLES):
        known.update(role_spec(role))
        words |= set(role_spec(role))
    # Ansible's messages about hosts, and those of its check of a role, quote the value.
    own = {"node_hosts", "node_serial", "node_max_fail_percentage"}
    if "rolespec_validate: false" not in text:
        own |= {word for word, one in known.items() if not one.get("misplaced", True)}
    return {word: {**known.get(word, {}), "misplaced": word not in own} for word in sorted(words)}


def _listed(value: Any) -> Iterator[str]:
    """Yield the strings in lists, with which a playbook names variables to a plugin."""
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(one, str) and isinstance(value, list) and WORD.fullmatch(one):
            yield one
        yield from _listed(one)


def spec_of(value: dict[str, Any]) -> Spec:
    """Return a spec that matches an example."""
    return {
        str(name): {"type": "dict", "options": spec_of(one)} if isinstance(one, dict) else {}
        for name, one in value.items()
    }
