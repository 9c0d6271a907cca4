# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs in pods of the execution environment, as AWX runs them in a container group, with a real kubelet."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from kubernetes import client, config
from kubernetes.stream import stream
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.awx.integration.test_jobs import STATUS
from tests.lab.awx import jobs
from tests.lab.supervisor import run, wait_until
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubernetes.hypershift import CRD, CRDS, hosted_control_plane, serve_hosted_control_planes
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.docker_configs import KEY, TYPE, docker_config, encoded, held
from tests.support.kubernetes.world import Admin, path
from tests.support.processes import Ansible
from tests.support.secret_manager import PROJECT, payloads
from tests.tools import env

if TYPE_CHECKING:
    from tests.lab.nodes.cluster import ClusterLab

pytestmark = pytest.mark.real("nodes")

CLUSTERS = ["cls-awx-0", HOSTED := "cls-awx-1", "cls-awx-2"]
CONFIG, TENANT = docker_config(quay_io="one"), docker_config(registry_example_com="tenant")
DEFINITION = yaml.safe_load((env.ROOT / "execution-environment.yml").read_text())["dependencies"]
PYTHON, USER = DEFINITION["python_interpreter"]["python_path"], 1000660000  # such a user as OpenShift's
_DIRECTORIES = ("/runner", "/tmp")
# Printed at the end of a job: what the image's Python has, and who owns what the job has written.
_FACTS = f"""
import importlib.metadata, json, os
places = [place for top in {_DIRECTORIES} for place in os.walk(top)]
files = [os.path.join(directory, name) for directory, _directories, names in places for name in names]
print()
print(json.dumps({{
    "user": [os.getuid(), os.getgid()],
    "owners": sorted({{os.lstat(file).st_uid for file in files}}),
    "read_only": bool(os.statvfs("/").f_flag & os.ST_RDONLY),
    "packages": {{package.name: package.version for package in importlib.metadata.distributions()}},
}}))
"""


class AwxWorld:
    """Three clusters of the HyperFleet API, all on one API server, and AWX, which runs jobs in pods there."""

    def __init__(
        self, cluster: ClusterLab, manager: SecretManagerLab, hyperfleet: HyperFleetLab, ansible: Ansible
    ) -> None:
        self.cluster, self.manager, self.ansible = cluster, manager, ansible
        self.admin = Admin(cluster.hosted)
        self.kubeconfig = Path(cluster.hosted.kubeconfig).read_text()
        self.environment = {
            "KUBECONFIG": "/runner/env/kubeconfig",
            "SECRET_MANAGER_EMULATOR_HOST": manager.grpc,
            "HYPERFLEET_API_URL": hyperfleet.url,
        }
        hyperfleet.store.seed(
            {"id": name, "spec": {"gcp": {"projectId": PROJECT}, "pullSecret": {"data": json.dumps(CONFIG)}}}
            for name in CLUSTERS
        )
        for name in CLUSTERS:
            place = self.admin.namespace(f"clusters-{name}")
            data = {"namespace": place, "managementCluster": "hosted"}
            assert hyperfleet.ask("PUT", f"/clusters/{name}/statuses", {**STATUS, "data": data})[0] == 201

    def add_hosted_cluster(self) -> None:
        """Make the API server a hosted cluster that has its own control plane, and write the tenant's secret."""
        plane, kubeconfig = f"clusters-{HOSTED}", encoded(self.kubeconfig)
        serve_hosted_control_planes(self.admin.request)
        self.admin.put_secret(plane, "admin-kubeconfig", {"kubeconfig": kubeconfig})
        self.admin.put_secret(plane, "pull-secret", {KEY: encoded(json.dumps(CONFIG))}, TYPE)
        self.admin.put_secret("kube-system", "additional-pull-secret", {KEY: encoded(json.dumps(TENANT))})
        self.cluster.api.apply(path(plane, "hostedcontrolplanes", HOSTED), hosted_control_plane(HOSTED))

    def inventory(self) -> dict[str, Any]:
        """What an update of the inventory source stores."""
        flags = ("--list", "--export", "-i", jobs.PROJECT / "inventory" / "hyperfleet_clusters.yml")
        listed = self.ansible.start_command("ansible-inventory", *flags, env=self.environment).wait()
        assert listed.code == 0, listed.output
        return jobs.stored(json.loads(listed.stdout))

    def transmitted(self, playbook: str, inventory: Any, **variables: Any) -> str:
        """The job's private data as AWX sends them to the pod, with an inventory script like AWX's."""
        directory = self.ansible.directory / playbook
        jobs.job_flags(directory, inventory)
        settings = directory / "env"
        variables |= json.loads((settings / "extravars").read_text())
        (settings / "extravars").write_text(json.dumps(variables))
        (settings / "envvars").write_text(json.dumps(self.environment))
        (settings / "kubeconfig").write_text(self.kubeconfig)
        script = f"#!/usr/bin/env python3\nprint({json.dumps(inventory)!r})\n"
        (directory / "inventory" / "hosts").write_text(script)
        shutil.copytree(jobs.PROJECT, directory / "project")
        runner = env.make("rulebook", sys.executable).absolute() / "bin" / "ansible-runner"
        play = (f"--playbook=playbooks/{playbook}.yml", "--cmdline=-u root")
        return run(str(runner), "transmit", str(directory), *play)

    def start_pod(self, name: str, image: str) -> None:
        """Create a pod as a container group does, with OpenShift's restrictions and a read-only root."""
        restrictions = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True}
        container = {
            "name": "worker",
            "image": image,
            "args": ["sh", "-c", f'ansible-runner worker --private-data-dir=/runner; {PYTHON} -c "$FACTS"'],
            "stdin": True,
            "env": [{"name": "HOME", "value": "/runner"}, {"name": "FACTS", "value": _FACTS}],
            "securityContext": {**restrictions, "capabilities": {"drop": ["ALL"]}},
            "volumeMounts": [{"name": top[1:], "mountPath": top} for top in _DIRECTORIES],
        }
        self.cluster.run_pod(
            *(name, image),
            node=self.cluster.nodes[0].name,
            containers=[container],
            restartPolicy="Never",
            securityContext={"runAsNonRoot": True, "runAsUser": USER, "runAsGroup": 0, "fsGroup": USER},
            volumes=[{"name": top[1:], "emptyDir": {}} for top in _DIRECTORIES],
        )

    def send(self, name: str, private_data: str) -> None:
        """Write to the standard input of the pod's container, as receptor does."""
        wait_until(lambda: self.cluster.phase(name) == "Running", f"pod {name} runs")
        api = client.CoreV1Api(config.new_client_from_config_dict(json.loads(self.kubeconfig)))
        place = (api.connect_get_namespaced_pod_attach, name, "default")
        connection = stream(*place, stdin=True, stdout=False, _preload_content=False)
        connection.write_stdin(private_data)
        connection.close()

    def documents(self, name: str) -> list[dict[str, Any]]:
        """The log of the pod when it has ended: states and events of the job, and the facts."""
        wait_until(lambda: self.cluster.phase(name) in ("Succeeded", "Failed"), f"pod {name} ended")
        lines = self.cluster.api.log("default", name).splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]


@pytest.fixture
def world(cluster: ClusterLab, ansible: Ansible) -> Iterator[AwxWorld]:
    address = cluster.network.host
    with SecretManagerLab(grpc_address=address) as manager, HyperFleetLab(host=address) as hyperfleet:
        yield AwxWorld(cluster, manager, hyperfleet, ansible)
        cluster.api.delete(f"{CRDS}/{CRD['metadata']['name']}")
        for name in CLUSTERS:
            cluster.api.delete(f"/api/v1/namespaces/clusters-{name}")


def test_jobs_run_in_pods_without_root(world: AwxWorld) -> None:
    """A slice of the main job has the first and the last cluster, and the job of the hosted cluster the other."""
    inventory = world.inventory()
    world.add_hosted_cluster()
    # No node has this label, and so no syncer starts.
    inventory["_meta"]["hostvars"][HOSTED]["hosted_cluster"]["syncer_node_selector"] = {"lab": "no-node"}
    first, second = jobs.slices(inventory, 2)
    sent = {
        "provision": world.transmitted("provision_clusters", first),
        "hosted": world.transmitted("hosted_clusters", second, syncer_image="registry.example.com/syncer:1"),
    }
    image = world.cluster.import_execution_environment(world.cluster.nodes[0])
    for name in sent:
        world.start_pod(name, image)
    for name in sent:
        world.send(name, sent[name])
    for name in sent:
        *job, facts = world.documents(name)
        output = "\n".join(entry.get("stdout", "") for entry in job)
        assert [entry["status"] for entry in job if "status" in entry][-1:] == ["successful"], output
        assert (facts["user"], facts["owners"], facts["read_only"]) == ([USER, 0], [USER], True)
    assert_versions(facts["packages"])
    assert [name for name in CLUSTERS if payloads(world.manager, name)] == [CLUSTERS[0], CLUSTERS[2]]
    placed = [world.admin.secret(f"clusters-{name}", f"{name}-pull-secret") for name in CLUSTERS]
    assert [secret and held(secret) for secret in placed] == [CONFIG, None, CONFIG]
    merged = {"auths": {**CONFIG["auths"], **TENANT["auths"]}}
    assert held(world.admin.secret("kube-system", "global-pull-secret")) == merged


def assert_versions(packages: dict[str, str]) -> None:
    """The packages are those that the definition and the collection name, in the versions of the constraints."""
    installed = {canonicalize_name(name): version for name, version in packages.items()}
    lines = [DEFINITION[name]["package_pip"] for name in ("ansible_core", "ansible_runner")]
    lines += (env.ROOT / "meta" / "ee-requirements.txt").read_text().splitlines()
    needed = [Requirement(line) for line in lines if line[:1] not in ("", "#")]
    assert {canonicalize_name(package.name) for package in needed} <= set(installed)
    pins = (env.REQUIREMENTS / "constraints" / "rulebook.txt").read_text().splitlines()
    for package in [*needed, *map(Requirement, pins[1:])]:
        version = installed.get(canonicalize_name(package.name))
        assert version is None or package.specifier.contains(version), package
