# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of every playbook and role, taken from the playbooks and roles themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from jinja2 import Environment, nodes

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster import CLUSTER_KEYS
from tests.tools.env import ROOT

PLAYBOOKS = {path.stem: path for path in sorted((ROOT / "playbooks").glob("*.yml"))}
ROLES = sorted(path.name for path in (ROOT / "roles").iterdir())
# Nothing is rendered.
_PARSER = Environment()  # noqa: S701
_GIVEN = "hyperfleet.pull_secret.given"
# Not the user's: Ansible's own, and what each playbook sets by its tasks.
_ANSIBLES = {"ansible_playbook_python", "ansible_check_mode", "lookup", "query", "omit", "inventory_hostname"}


def play_of(playbook: str) -> dict[str, Any]:
    (play,) = yaml.safe_load(PLAYBOOKS[playbook].read_text())
    return dict(play)


def role_of(playbook: str) -> str | None:
    found = re.findall(r"(?m)^ +name: hyperfleet\.pull_secret\.(\w+)$", PLAYBOOKS[playbook].read_text())
    return found[0] if found else None


def role_options(role: str | None) -> dict[str, Any]:
    if role is None:
        return {}
    path = ROOT / "roles" / role / "meta" / "argument_specs.yml"
    options: dict[str, Any] = yaml.safe_load(path.read_text())["argument_specs"]["main"]["options"]
    return options


def own(playbook: str) -> set[str]:
    """The variables that a playbook asks the lookup for: lists of names, or names in the template."""
    found: set[str] = set()
    of_cluster = "{{ query('hyperfleet.pull_secret.cluster_variables') }}"
    variables = {
        name: CLUSTER_KEYS if value == of_cluster else value
        for name, value in play_of(playbook).get("vars", {}).items()
    }
    for text in templates(play_of(playbook)):
        for call in _PARSER.parse(text).find_all(nodes.Call):
            terms = [term for term in call.args if isinstance(term, (nodes.Const, nodes.Name))]
            if terms and isinstance(terms[0], nodes.Const) and terms[0].value == _GIVEN:
                for term in terms[1:]:
                    found.update([term.value] if isinstance(term, nodes.Const) else variables[term.name])
    return found


def settable(playbook: str) -> set[str]:
    """What a user may give a playbook: its own variables, and its role's but for those that it sets."""
    return own(playbook) | (set(role_options(role_of(playbook))) - set_by_import(playbook))


def set_by_import(playbook: str) -> set[str]:
    return {name for task in play_of(playbook)["tasks"] for name in task.get("vars", {})}


def read_by_playbook(playbook: str) -> set[str]:
    """The variables that a playbook's templates read and that it does not set itself."""
    play = play_of(playbook)
    registered = {name for task in play["tasks"] for name in task.get("ansible.builtin.set_fact", {})}
    registered |= {task["register"] for task in play["tasks"] if "register" in task}
    return read_by(play) - set(play["vars"]) - registered - _ANSIBLES


def read_by_role(role: str) -> set[str]:
    """The same of a role, but for the results of its own tasks."""
    paths = [path for part in ("tasks", "handlers") for path in (ROOT / "roles" / role / part).glob("*.yml")]
    registered = {name for path in paths for name in re.findall(r"register: (\w+)", path.read_text())}
    read = set().union(*(read_by(yaml.safe_load(path.read_text())) for path in paths))
    # What begins with an underscore is between a playbook and its role.
    return {name for name in read if not name.startswith("_")} - registered - _ANSIBLES


def templates(value: Any) -> Iterator[str]:
    """Every template in a YAML document, bare conditions as templates too."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("when", "failed_when", "changed_when"):
                conditions = item if isinstance(item, list) else [item]
                yield from (f"{{{{ {one} }}}}" for one in conditions if isinstance(one, str))
            else:
                yield from templates(item)
    elif isinstance(value, list):
        for item in value:
            yield from templates(item)
    elif isinstance(value, str) and "{{" in value:
        yield value


def read_by(document: Any) -> set[str]:
    """The variables that the templates in a YAML document read."""
    found: set[str] = set()
    for text in templates(document):
        names = list(_PARSER.parse(text).find_all(nodes.Name))
        found |= {one.name for one in names if one.ctx == "load"} - {
            one.name for one in names if one.ctx != "load"
        }
    return found - set(_PARSER.globals)
