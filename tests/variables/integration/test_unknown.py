# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Unknown variables and wrong values are refused before anything is read. Foreign variables are not refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import names
from tests.support.nightly import some
from tests.variables.integration.world import CANARY, World

# Variables of AWX, and an inventory's variables for other roles.
OTHERS: dict[str, Any] = {
    "awx_job_id": 7,
    "tower_job_id": 7,
    "node_exporter_version": "1.8.2",
    "node_labels": {"a": "b"},
    "adapter_name": "other",
    "adapter_image": "other:1",
    "provision_user": "other",
    "hosted_cluster_name": "other",
    "clusters_by_region": [],
}


@pytest.mark.parametrize(
    ("playbook", "name", "meant"),
    some(
        [
            ("provision", "provison_retry", "provision_retry"),
            ("provision", "provision_retries", "provision_retry"),
            ("provision", "provision_retry_tries", "provision_retry"),
            ("provision", "manegement_context", "management_context"),
            ("provision", "adpot", "adopt"),
            ("provision", "source.file", "source: {file: ...}"),
            ("provision", "gcp_project", "gcp_project_id"),
            ("provision", "project", "gcp_project_id"),
            ("provision", "restore", "restore_version"),
            ("provision", "kubeconfig", "management_kubeconfig"),
            ("provision", "digest_key", "provision_digest_key"),
            ("hosted_cluster", "hosted_cluster_api_time_out", "hosted_cluster_api_timeout"),
            ("hosted_cluster", "managment_kubeconfig", "management_kubeconfig"),
            ("adapter", "clusters_ids", "cluster_ids"),
            ("adapter", "adapter_overides", "adapter_overrides"),
            ("reconcile", "adapter_api_timout", "adapter_api_timeout"),
            ("job", "job_kubernets", "job_kubernetes"),
            ("job", "job_timeout", "job_retry"),
            ("node", "node_host", "node_hosts"),
            ("node", "node_sauce", "node_source"),
        ],
        ("provision", "adpot", "adopt"),
    ),
)
def test_an_unknown_extra_variable_is_refused(world: World, playbook: str, name: str, meant: str) -> None:
    finished = world.run(playbook, {name: CANARY})
    assert finished.code != 0
    assert f"{name}: unknown variable; did you mean {meant}?" in str(finished.result["msg"])
    assert CANARY not in finished.output
    assert world.nothing_was_reached()


@pytest.mark.nightly
def test_a_secret_in_the_place_of_a_plays_own_list_of_names_is_not_shown(world: World) -> None:
    finished = world.run("job", {"job_variables": CANARY, "job_gcp": []})
    assert finished.code != 0
    assert finished.result["msg"] == "playbook must be a list of names of variables"
    assert CANARY not in finished.output


@pytest.mark.nightly
def test_what_is_neither_true_nor_false_is_not_shown(world: World) -> None:
    finished = world.run("reconcile", {"adapter_all": CANARY})
    assert finished.code != 0
    assert "adapter_all" in str(finished.result["msg"])
    assert CANARY not in finished.output
    assert world.nothing_was_reached()


@pytest.mark.parametrize("wrong", [CANARY, [3, None], [[3]], {"a": 1}, True, 1.5, "3\n"])
@pytest.mark.nightly
def test_an_invalid_number_of_nodes_is_refused_by_name(world: World, wrong: Any) -> None:
    finished = world.run("node", {"node_serial": wrong})
    assert finished.code != 0
    assert str(finished.result["msg"]).startswith("node_serial must be a number of nodes")
    assert CANARY not in finished.output


@pytest.mark.parametrize(
    ("playbook", "name"),
    some(
        [("provision", "provision_retries"), ("node", "node_sources"), ("provision", "managment_context")],
        ("provision", "managment_context"),
    ),
)
@pytest.mark.nightly
def test_a_misspelt_variable_of_an_inventory_is_refused(world: World, playbook: str, name: str) -> None:
    finished = world.run(playbook, {}, inventory={name: CANARY})
    assert finished.code != 0
    assert f"{name}: unknown variable; did you mean " in str(finished.result["msg"])
    assert CANARY not in finished.output
    assert world.nothing_was_reached()


@pytest.mark.parametrize("form", some(["import_role", "include_role", "roles"], "include_role"))
@pytest.mark.nightly
def test_an_unknown_variable_where_a_role_is_used_is_refused(world: World, form: str) -> None:
    role = "hyperfleet.pull_secret.provision"
    given = {"provision_clusters": [], "provision_show": False}
    task = {f"ansible.builtin.{form}": {"name": role}, "vars": given}
    body = {"roles": [{"role": role, "vars": given}]} if form == "roles" else {"tasks": [task]}
    finished = world.ansible.playbook([{"hosts": "localhost", "gather_facts": False, **body}])
    assert finished.code != 0
    assert "provision_show: unknown variable; did you mean provision_show_table?" in finished.result["msg"]


@pytest.mark.parametrize(
    ("playbook", "name", "value", "said"),
    some(
        [
            ("provision", "provision_show_table", "maybe", "must be true or false"),
            ("provision", "provision_concurrency", CANARY, "must be a whole number"),
            ("provision", "provision_retry", CANARY, "must be a mapping"),
            ("hosted_cluster", "hosted_cluster_show_table", CANARY, "must be true or false"),
            ("node", "node_restart", CANARY, "must be one of on_change, never"),
            ("node", "node_window", CANARY, "must be a number"),
            ("adapter", "adapter_all", CANARY, "must be true or false"),
            ("reconcile", "adapter_timeout", [CANARY], "must be a number"),
            ("provision", "provision_concurrency", 0, "must be a number from 1 to 1000"),
            ("provision", "provision_retry", {"tries": 0, "delay": 1}, ".tries must be a number from 1"),
            ("provision", "provision_retry", {"try": CANARY}, " has the key 'try', which is not allowed"),
            ("provision", "provision_gcp", {"endpont": CANARY}, " has the key 'endpont'"),
            ("hosted_cluster", "hosted_cluster_retry", {"delay": -1}, ".delay must be a number of seconds"),
            ("node", "node_attempts", "101", "must be a number from 1 to 100"),
            ("adapter", "adapter_run", CANARY * 300, "must be a path of at most 4096 bytes"),
            ("reconcile", "adapter_timeout", "{{ 0 - 1 }}", "must be a number of seconds above 0"),
            ("inspect", "provision_timeout", -1, "must be a number of seconds above 0"),
            ("inspect", "provision_show_table", "maybe", "must be true or false"),
            ("job", "job_retry", {"tries": 0}, ".tries must be a number from 1 to 1000"),
        ],
        ("provision", "provision_show_table", "maybe", "must be true or false"),
        ("inspect", "provision_timeout", -1, "must be a number of seconds above 0"),
        ("job", "job_retry", {"tries": 0}, ".tries must be a number from 1 to 1000"),
    ),
)
@pytest.mark.nightly
def test_a_wrong_value_is_found_before_the_first_write(
    world: World, playbook: str, name: str, value: Any, said: str
) -> None:
    finished = world.run(playbook, {name: value})
    assert finished.code != 0
    said = said if said.startswith((".", " ")) else f" {said}"
    assert f"{name}{said}" in finished.result["msg"]
    assert finished.tasks[-1].action.endswith("check_variables")
    assert CANARY not in finished.output
    assert world.nothing_was_reached()


@pytest.mark.parametrize("playbook", names.PLAYBOOKS)
@pytest.mark.nightly
def test_foreign_variables_are_not_refused(world: World, playbook: str) -> None:
    """A variable that another variable reads is not refused either, with any name."""
    read = {"provision_timeouts": 20, "node_timeouts": 20, "node_secret_file": "a"}
    extra = {
        "awx_job_id": 7,
        "tower_job_id": 7,
        **read,
        "mine": "{{ provision_timeouts }} {{ node_timeouts }} {{ node_secret_file }}",
    }
    finished = world.run(playbook, extra, inventory=OTHERS)
    assert "unknown variable" not in finished.output
    assert finished.tasks[0].status == "ok"
    assert finished.tasks[0].action.endswith("check_variables")
    assert not world.nothing_was_reached()


@pytest.mark.nightly
def test_a_misspelt_variable_of_an_imported_playbook_is_refused(world: World) -> None:
    name = "hyperfleet.pull_secret.provision"
    finished = world.ansible.playbook(
        [{"ansible.builtin.import_playbook": name, "vars": {"managment_context": CANARY}}],
        world.usual["provision"],
    )
    assert finished.code != 0
    assert "managment_context: unknown variable; did you mean management_context?" in finished.result["msg"]
    assert world.nothing_was_reached()


@pytest.mark.nightly
def test_what_only_looks_like_a_variable_is_left_alone(world: World) -> None:
    """Such a variable is in an inventory or a play, or is registered by a task, which may differ in one letter."""
    tasks: list[dict[str, Any]] = [
        {"ansible.builtin.command": "true", "register": name} for name in ("provision_retrys", "node_status")
    ]
    role = {"name": "hyperfleet.pull_secret.provision"}
    tasks.append({"ansible.builtin.import_role": role, "vars": {"provision_clusters": []}})
    variables = {"provision_registry": "quay.io", "hosted_cluster_role": "a", "node_status": "up"}
    play = {"hosts": "localhost", "gather_facts": False, "vars": variables, "tasks": tasks}
    finished = world.ansible.playbook([play])
    assert finished.code == 0, finished.stdout


@pytest.mark.parametrize(
    ("playbook", "extra"),
    some(
        [
            ("provision", {"cluster_ids": ["cls-1"]}),
            ("adapter", {"cluster_id": "cls-1"}),
            ("hosted_cluster", {"cluster_ids": ["cls-1"], "clusters_dir": "fleet/"}),
        ],
        ("adapter", {"cluster_id": "cls-1"}),
    ),
)
@pytest.mark.nightly
def test_one_file_of_variables_serves_several_playbooks(
    world: World, playbook: str, extra: dict[str, Any]
) -> None:
    finished = world.run(playbook, extra)
    assert "unknown variable" not in finished.output
    assert not world.nothing_was_reached()


@pytest.mark.parametrize(
    "name",
    ["cluster_id", "cluster_ids", "clusters", "clusters_dir", "events"],
)
@pytest.mark.nightly
def test_a_sweep_over_all_clusters_refuses_a_variable_that_names_some(world: World, name: str) -> None:
    value = [{"id": "cls-1"}] if name == "events" else ["cls-1"]
    finished = world.run("reconcile", {name: value})
    assert finished.code != 0
    assert finished.result["msg"].startswith(f"{name}: reconcile sweeps over all clusters")
    assert world.nothing_was_reached()


@pytest.mark.parametrize("value", [False, "", None])
@pytest.mark.nightly
def test_a_sweep_over_no_clusters_is_no_success(world: World, value: Any) -> None:
    """The same file of variables may also be for the playbook adapter."""
    finished = world.run("reconcile", {"adapter_all": value})
    assert finished.code != 0
    assert finished.result["msg"].startswith("adapter_all: reconcile always sweeps over all clusters")
    assert world.nothing_was_reached()
    assert world.run("reconcile", {}, inventory={"adapter_all": value}).code == 0
    assert not world.nothing_was_reached()


@pytest.mark.parametrize(
    ("name", "value"),
    [("node_hosts", "node-1"), ("node_serial", 1), ("node_max_fail_percentage", 20)],
)
@pytest.mark.nightly
def test_an_inventory_cannot_choose_the_nodes(world: World, name: str, value: Any) -> None:
    finished = world.run("node", {}, inventory={name: value})
    assert finished.code != 0
    assert f"{name}: cannot be set in the inventory" in finished.result["msg"]
    assert world.nothing_was_reached()
    assert world.run("node", {name: value}, inventory={name: value}).code == 0
