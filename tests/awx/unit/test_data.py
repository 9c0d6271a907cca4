# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The data file fits the modules of awx.awx, the project's playbooks, and what the collection reads."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes import k8s_auth
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster import (
    CLUSTER_KEYS,
    OPTIONS,
)
from tests.awx.data import AWX, LISTS, VARIABLES
from tests.tools.env import ROOT

# The options of the modules of awx.awx 24.6.1: type, required, choices.
ARGUMENTS = json.loads(Path(__file__).parents[1].joinpath("module_arguments.json").read_text())
TEMPLATES: list[dict[str, Any]] = VARIABLES["controller_templates"]
TYPES: dict[str, dict[str, Any]] = {item["name"]: item for item in VARIABLES["controller_credential_types"]}
INJECTORS = [item["injectors"] for item in TYPES.values()]
PROJECT = AWX / "project"
# The collection's playbook and role that do the work of each of the project's playbooks.
WORK = {
    "playbooks/provision.yml": ("provision", "provision"),
    "playbooks/provision_clusters.yml": ("provision", "provision"),
    "playbooks/hosted_clusters.yml": ("hosted_cluster", "hosted_cluster"),
    "playbooks/nodes.yml": ("node", "node"),
}
QUESTIONS = [
    pytest.param(template["playbook"], question, id=f"{template['playbook']}-{question['variable']}")
    for template in TEMPLATES
    for question in template.get("survey_spec", {}).get("spec", [])
]
CODE = "\n".join(path.read_text() for path in (ROOT / "plugins" / "module_utils").rglob("*.py"))


def role_variables(role: str) -> dict[str, dict[str, Any]]:
    specs = yaml.safe_load((ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text())
    options: dict[str, dict[str, Any]] = specs["argument_specs"]["main"]["options"]
    return options


def playbook_variables(playbook: str) -> set[str]:
    """Return the variables that a playbook of the collection names in its lists, and the keys of a cluster."""
    play = yaml.safe_load((ROOT / "playbooks" / f"{playbook}.yml").read_text())[0]
    lists = [value for name, value in play["vars"].items() if name.endswith("_variables")]
    names = {variable for variables in lists if isinstance(variables, list) for variable in variables}
    return names | (CLUSTER_KEYS if any("cluster_variables')" in str(value) for value in lists) else set())


@pytest.mark.parametrize("name", LISTS)
def test_items_are_arguments_of_the_module(name: str) -> None:
    options = ARGUMENTS[LISTS[name][0]]
    required = {option for option, spec in options.items() if spec.get("required")}
    for item in VARIABLES[name]:
        assert required <= set(item) <= set(options)
        for key, value in item.items():
            is_template = isinstance(value, str) and value.startswith("{{")
            expected = {"bool": bool, "int": int, "list": list, "dict": dict}.get(options[key]["type"], str)
            assert is_template or isinstance(value, expected), f"{item['name']}: {key}"
            assert is_template or value in options[key].get("choices", [value]), f"{item['name']}: {key}"


def test_all_lists_are_applied() -> None:
    """The playbook has a task for each list, and the variables of both infra collections are complete."""
    assert {name for name in VARIABLES if name.startswith("controller_")} == set(LISTS)
    tasks = yaml.safe_load((AWX / "configure.yml").read_text())[0]["tasks"]
    applied = [task for group in tasks for task in group.get("block", []) if task.get("loop", "")]
    modules = {f"awx.awx.{module}": "{{ " + name + " }}" for name, (module, _endpoint) in LISTS.items()}
    for module, loop in modules.items():
        assert any(task.get(module) == "{{ item }}" and task["loop"] == loop for task in applied), module


@pytest.mark.parametrize("name", ["controller_notifications", "controller_inventories"])
def test_what_the_infra_roles_need(name: str) -> None:
    """Their filters turn an absent key into text on ansible-core 2.19."""
    key = {"controller_notifications": "messages", "controller_inventories": "variables"}[name]
    assert all(key in item for item in VARIABLES[name])


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template["playbook"])
def test_playbook_exists(template: dict[str, Any]) -> None:
    assert (PROJECT / template["playbook"]).is_file()


def test_inventory_and_requirements() -> None:
    (source,) = VARIABLES["controller_inventory_sources"]
    inventory = yaml.safe_load((PROJECT / source["source_path"]).read_text())
    assert inventory["plugin"] == "hyperfleet.pull_secret.hyperfleet_clusters"
    # An inventory update does not set this variable, and a plugin of requirements.yml would be unknown.
    assert source["source_vars"]["ANSIBLE_COLLECTIONS_PATH"].startswith("/runner/requirements_collections:")
    # Galaxy does not have this collection, and the update would fail.
    requirements = yaml.safe_load((PROJECT / "collections" / "requirements.yml").read_text())
    assert requirements["collections"] == []
    # Without this, AWX skips requirements.yml and the update is successful.
    assert all(item["galaxy_credentials"] for item in VARIABLES["controller_organizations"])
    assert VARIABLES["awx_galaxy_credentials"]


@pytest.mark.parametrize(("playbook", "question"), QUESTIONS)
def test_question_is_a_variable(playbook: str, question: dict[str, Any]) -> None:
    """A survey asks for a variable of the collection's playbook or role, with the choices that it has."""
    name, role = WORK[playbook]
    spec = role_variables(role).get(question["variable"])
    assert spec or question["variable"] in playbook_variables(name)
    if question["type"] == "multiplechoice":
        choices = spec or OPTIONS[question["variable"]].spec or {}
        assert question["choices"] == choices["choices"]


@pytest.mark.parametrize("schedule", VARIABLES["controller_schedules"], ids=lambda item: item["name"])
def test_schedules_begin_when_they_are_enabled(schedule: dict[str, Any]) -> None:
    begin = re.match(r"DTSTART;TZID=UTC:(\d{8})T", schedule["rrule"])
    assert begin is not None
    assert begin[1] < "20260201"


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template["playbook"])
def test_localhost_is_neither_sliced_nor_limited(template: dict[str, Any]) -> None:
    """Each slice of a play on localhost does everything, and with a limit nothing is done, successfully."""
    if template["playbook"] == "playbooks/provision.yml":
        assert not {"ask_limit_on_launch", "ask_job_slice_count_on_launch", "job_slice_count"} & set(template)
    else:
        assert template["ask_limit_on_launch"]


def test_environment_of_credentials_is_read() -> None:
    names = {name for injectors in INJECTORS for name in injectors.get("env", {})}
    assert names == {
        "HYPERFLEET_API_URL",
        "HYPERFLEET_TOKEN_FILE",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "KUBECONFIG",
    }
    for name in names:
        assert re.search(rf'environ[^\n]*"{name}"|_VARIABLE = "{name}"', CODE), name


def test_variables_of_credentials_are_read() -> None:
    variables = set(CLUSTER_KEYS).union(*(role_variables(role) for _playbook, role in WORK.values()))
    for injectors in INJECTORS:
        assert set(injectors.get("extra_vars", {})) <= variables


def test_variables_of_the_type_that_awx_has_are_read() -> None:
    names = re.findall(r"K8S_AUTH_(\w+)", (AWX / "hyperfleet_awx.yml").read_text())
    read = {ending for endings in k8s_auth.VARIABLES.values() for ending in endings}
    assert len(names) == 4
    assert set(names) <= read


@pytest.mark.parametrize("credential", VARIABLES["controller_credentials"], ids=lambda item: item["name"])
def test_credential_has_no_value(credential: dict[str, Any]) -> None:
    """Values come from the environment, all inputs of a type together; without it the inputs are not touched."""
    if "inputs" in credential:
        assert re.fullmatch(
            r"{{ lookup\('ansible\.builtin\.env', 'AWX_CREDENTIAL_\w+'\) \| length > 0 }}",
            credential["update_secrets"],
        )
        entries = TYPES[credential["credential_type"]]["inputs"]["fields"]
        lookup = r"lookup\('ansible\.builtin\.env', 'AWX_CREDENTIAL_\w+'\)"
        pairs = ", ".join(f"'{entry['id']}': {lookup}" for entry in entries)
        assert re.fullmatch(rf"{{{{ {{{pairs}}}\s+if {lookup} else {{}} }}}}", credential["inputs"])
