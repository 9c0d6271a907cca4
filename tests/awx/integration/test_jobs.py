# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The project's playbooks as AWX's jobs: slices of an inventory of the plugin, and a relaunch on failed hosts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.awx import jobs
from tests.lab.session import STAND_IN
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.secret_manager.lab import SecretManagerLab
from tests.support.docker_configs import docker_config
from tests.support.kubernetes.running import api_server
from tests.support.processes import Ansible, Finished
from tests.support.provision import FAST, World
from tests.support.secret_manager import PROJECT

CLUSTERS = [f"cls-{number}" for number in range(5)]
ENVIRONMENT = {"ANSIBLE_INVENTORY_UNPARSED_FAILED": "True", "ANSIBLE_FORCE_COLOR": "False"}


STATUS: dict[str, Any] = {
    "adapter": "placement",
    "observed_generation": 1,
    "conditions": [
        {"type": kind, "status": "True", "reason": "Tested", "message": "reported by a test"}
        for kind in ("Applied", "Available", "Health")
    ],
}


@pytest.fixture
def world(
    secret_manager: SecretManagerLab, hyperfleet: HyperFleetLab, ansible: Ansible, tmp_path: Path
) -> Iterator[World]:
    """Five placed clusters; the namespace of ``cls-3`` does not exist."""
    with api_server(STAND_IN) as api:
        world = World(api, secret_manager, hyperfleet, ansible, tmp_path)
        config = json.dumps(docker_config(quay_io="one"))
        hyperfleet.store.seed(
            {"id": name, "spec": {"gcp": {"projectId": PROJECT}, "pullSecret": {"data": config}}}
            for name in CLUSTERS
        )
        for name in CLUSTERS:
            data = {"namespace": f"clusters-{name}", "managementCluster": "mgmt-1"}
            code, answer = hyperfleet.ask("PUT", f"/clusters/{name}/statuses", {**STATUS, "data": data})
            assert code == 201, answer
            if name != "cls-3":
                api.namespace(f"clusters-{name}")
        yield world


def inventory_of(world: World) -> dict[str, Any]:
    """What an update of the inventory source stores."""
    source = str(jobs.PROJECT / "inventory" / "hyperfleet_clusters.yml")
    listed = world.ansible.start_command("ansible-inventory", "-i", source, "--list", "--export").wait()
    assert listed.code == 0, listed.output
    return jobs.stored(json.loads(listed.stdout))


def run(
    world: World,
    name: str,
    inventory: Any,
    limit: tuple[str, ...] = (),
    playbook: str = "provision_clusters",
    **variables: Any,
) -> Finished:
    flags = jobs.job_flags(world.fleet.parent / name, inventory, limit)
    playbook = str(jobs.PROJECT / "playbooks" / f"{playbook}.yml")
    return world.ansible.playbook(
        playbook, {**FAST, **variables}, flags=flags, env=ENVIRONMENT, cwd=jobs.PROJECT
    )


def failed_hosts(finished: Finished) -> list[str]:
    """The hosts for which AWX counts a failure."""
    recap = finished.stdout.split("PLAY RECAP", 1)[1]
    return re.findall(r"^(\S+) +:.* (?:failed|unreachable)=[1-9]", recap, re.MULTILINE)


def test_slices_are_disjoint_and_complete_and_a_relaunch_handles_the_failed_cluster(world: World) -> None:
    inventory = inventory_of(world)
    assert inventory["hyperfleet_clusters"]["hosts"] == CLUSTERS
    clusters: list[str] = []
    for number, cut in enumerate(jobs.slices(inventory, 2)):
        finished = run(world, f"slice-{number}", cut)
        (report,) = finished.of("pull_secret_report")
        clusters += [row["cluster"] for row in report["clusters"]]
        assert failed_hosts(finished) == (["cls-3"] if number else []), finished.output
        assert finished.code == (2 if number else 0)
    assert clusters == ["cls-0", "cls-2", "cls-4", "cls-1", "cls-3"]
    assert [name for name in CLUSTERS if world.placed(name) is None] == ["cls-3"]
    message = finished.of("fail")[-1]["msg"]
    assert "namespace clusters-cls-3 does not exist" in message
    # The cause is removed, and the job is relaunched on the failed hosts.
    world.api.namespace("clusters-cls-3")
    finished = run(world, "relaunch", inventory, ("cls-3",))
    (report,) = finished.of("pull_secret_report")
    assert [row["cluster"] for row in report["clusters"]] == ["cls-3"]
    assert (finished.code, failed_hosts(finished)) == (0, [])
    assert world.placed("cls-3") is not None


@pytest.mark.nightly
def test_a_host_that_is_no_cluster_fails_alone(world: World) -> None:
    """Somebody has added it to the inventory in AWX. The others have a pull secret from a credential."""
    inventory = inventory_of(world)
    del inventory["_meta"]["hostvars"]["cls-1"]["hyperfleet_cluster"]
    config = docker_config(registry_example_com="two")
    file = world.fleet / "credential"
    file.write_text(json.dumps(config))
    finished = run(world, "no-cluster", inventory, ("cls-0", "cls-1"), source={"file": str(file)}, state="")
    assert failed_hosts(finished) == ["cls-1"]
    assert "cluster_id" in finished.of("fail")[-1]["msg"]
    assert world.placed_config("cls-0") == config


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"provision_retri": {}}, "provision_retri"),
        pytest.param(
            {"state": "{{ nowhere }}"}, "the undefined variable 'nowhere'", marks=pytest.mark.nightly
        ),
    ],
)
def test_all_hosts_fail_if_the_batch_does_not_run(
    world: World, variables: dict[str, Any], message: str
) -> None:
    finished = run(world, "no-batch", inventory_of(world), **variables)
    assert failed_hosts(finished) == CLUSTERS
    assert message in finished.of("fail")[-1]["msg"]
    assert world.placed("cls-0") is None


def test_hosted_clusters_fail_on_their_hosts(world: World) -> None:
    """None of them has a control plane."""
    world.hyperfleet.store.seed([{"id": "cls-9"}])
    finished = run(
        world,
        "hosted",
        inventory_of(world),
        ("cls-0", "cls-9"),
        "hosted_clusters",
        syncer_image="registry.example.com/syncer:1",
    )
    assert failed_hosts(finished) == ["cls-0", "cls-9"]
    reasons = [result["msg"] for result in finished.of("fail")[-2:]]
    assert "HostedControlPlane" in reasons[0] or "hostedcontrolplanes" in reasons[0]
    assert "placement" in reasons[1]


def test_a_job_without_a_cluster_is_no_success(world: World) -> None:
    finished = run(world, "empty", {"_meta": {"hostvars": {}}, "all": {"hosts": []}})
    assert finished.code != 0
    assert "no host of this job is in the group hyperfleet_clusters" in finished.output
