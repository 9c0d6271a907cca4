# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The job contract: environment variables, the structured log, and the exit code."""

from __future__ import annotations

import base64
import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.job.around import DOCUMENT, REQUIRED
from tests.support.late import at_once_and_late
from tests.support.nightly import some
from tests.support.processes import Ansible, Finished, family

JOB = "hyperfleet.pull_secret.job"
SECRET = "projects/customer-prod-12345/secrets/hyperfleet-cls-abc123-pull-secret"


@dataclass
class World:
    ansible: Ansible
    store: SecretManagerLab
    management: KubernetesLab

    def job(
        self,
        *,
        without: str = "",
        check: bool = False,
        more: dict[str, str] | None = None,
        variables: dict[str, Any] | None = None,
        **others: str,
    ) -> Finished:
        environment = {**REQUIRED, "ANSIBLE_STDOUT_CALLBACK": "hyperfleet.pull_secret.job_log"}
        environment |= {**(more or {}), **others}
        environment.pop(without, None)
        given = {"job_retry": {"delay": 0.01}, **(variables or {})}
        return self.ansible.playbook(JOB, given, flags=["--check"] * check, env=environment)

    def secret(self, name: str = "cls-abc123-pull-secret") -> dict[str, Any] | None:
        return self.management.store.find("secrets", "clusters-cls-abc123", name)


@pytest.fixture
def world(
    ansible: Ansible, secret_manager: SecretManagerLab, kubernetes: KubernetesLab, tmp_path: Path
) -> World:
    kubernetes.store.create_namespace("clusters-cls-abc123")
    ansible.env.update(
        SECRET_MANAGER_EMULATOR_HOST=secret_manager.grpc,
        KUBECONFIG=str(kubernetes.kubeconfig(tmp_path / "kubeconfig")),
    )
    return World(ansible, secret_manager, kubernetes)


def log(finished: Finished) -> list[dict[str, Any]]:
    """Parse stdout: every line must be a log entry."""
    return [json.loads(line) for line in finished.stdout.splitlines()]


@at_once_and_late(fast=False)
@pytest.mark.cores
def test_both_workflows_are_done_and_logged(world: World) -> None:
    finished = world.job()
    assert finished.code == 0, finished.output
    entries = log(finished)
    operations = [(entry["phase"], entry["operation"]) for entry in entries]
    assert operations == [
        ("initialization", "load-config"),
        ("gcp-secret-manager", "begin"),
        ("gcp-secret-manager", "create-secret"),
        ("gcp-secret-manager", "create-secret-version"),
        ("k8s-secret", "begin"),
        ("k8s-secret", "create-secret"),
        ("exit", "exit"),
    ]
    for entry in entries:
        assert entry["component"] == "pullsecret-job"
        assert entry["level"] == "info"
        assert entry["cluster_id"] == "cls-abc123"
        assert entry["gcp_project"] == "customer-prod-12345"
        assert entry["timestamp"].endswith("Z")
        assert entry["message"]
    added = entries[3]
    assert added["message"] == "Created secret version"
    assert added["secret_name"] == "hyperfleet-cls-abc123-pull-secret"
    assert added["version"] == "1"
    assert isinstance(added["duration_ms"], int)
    created = entries[5]
    assert created["message"] == "Created Kubernetes secret"
    assert created["namespace"] == "clusters-cls-abc123"
    assert created["secret_name"] == "cls-abc123-pull-secret"


@at_once_and_late(fast=False)
@pytest.mark.nightly
def test_the_secret_is_as_the_contract_specifies(world: World) -> None:
    assert world.job().code == 0
    secret = world.secret()
    assert secret is not None
    assert secret["type"] == "kubernetes.io/dockerconfigjson"
    assert json.loads(base64.b64decode(secret["data"][".dockerconfigjson"])) == DOCUMENT
    assert secret["metadata"]["labels"] == {
        "managed-by": "hyperfleet",
        "adapter": "pullsecret",
        "cluster-id": "cls-abc123",
        "cluster-name": "production-cluster",
        "hyperfleet-version": "v1",
    }
    annotations = secret["metadata"]["annotations"]
    assert annotations.pop("hyperfleet.io/created-at").endswith("Z")
    assert annotations == {
        "hyperfleet.io/gcp-secret-path": f"{SECRET}/versions/latest",
        "hyperfleet.io/gcp-secret-version": f"{SECRET}/versions/1",
        "hyperfleet.io/created-by": "pullsecret-adapter",
    }


@at_once_and_late(fast=False)
@pytest.mark.nightly
def test_a_second_job_changes_nothing_and_says_so(world: World) -> None:
    assert world.job().code == 0
    first = world.secret()
    finished = world.job()
    assert finished.code == 0
    unchanged = [entry["phase"] for entry in log(finished) if entry["operation"] == "compare"]
    assert unchanged == ["gcp-secret-manager", "k8s-secret"]
    assert world.store.calls.count("AddSecretVersion") == 1
    assert world.secret() == first


@pytest.mark.parametrize("name", some(sorted(REQUIRED)))
@pytest.mark.nightly
def test_a_missing_required_variable_ends_the_job(world: World, name: str) -> None:
    finished = world.job(without=name)
    assert finished.code != 0
    (entry,) = log(finished)
    assert entry["level"] == "error"
    assert name in entry["message"]
    assert world.store.calls.count("CreateSecret") == 0


@at_once_and_late(fast=False)
@pytest.mark.nightly
def test_names_and_policy_can_be_given(world: World) -> None:
    finished = world.job(
        SECRET_NAME="their-own-name",
        K8S_SECRET_NAME="their-own-secret",
        REPLICATION_POLICY="user-managed:europe-west1,europe-west4",
        GCP_API_TIMEOUT="1m30s",
    )
    assert finished.code == 0, finished.output
    assert world.secret("their-own-secret") is not None
    created = [entry for entry in log(finished) if entry["operation"] == "create-secret"]
    assert "their-own-name" in created[0]["message"]


@pytest.mark.parametrize(
    ("variable", "value"),
    some(
        [
            ("LOG_LEVEL", "loud"),
            ("LOG_FORMAT", "xml"),
            ("GCP_API_TIMEOUT", "soon"),
            ("REPLICATION_POLICY", "everywhere"),
            ("CLUSTER_ID", "Not An Id"),
            ("GCP_PROJECT_ID", "No"),
            ("SECRET_NAME", "no/slashes"),
            ("MANAGEMENT_NAMESPACE", "Clusters_Bad"),
            ("K8S_SECRET_NAME", "no..dots"),
        ],
        ("LOG_FORMAT", "xml"),
        ("CLUSTER_ID", "Not An Id"),
    ),
)
@pytest.mark.nightly
def test_a_wrong_value_ends_the_job_before_any_write(world: World, variable: str, value: str) -> None:
    finished = world.job(more={variable: value})
    assert finished.code != 0
    assert log(finished)[-1]["level"] == "error"
    assert variable in log(finished)[-1]["message"] or variable.lower() in log(finished)[-1]["message"]
    assert world.store.calls.count() == 0
    assert world.secret() is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"job_retry": "5"}, "job_retry must be a mapping with tries, delay, max_delay"),
        ({"job_gcp": {"transport": "pigeon"}}, "job_gcp.transport must be one of grpc, rest"),
    ],
)
@pytest.mark.nightly
def test_a_wrong_option_is_named_before_the_job_begins(
    world: World, given: dict[str, Any], said: str
) -> None:
    finished = world.job(variables=given)
    assert finished.code != 0
    assert [entry["message"] for entry in log(finished)] == [said]
    assert world.store.calls.count() == 0


@at_once_and_late(fast=False)
@pytest.mark.nightly
def test_a_blank_name_is_the_derived_one(world: World) -> None:
    finished = world.job(SECRET_NAME="  ", K8S_SECRET_NAME=" ")
    assert finished.code == 0, finished.output
    assert world.secret() is not None


@pytest.mark.cores
def test_an_invalid_pull_secret_is_named_and_not_shown(world: World) -> None:
    value = base64.b64encode(b"example password without a colon").decode()
    finished = world.job(PULL_SECRET_DATA=json.dumps({"auths": {"quay.io": {"auth": value}}}))
    assert finished.code != 0
    errors = [entry["message"] for entry in log(finished) if entry["level"] == "error"]
    assert all("quay.io" in message and "auth-no-colon" in message for message in errors)
    assert value not in finished.output
    assert "without a colon" not in finished.output
    assert world.store.calls.count("CreateSecret") == 0


@at_once_and_late(fast=False)
@pytest.mark.nightly
def test_a_failed_store_leaves_the_management_cluster_alone(world: World) -> None:
    world.store.faults.add(method="CreateSecret", code="PERMISSION_DENIED", times=99)
    finished = world.job()
    assert finished.code != 0
    assert "PERMISSION_DENIED" in log(finished)[-1]["message"]
    assert "has secretmanager.secrets.create in project" in log(finished)[-1]["message"]
    assert world.secret() is None


@at_once_and_late(fast=False)
@pytest.mark.nightly
def test_retries_are_warnings(world: World) -> None:
    world.store.faults.add(method="CreateSecret", code="UNAVAILABLE", times=2)
    finished = world.job()
    assert finished.code == 0, finished.output
    assert [entry["level"] for entry in log(finished) if entry["operation"] == "retry"] == ["warn", "warn"]


@at_once_and_late(fast=False)
@pytest.mark.nightly
def test_the_level_filters_and_the_format_can_be_text(world: World) -> None:
    assert world.job(LOG_LEVEL="error").stdout == ""
    text = world.job(LOG_FORMAT="text")
    assert text.code == 0
    assert "INFO  Success: Pull secret provisioned" in text.stdout
    assert "{" not in text.stdout


@pytest.mark.nightly
def test_a_phase_is_logged_when_it_begins(world: World) -> None:
    """Secret Manager answers only after the log entry of the phase was written."""
    environment = {**REQUIRED, "ANSIBLE_STDOUT_CALLBACK": "hyperfleet.pull_secret.job_log"}
    world.store.faults.add(method="*", delay=30)
    running = world.ansible.start_playbook(JOB, {}, env=environment)
    try:
        assert running.process.stdout is not None
        entries = [json.loads(running.process.stdout.readline()) for dummy in range(2)]
        assert [entry["operation"] for entry in entries] == ["load-config", "begin"]
        assert entries[1]["message"] == "Phase 1: Storing secret in GCP Secret Manager"
        assert entries[1]["secret_name"] == "hyperfleet-cls-abc123-pull-secret"
        assert running.process.poll() is None
    finally:
        world.store.faults.clear()
        for pid in family(running.process.pid):
            os.kill(pid, signal.SIGKILL)
        running.process.communicate()


@pytest.mark.parametrize(
    "variable",
    [
        *("CLUSTER_ID", "CLUSTER_NAME", "GCP_PROJECT_ID"),
        *("SECRET_NAME", "MANAGEMENT_NAMESPACE", "K8S_SECRET_NAME"),
    ],
)
@pytest.mark.nightly
def test_a_pull_secret_in_another_variable_is_not_logged(world: World, variable: str) -> None:
    finished = world.job(more={variable: REQUIRED["PULL_SECRET_DATA"]})
    assert finished.code != 0
    assert variable in log(finished)[-1]["message"]
    assert "is not allowed here" in log(finished)[-1]["message"]
    assert DOCUMENT["auths"]["quay.io"]["auth"] not in finished.output
    assert world.store.calls.count() == 0


@pytest.mark.nightly
def test_an_invalid_project_is_not_logged(world: World) -> None:
    finished = world.job(more={"GCP_PROJECT_ID": 'a"b{c'})
    assert finished.code != 0
    assert {entry.get("gcp_project") for entry in log(finished)} == {"(not shown)"}


@pytest.mark.nightly
def test_without_a_reader_of_the_log_the_work_is_finished_and_nothing_hangs(world: World) -> None:
    environment = {**REQUIRED, "ANSIBLE_STDOUT_CALLBACK": "hyperfleet.pull_secret.job_log"}
    running = world.ansible.start_playbook(JOB, {}, env=environment)
    try:
        assert running.process.stdout is not None
        assert json.loads(running.process.stdout.readline())["operation"] == "load-config"
        running.process.stdout.close()
        assert running.process.wait(timeout=60) != 0, "a job that cannot write its log must fail"
    finally:
        if running.process.poll() is None:
            for pid in family(running.process.pid):
                os.kill(pid, signal.SIGKILL)
            running.process.wait()
        assert running.process.stderr is not None
        running.process.stderr.close()
    assert world.secret() is not None


@pytest.mark.nightly
def test_a_name_with_a_line_break_makes_no_line_of_its_own(world: World) -> None:
    forged = "their-name\n2026-11-21T10:00:00Z ERROR forged"
    finished = world.job(LOG_FORMAT="text", SECRET_NAME=forged)
    assert finished.code != 0
    (line,) = finished.stdout.splitlines()
    assert json.loads(line)["message"].startswith("SECRET_NAME: must be ")
    assert "forged" not in finished.output


@pytest.mark.nightly
def test_without_the_callback_the_log_is_there_among_ansibles_lines(world: World) -> None:
    finished = world.job(ANSIBLE_STDOUT_CALLBACK="default")
    assert finished.code == 0
    entries = [json.loads(line) for line in finished.stdout.splitlines() if line.startswith("{")]
    assert entries[-1]["message"] == "Success: Pull secret provisioned"


@at_once_and_late(fast=False)
@pytest.mark.nightly
def test_check_mode_writes_nothing(world: World) -> None:
    finished = world.job(check=True)
    assert finished.code == 0, finished.output
    assert world.store.calls.count("CreateSecret") == 0
    assert world.secret() is None


@pytest.mark.nightly
def test_the_secret_never_reaches_a_file(world: World) -> None:
    assert world.job().code == 0
    value = DOCUMENT["auths"]["quay.io"]["auth"]
    for path in world.ansible.directory.rglob("*"):
        if path.is_file():
            assert value.encode() not in path.read_bytes(), path.name


@pytest.mark.parametrize("gcp", ["not a mapping", "{{ 1 / 0 }}"])
@pytest.mark.nightly
def test_what_fails_before_the_job_begins_is_logged_too(world: World, gcp: str) -> None:
    environment = {**REQUIRED, "ANSIBLE_STDOUT_CALLBACK": "hyperfleet.pull_secret.job_log"}
    finished = world.ansible.playbook(JOB, {"job_gcp": gcp}, env=environment)
    assert finished.code != 0
    (entry,) = log(finished)
    assert entry["level"] == "error"
    assert entry["message"]
