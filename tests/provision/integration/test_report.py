# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The report module alone, over results as the two modules register them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.processes import Ansible, Finished

CLUSTERS = [{"cluster_id": "cls-1"}, {"cluster_id": "cls-2"}]
STORED = {"targets": [{"id": "cls-1", "version": "7"}, {"id": "cls-2", "version": "1", "changed": True}]}
PLACED = {
    "targets": [{"id": "cls-1"}, {"id": "cls-2", "failed": True, "kind": "dependency", "msg": "none there"}]
}


def report(ansible: Ansible, variables: dict[str, Any] | None = None, **arguments: Any) -> Finished:
    task = {"clusters": "fleet", "secret_manager": "stored", "management": "placed", **arguments}
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "vars": {
            "fleet": "{{ some }}",
            "some": CLUSTERS,
            "stored": STORED,
            "placed": PLACED,
            **(variables or {}),
        },
        "tasks": [{"hyperfleet.pull_secret.pull_secret_report": task}],
    }
    return ansible.playbook([play])


@pytest.mark.nightly
def test_results_are_taken_by_the_names_they_were_registered_in(ansible: Ansible) -> None:
    finished = report(ansible)
    assert finished.code == 0, finished.output
    result = finished.result
    assert [(row["cluster"], row["version"], row["kind"]) for row in result["clusters"]] == [
        ("cls-1", "7", None),
        ("cls-2", "1", "dependency"),
    ]
    assert result["summary"] == {"total": 2, "changed": 0, "failed": 1}
    assert result["msg"] == "1 of 2 clusters failed: cls-2: none there"
    assert "cls-2 failed: none there" in finished.stdout


@pytest.mark.parametrize(
    ("option", "name", "what"),
    [
        ("clusters", "nothing", "must be the name of a variable"),
        ("clusters", {"inline": "example-password"}, "must be a string"),
        ("secret_manager", "nothing", "must be the name of a registered result"),
        ("management", "some", "must be the name of a registered result"),
    ],
)
@pytest.mark.nightly
def test_what_is_no_name_is_told(ansible: Ansible, option: str, name: Any, what: str) -> None:
    finished = report(ansible, **{option: name})
    assert finished.code != 0
    assert finished.result["msg"] == f"{option} {what}"
    assert "example-password" not in finished.output + str(finished.tasks)


@pytest.mark.nightly
def test_the_table_can_be_left_out(ansible: Ansible) -> None:
    assert "CLUSTER" in report(ansible).stdout
    assert "CLUSTER" not in report(ansible, show=False).stdout


@pytest.mark.nightly
def test_what_is_no_list_of_clusters_is_told(ansible: Ansible) -> None:
    finished = report(ansible, clusters="stored")
    assert finished.code != 0
    assert finished.result["msg"] == "the clusters must be a list of mappings, not a mapping"


@pytest.mark.parametrize(
    ("template", "why"),
    [("{{ nope }}", "refers to the undefined variable 'nope'"), ("{{ 1 / 0 }}", "cannot be evaluated (")],
)
@pytest.mark.nightly
def test_a_template_that_fails_is_said_to_by_its_variables_name(
    ansible: Ansible, template: str, why: str
) -> None:
    finished = report(ansible, {"some": [{"cluster_id": "cls-1", "labels": {"a": template}}]})
    assert finished.code != 0
    assert finished.result["msg"].startswith(f"fleet: it {why}")
