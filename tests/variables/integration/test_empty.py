# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""If a role's variable is null or an empty string, the role's default applies."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from tests.support import names
from tests.support.nightly import some
from tests.tools.env import ROOT
from tests.variables.integration.test_undefined import trusted
from tests.variables.integration.world import World

# The playbook with which a role is tested.
_PLAYBOOKS = {role: next(p for p in names.PLAYBOOKS if names.role_of(p) == role) for role in names.ROLES}
# Role variables for which an empty string is a value, which disables a check.
_EMPTY_IS_A_VALUE = {"node_healthz"}
_COLLECTION = "hyperfleet.pull_secret."
_PLUGINS = f"ansible_collections.{_COLLECTION}plugins"
_OMIT = "example-omitted"


def _options(role: str, *, required: bool) -> list[str]:
    options = names.role_options(role)
    return [name for name, spec in options.items() if bool(spec.get("required")) == required]


_OPTIONAL = [(role, name) for role in names.ROLES for name in _options(role, required=False)]


@pytest.mark.parametrize(("role", "name"), _OPTIONAL)
def test_a_module_is_given_the_roles_default(role: str, name: str) -> None:
    """Evaluate the arguments of every task that reads the variable, without a run."""
    defaults = yaml.safe_load((ROOT / "roles" / role / "defaults" / "main.yml").read_text())
    usual = _arguments(role, name, defaults)
    assert usual or name == "hosted_cluster_defaults"
    for value in [None] if name in _EMPTY_IS_A_VALUE else [None, ""]:
        assert _arguments(role, name, {**defaults, name: value}) == usual


def _arguments(role: str, name: str, variables: dict[str, Any]) -> dict[tuple[int, str], Any]:
    """Return the arguments that use the variable, with the module's defaults; None for empty values."""
    others = {
        "adapter_config": "a",
        "ansible_check_mode": False,
        "omit": _OMIT,
        "hosted_cluster_clusters": [],
    }
    templar = Templar(loader=DataLoader(), variables=trusted({**others, **variables}))
    found: dict[tuple[int, str], Any] = {}
    for number, (module, arguments) in enumerate(_tasks(role)):
        for option, template in arguments.items():
            # The filter for the targets is not available here; the test with a run covers it.
            if (
                option != "targets"
                and isinstance(template, str)
                and "{{" in template
                and name in names.read_by(template)
            ):
                given = templar.template(trusted({option: template})).get(option, _OMIT)
                value = _default(module, option) if given in (_OMIT, None) else given
                # ansible-core 2.18 turns a number into a string.
                value = yaml.safe_load(value) if isinstance(value, str) else value
                found[number, option] = value if value in (0, False) else value or None
    return found


def _tasks(role: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted((ROOT / "roles" / role).glob("*/*.yml")):
        tasks = yaml.safe_load(path.read_text()) if path.parent.name in ("tasks", "handlers") else []
        for task in [
            inner for outer in tasks for part in ("block", "rescue") for inner in outer.get(part, ())
        ] + tasks:
            for action, arguments in task.items():
                if action.startswith(_COLLECTION) and isinstance(arguments, dict):
                    yield action[len(_COLLECTION) :], arguments


@cache
def _described(module: str) -> dict[str, Any]:
    """Return the options of a module, including those of the collection's documentation fragments."""
    document = yaml.safe_load(import_module(f"{_PLUGINS}.modules.{module}").DOCUMENTATION)
    options = dict(document.get("options", {}))
    for fragment in document["extends_documentation_fragment"]:
        *_collection, file, part = f"{fragment}.documentation".split(".")[:4]
        texts = import_module(f"{_PLUGINS}.doc_fragments.{file}").ModuleDocFragment
        options.update(yaml.safe_load(getattr(texts, part.upper())).get("options", {}))
    return options


def _default(module: str, option: str) -> Any:
    return _described(module)[option].get("default")


@pytest.mark.parametrize(
    ("role", "value"),
    some([(role, value) for role in names.ROLES for value in (None, "")], ("provision", "")),
)
@pytest.mark.nightly
def test_an_empty_variable_says_nothing(world: World, role: str, value: Any) -> None:
    """All variables of a role at once, except those that the run needs."""
    playbook = _PLAYBOOKS[role]
    empty = dict.fromkeys(_options(role, required=False), value)
    usual = world.usual[playbook]
    finished = world.run(playbook, {name: given for name, given in empty.items() if name not in usual})
    usually = world.run(playbook, {})
    assert finished.code == usually.code, finished.stdout
    assert [(task.name, task.status) for task in finished.tasks] == [
        (task.name, task.status) for task in usually.tasks
    ]
