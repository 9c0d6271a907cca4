# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A problem of the list of clusters, or of the directory of their files, is reported first, and once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.nightly import some
from tests.support.processes import Finished
from tests.variables.integration.world import CANARY, World

_LISTS = ["provision", "inspect", "hosted_cluster"]
_EMPTY = "the list is empty, so nothing is done"


def run(world: World, playbook: str, extra: dict[str, Any]) -> Finished:
    """Run the playbook with these variables instead of its usual ones, which describe one cluster."""
    return world.run(playbook, {**dict.fromkeys(world.usual[playbook], ""), **extra})


def said_of_empty(finished: Finished) -> list[str]:
    """Return the variables that a warning calls empty. ansible-core 2.18 breaks the lines of a warning."""
    before = " ".join(finished.output.split()).split(f": {_EMPTY}")[:-1]
    return [text.rpartition(" ")[2] for text in before]


@pytest.mark.parametrize("clusters", some([[], "{{ fleet }}"], []))
@pytest.mark.parametrize("playbook", some(_LISTS, "provision"))
def test_an_empty_list_is_one_warning(world: World, playbook: str, clusters: Any) -> None:
    finished = run(world, playbook, {"clusters": clusters, "fleet": []})
    assert finished.code == 0, finished.output
    assert said_of_empty(finished) == ["clusters"]
    assert world.nothing_was_reached()


@pytest.mark.parametrize("given", some([{"provision_clusters": []}, {}], {}))
@pytest.mark.nightly
def test_an_empty_list_of_a_role_is_one_warning(world: World, given: dict[str, Any]) -> None:
    role = {"ansible.builtin.import_role": {"name": "hyperfleet.pull_secret.provision"}, "vars": given}
    finished = world.ansible.playbook([{"hosts": "localhost", "gather_facts": False, "tasks": [role]}])
    assert said_of_empty(finished) == ["provision_clusters"]
    assert world.nothing_was_reached()


@pytest.mark.parametrize(
    ("playbook", "extra"),
    some(
        [
            ("inspect", {"clusters": [], "inspect_unlisted": True, "inspect_projects": ["customer-1"]}),
            ("inspect", {"cluster_id": "cls-1", "inspect_projects": [], "inspect_namespaces": []}),
            ("reconcile", {"clusters": []}),
            ("adapter", {"clusters": []}),
        ],
        ("inspect", {"clusters": [], "inspect_unlisted": True, "inspect_projects": ["customer-1"]}),
    ),
)
@pytest.mark.nightly
def test_an_empty_list_that_is_normal_is_no_warning(
    world: World, playbook: str, extra: dict[str, Any]
) -> None:
    assert said_of_empty(run(world, playbook, extra)) == []


@pytest.mark.parametrize("clusters", some([{}, {"a": CANARY}, CANARY, 5, False], {}))
@pytest.mark.parametrize("playbook", some(_LISTS, "inspect"))
def test_what_is_no_list_is_said_first(world: World, playbook: str, clusters: Any) -> None:
    finished = run(world, playbook, {"clusters": clusters})
    assert finished.code != 0
    assert finished.result["msg"].startswith("clusters must be a list of mappings, not ")
    assert len(finished.tasks) == 1
    assert CANARY not in finished.output
    assert world.nothing_was_reached()


@pytest.mark.nightly
def test_what_is_no_list_of_a_role_is_said_first(world: World) -> None:
    """Ansible's own check does not run before it."""
    role = {"name": "hyperfleet.pull_secret.hosted_cluster", "rolespec_validate": False}
    task = {"ansible.builtin.import_role": role, "vars": {"hosted_cluster_clusters": {"a": CANARY}}}
    finished = world.ansible.playbook([{"hosts": "localhost", "gather_facts": False, "tasks": [task]}])
    assert finished.code != 0
    assert finished.result["msg"] == "hosted_cluster_clusters must be a list of mappings, not a mapping"
    assert len(finished.tasks) == 1
    assert CANARY not in finished.output


@pytest.mark.parametrize(
    ("directory", "said"),
    some(
        [
            ("nope", "clusters_dir: nope does not exist, or is neither a file nor a directory"),
            ("empty", "clusters_dir: empty has no cluster files (*.json, *.yaml, *.yml)"),
            ([CANARY], "clusters_dir must be a string"),
        ],
        ("nope", "clusters_dir: nope does not exist, or is neither a file nor a directory"),
    ),
)
@pytest.mark.parametrize("playbook", some(["provision", "inspect"], "provision"))
@pytest.mark.nightly
def test_a_directory_without_clusters_is_said_first(
    world: World, playbook: str, directory: Any, said: str
) -> None:
    world.ansible.directory.joinpath("empty").mkdir()
    finished = run(world, playbook, {"clusters_dir": directory})
    assert finished.code != 0
    assert finished.result["msg"] == said
    assert len(finished.tasks) == 1
    assert CANARY not in finished.output
    assert world.nothing_was_reached()
