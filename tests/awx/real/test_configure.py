# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`configure.yml` with the real modules of awx.awx: it creates, then changes nothing, then removes."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.awx.data import AWX, LISTS, PREFIX, VARIABLES
from tests.lab.awx import AwxLab
from tests.tools import env

pytestmark = [pytest.mark.real, pytest.mark.alone]

URL = "https://hyperfleet.example.com"
TOKEN = "example-token-of-the-environment"
# A module of awx.awx takes a second, so that the gate tries few.
FEW = ("controller_organizations", "controller_credential_types")
PLAYBOOKS = [template["playbook"] for template in VARIABLES["controller_templates"]]


@pytest.fixture
def lab() -> Iterator[AwxLab]:
    with AwxLab(PLAYBOOKS) as lab:
        yield lab


VALUES = {"AWX_CREDENTIAL_API_URL": URL, "AWX_CREDENTIAL_API_TOKEN": TOKEN}


def configure(lab: AwxLab, directory: Path, *options: str, **values: str) -> int:
    """Run the playbook; return how many tasks changed something."""
    # The package `ansible` of this environment contains awx.awx.
    program = env.make("bench", sys.executable).absolute() / "bin" / "ansible-playbook"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "LANG": "C.UTF-8",
        "ANSIBLE_PIPELINING": "1",
        "ANSIBLE_INJECT_FACT_VARS": "0",
        **values,
        **lab.environment,
    }
    command = [str(program), "-v", str(AWX / "configure.yml"), *options]
    run = subprocess.run(
        command, cwd=directory, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert TOKEN not in run.stdout + run.stderr
    recap = re.search(r"changed=(\d+) +unreachable=0 +failed=0", run.stdout)
    assert recap, run.stdout
    return int(recap[1])


def names(lab: AwxLab, endpoint: str) -> set[str]:
    return {record.values["name"] for record in lab.api.select(endpoint)}


def create(lab: AwxLab, endpoint: str, **values: Any) -> int:
    status, document = lab.ask("POST", f"/{endpoint}/", values)
    assert status == 201, document
    number: int = document["id"]
    return number


@pytest.mark.parametrize(
    "kept", [pytest.param(FEW, id="few"), pytest.param(tuple(LISTS), id="all", marks=pytest.mark.nightly)]
)
def test_story(lab: AwxLab, tmp_path: Path, kept: tuple[str, ...]) -> None:
    empty: dict[str, list[Any]] = {name: [] for name in LISTS if name not in kept}
    options = ("-e", json.dumps(empty))
    other = create(lab, "organizations", name="Other")
    create(lab, "inventories", name="Clusters of others", organization=other)
    foreign = copy.deepcopy(lab.api.records)

    assert configure(lab, tmp_path, *options, **VALUES) == len(kept)
    for name in kept:
        assert {item["name"] for item in VARIABLES[name]} <= names(lab, LISTS[name][1])
    if not empty:
        check_links(lab)
        # The user fills in a value in AWX.
        kubeconfig = lab.api.select("credentials", name=f"{PREFIX} management clusters")[0]
        assert kubeconfig.values["inputs"] == {}
        kubeconfig.values["inputs"] = {"kubeconfig": "apiVersion: v1"}
    existing = copy.deepcopy(lab.api.records)
    assert configure(lab, tmp_path, *options) == 0
    assert lab.api.records == existing

    # An object of others keeps the organization.
    organization = lab.api.select("organizations", name=PREFIX)[0]
    team = create(lab, "teams", name="Operators", organization=organization.number)
    assert configure(lab, tmp_path, *options, "-e", "state=absent") > 0
    assert set(lab.api.records) == {*foreign, organization.number, team}

    assert lab.ask("DELETE", f"/teams/{team}/") == (204, None)
    nothing: dict[str, list[Any]] = {name: [] for name in LISTS if name != "controller_organizations"}
    assert configure(lab, tmp_path, "-e", "state=absent", "-e", json.dumps(nothing)) == 1
    assert lab.api.records == foreign


def check_links(lab: AwxLab) -> None:
    """What belongs together does; secrets are stored only of the environment."""
    organization = lab.api.select("organizations", name=PREFIX)[0]
    galaxy = lab.api.select("credentials", name="Ansible Galaxy")[0]
    assert organization.links["galaxy_credentials"] == [galaxy.number]
    for template in VARIABLES["controller_templates"]:
        record = lab.api.select("job_templates", name=template["name"])[0]
        credentials = [lab.api.records[number].values["name"] for number in record.links["credentials"]]
        assert sorted(credentials) == sorted(template["credentials"])
        assert (record.survey or {}).keys() == template.get("survey_spec", {}).keys()
    nodes = {record.values["identifier"]: record for record in lab.api.select("workflow_job_template_nodes")}
    path = ["fleet"]
    while following := nodes[path[-1]].links.get("success_nodes"):
        path.append(lab.api.records[following[0]].values["identifier"])
    (workflow,) = VARIABLES["controller_workflows"]
    assert path == [node["identifier"] for node in workflow["workflow_nodes"]]
    inputs = lab.api.select("credentials", name=f"{PREFIX} API")[0].values["inputs"]
    assert inputs == {"url": URL, "token": TOKEN}
    for machine in lab.api.select("credentials", name=f"{PREFIX} nodes"):
        assert machine.values["inputs"] == {}
