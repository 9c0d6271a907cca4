# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The playbook and its role, run by Ansible: table, check mode, a guest that fails, no value anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.guests.integration.world import World
from tests.support.docker_configs import auth, docker_config
from tests.support.processes import Ansible
from tests.support.provision import recap

PLAYBOOK = "hyperfleet.pull_secret.guest_cluster"


def _variables(world: World, tmp_path: Path) -> dict[str, Any]:
    return {
        "guest_cluster_source": {"kubernetes": {"namespace": world.source, "name": "source-pull-secret"}},
        "guest_cluster_namespace_selector": f"delivery={world.label}",
        "guest_cluster_set_name": world.set_name,
        "guest_cluster_kubernetes": {
            "kubeconfig": str(world.api.kubeconfig(tmp_path / "kubeconfig")),
            "context": "mgmt-1",
        },
        # As a survey's empty fields.
        "guest_cluster_prune_limit": "",
        "guest_cluster_policy": None,
    }


def test_from_check_mode_to_a_guest_that_fails(world: World, ansible: Ansible, tmp_path: Path) -> None:
    variables = _variables(world, tmp_path)
    namespace, name = world.guest()
    checked = ansible.playbook(PLAYBOOK, variables, flags=["--check", "--diff"])
    assert checked.code == 0, checked.output
    assert "1 guest: 1 waiting, 1 would change, 0 would fail" in checked.stdout
    assert world.api.writes() == []
    done = ansible.playbook(PLAYBOOK, variables, flags=["-vvvv", "--diff"])
    assert done.code == 0, done.output
    assert f"{namespace}/{name}  waiting  created secret, created clusterresourceset  changed" in done.stdout
    assert world.delivered(namespace) == docker_config(registry_example_com="one")
    world.apply(namespace, name)
    unlabelled = "/".join(world.guest(labels={}))
    failed = ansible.playbook(PLAYBOOK, variables)
    assert failed.code != 0
    assert recap(failed)["changed"] == 0
    assert "2 guests: 1 delivered, 0 changed, 1 failed" in failed.stdout
    assert f"{unlabelled} failed: " in failed.stdout
    for finished in (checked, done, failed):
        assert auth("one") not in finished.output


@pytest.mark.nightly
def test_a_misspelt_variable_is_refused(world: World, ansible: Ansible, tmp_path: Path) -> None:
    variables = {**_variables(world, tmp_path), "guest_cluster_retries": {}}
    done = ansible.playbook(PLAYBOOK, variables)
    assert done.code != 0
    assert "guest_cluster_retries: unknown variable; did you mean guest_cluster_retry?" in done.output
    assert world.api.writes() == []
