# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program of the job's image: the job contract, as for the playbook, and what only the image promises."""

from __future__ import annotations

import base64
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.job.integration.test_job import SECRET
from tests.lab.supervisor import wait_until
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.docker_configs import docker_config, held
from tests.support.job.around import DOCUMENT, REQUIRED
from tests.support.job.program import EARLY, Done, Program, bug_in
from tests.support.late import at_once_and_late
from tests.support.nightly import some

AUTH = DOCUMENT["auths"]["quay.io"]["auth"]
NAMES = {
    "secret": SECRET,
    "management_secret": {"namespace": "clusters-cls-abc123", "name": "cls-abc123-pull-secret"},
}


@pytest.fixture
def program(tmp_path: Path, secret_manager: SecretManagerLab, kubernetes: KubernetesLab) -> Iterator[Program]:
    kubernetes.store.create_namespace("clusters-cls-abc123")
    made = Program(tmp_path, secret_manager, kubernetes)
    yield made
    made.pod.stop()


def secret(program: Program, name: str = "cls-abc123-pull-secret") -> dict[str, Any] | None:
    return program.management.store.find("secrets", "clusters-cls-abc123", name)


def counted(calls: list[dict[str, Any]]) -> dict[tuple[str, str], int]:
    return {(call["operation"], call["status_code"]): call["count"] for call in calls}


def hidden(done: Done) -> bool:
    """Whether neither output nor termination message contains a form of the pull secret."""
    said = done.output + json.dumps(done.told)
    return not any(form in said for form in (AUTH, "example-password", "example-user"))


@at_once_and_late(fast=False)
def test_both_phases_are_done_logged_and_reported(program: Program) -> None:
    done = program.run(REQUIRED)
    assert done.code == 0, done.output
    assert [(entry["phase"], entry["operation"]) for entry in done.log] == [
        ("initialization", "load-config"),
        ("gcp-secret-manager", "begin"),
        ("gcp-secret-manager", "create-secret"),
        ("gcp-secret-manager", "create-secret-version"),
        ("k8s-secret", "begin"),
        ("k8s-secret", "create-secret"),
        ("exit", "exit"),
    ]
    assert {entry["component"] for entry in done.log} == {"pullsecret-job"}
    assert {entry["cluster_id"] for entry in done.log} == {"cls-abc123"}
    told = done.told
    assert 0 < told.pop("duration_seconds") < 60
    assert counted(told.pop("gcp_api_calls")) == {
        ("get_secret", "404"): 1,
        ("create_secret", "200"): 1,
        ("add_secret_version", "200"): 1,
        ("access_secret_version", "200"): 2,
    }
    assert counted(told.pop("k8s_api_calls")) == {("get_secret", "404"): 1, ("create_secret", "201"): 1}
    assert told == {
        "result": "success",
        "message": "Pull secret provisioned",
        "phase": "k8s-secret",
        "version": "1",
        **NAMES,
        "changed": True,
        "versions_created": 1,
    }
    assert hidden(done)
    placed = secret(program)
    assert placed is not None
    assert json.loads(base64.b64decode(placed["data"][".dockerconfigjson"])) == DOCUMENT


@at_once_and_late(fast=False)
def test_a_second_run_changes_nothing(program: Program) -> None:
    traced = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    begun = program.run({**REQUIRED, "TRACEPARENT": traced})
    assert begun.code == 0
    assert {entry["trace_id"] for entry in begun.log} == {"4bf92f3577b34da6a3ce929d0e0e4736"}
    first = secret(program)
    done = program.run(REQUIRED)
    assert done.code == 0
    assert (done.told["changed"], done.told["versions_created"], done.told["version"]) == (False, 0, "1")
    assert done.told["message"] == "Pull secret is unchanged"
    assert counted(done.told["k8s_api_calls"]) == {("get_secret", "200"): 1}
    assert program.store.calls.count("AddSecretVersion") == 1
    assert secret(program) == first


@at_once_and_late(fast=False)
def test_a_rotation_and_the_way_back_are_a_version_each(program: Program) -> None:
    for version, word in enumerate(["a", "b", "a"], start=1):
        document = docker_config(quay_io=word)
        done = program.run({**REQUIRED, "PULL_SECRET_DATA": json.dumps(document)})
        assert (done.code, done.told["changed"], done.told["version"]) == (0, True, str(version))
        assert held(secret(program)) == document
    assert program.store.calls.count("AddSecretVersion") == version


def test_it_writes_no_file_and_needs_neither_ansible_nor_a_client_library(program: Program) -> None:
    done = program.run(REQUIRED)
    assert done.code == 0
    assert done.seen == [["open", str(program.message)]]
    loaded = {name.partition(".")[0] for name in done.modules}
    needless = {"ansible", "google", "grpc", "kubernetes", "urllib3", "requests", "yaml", "site", "http"}
    assert loaded.isdisjoint(needless)
    assert {"google_crc32c"} == {name for name in loaded if "crc" in name}
    # MiB. The Go job needs 21; with Google's libraries it would be 77. google-crc32c takes 1.2 of it.
    assert 10 < done.peak < 29


@pytest.mark.parametrize("name", sorted(REQUIRED))
def test_a_missing_variable_is_not_to_be_tried_again(program: Program, name: str) -> None:
    done = program.run({key: value for key, value in REQUIRED.items() if key != name})
    assert done.code == 2
    (entry,) = done.log
    assert entry["level"] == "error"
    assert name in entry["message"]
    assert (done.told["result"], done.told["kind"]) == ("failure", "configuration")
    assert name in done.told["message"]
    assert "phase" not in done.told
    assert program.store.calls.count() == 0


def test_an_invalid_pull_secret_is_not_to_be_tried_again_and_not_shown(program: Program) -> None:
    value = base64.b64encode(b"example password without a colon").decode()
    done = program.run({**REQUIRED, "PULL_SECRET_DATA": json.dumps({"auths": {"quay.io": {"auth": value}}})})
    assert done.code == 2
    assert done.told["kind"] == "invalid_document"
    assert "auth-no-colon" in done.told["message"]
    assert done.told["phase"] == "gcp-secret-manager"
    assert value not in done.output + json.dumps(done.told)
    assert "without a colon" not in done.output + json.dumps(done.told)
    assert done.told["gcp_api_calls"] == []


@at_once_and_late(fast=False)
@pytest.mark.parametrize("asked", ["automatic", "user-managed:europe-west1", "user-managed:us-east1"])
def test_a_secret_that_is_kept_elsewhere_is_told_of_and_left(program: Program, asked: str) -> None:
    project, name = "customer-prod-12345", "hyperfleet-cls-abc123-pull-secret"
    labels = {"managed-by": "hyperfleet", "cluster-id": "cls-abc123"}
    there = {"userManaged": {"replicas": [{"location": "us-east1"}]}}
    program.store.seed([{"project": project, "secret": name, "labels": labels, "replication": there}])
    done = program.run({**REQUIRED, "REPLICATION_POLICY": asked})
    assert done.code == 0
    differs = asked != "user-managed:us-east1"
    assert done.told.get("replication_differs", False) is differs
    warnings = [entry["message"] for entry in done.log if entry["level"] == "warn"]
    assert [text.partition(",")[0] for text in warnings] == (
        ["the secret's replication is user_managed (us-east1)"] if differs else []
    )


@at_once_and_late(fast=False)
def test_a_secret_of_another_owner_is_not_retried(program: Program) -> None:
    project, name = "customer-prod-12345", "hyperfleet-cls-abc123-pull-secret"
    program.store.seed([{"project": project, "secret": name, "labels": {}, "versions": [{"data": "theirs"}]}])
    done = program.run(REQUIRED)
    assert (done.code, done.told["kind"]) == (2, "ownership")
    assert secret(program) is None


@at_once_and_late(fast=False)
def test_a_refusing_api_is_reported_with_its_calls(program: Program) -> None:
    program.store.faults.add(method="CreateSecret", code="PERMISSION_DENIED", times=99)
    done = program.run(REQUIRED)
    assert (done.code, done.told["kind"], done.told["phase"]) == (
        1,
        "permission_denied",
        "gcp-secret-manager",
    )
    assert counted(done.told["gcp_api_calls"])["create_secret", "403"] == 1
    assert done.told["changed"] is False
    assert secret(program) is None


@at_once_and_late(fast=False)
def test_a_failure_after_the_first_phase_names_what_was_created(program: Program) -> None:
    program.management.faults.add(method="POST", status=403, times=99)
    done = program.run(REQUIRED)
    assert (done.code, done.told["kind"], done.told["phase"]) == (1, "permission_denied", "k8s-secret")
    assert (done.told["changed"], done.told["version"], done.told["versions_created"]) == (True, "1", 1)
    assert counted(done.told["k8s_api_calls"])["create_secret", "403"] == 1
    assert {name: done.told[name] for name in NAMES} == NAMES


@at_once_and_late(fast=False)
def test_tries_are_counted_each(program: Program) -> None:
    program.store.faults.add(method="GetSecret", code="UNAVAILABLE", times=1)
    done = program.run(REQUIRED)
    assert done.code == 0, done.output
    calls = counted(done.told["gcp_api_calls"])
    assert (calls["get_secret", "503"], calls["get_secret", "404"]) == (1, 1)
    assert [entry["level"] for entry in done.log if entry["operation"] == "retry"] == ["warn"]


@at_once_and_late(fast=False)
def test_without_a_file_for_its_message_it_works_all_the_same(program: Program, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    done = program.run({**REQUIRED, "TERMINATION_MESSAGE_PATH": str(missing)})
    assert done.code == 0, done.output
    assert done.seen == [["open", str(missing)]]
    assert not missing.exists()


@at_once_and_late(fast=False)
def test_after_a_signal_it_reports_stopped_and_begins_nothing_more(program: Program) -> None:
    """Secret Manager answers only after the pod has received SIGTERM."""
    fault = program.store.faults.add(method="GetSecret", delay=2)
    running = program.start(REQUIRED)
    wait_until(lambda: fault.hits, "it asks Secret Manager")
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=60)
    assert running.returncode == 1
    told = json.loads(program.message.read_bytes())
    assert (told["result"], told["kind"], told["phase"]) == ("failure", "stopped", "k8s-secret")
    assert secret(program) is None


def test_after_an_early_signal_it_reports_stopped_and_begins_nothing(program: Program) -> None:
    """As process 1 of the container, which ignores a signal that has no handler."""
    done = program.run(REQUIRED, first=EARLY)
    assert (done.code, done.told["result"], done.told["kind"]) == (1, "failure", "stopped")
    assert program.store.calls.count() == 0
    assert secret(program) is None


@pytest.mark.nightly
def test_ended_from_outside_it_does_not_wait_for_what_never_ends(program: Program) -> None:
    fault = program.store.faults.add(method="GetSecret", delay=600)
    running = program.start({**REQUIRED, "GCP_API_TIMEOUT": "5m"})
    wait_until(lambda: fault.hits, "it asks Secret Manager")
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=60)
    assert running.returncode == 1
    told = json.loads(program.message.read_bytes())
    assert (told["kind"], told["phase"]) == ("stopped", "gcp-secret-manager")
    assert "the Job received a stop signal, and its work did not end within" in told["message"]


@pytest.mark.parametrize(
    "bug",
    some(
        [
            *("json:loads", "json:dumps", "base64:b64encode", "base64:b64decode", "hmac:new", "os:write"),
            *("socket:getaddrinfo", "threading:Thread.start", "urllib.parse:quote"),
            *("os:fsencode", "signal:signal", "time:monotonic"),
        ],
        "base64:b64encode",
    ),
)
def test_a_bug_is_reported_without_values(program: Program, bug: str) -> None:
    done = program.run(REQUIRED, first=bug_in(bug))
    assert hidden(done)
    assert "bug in" not in done.output + json.dumps(done.told)
    assert done.code in (1, 2)
    # A bug in one of these functions prevents the log entry, or the termination message.
    assert bug == "json:dumps" or done.log[-1]["level"] == "error"
    assert bug in ("json:dumps", "os:write") or done.told["result"] == "failure"


@at_once_and_late(fast=False)
def test_without_a_reader_of_the_log_the_work_is_finished(program: Program) -> None:
    running = program.start(REQUIRED)
    assert running.stdout is not None
    running.stdout.readline()
    running.stdout.close()
    assert running.wait(timeout=60) == 0
    assert running.stderr is not None
    assert running.stderr.read() == ""
    running.stderr.close()
    assert json.loads(program.message.read_bytes())["result"] == "success"
    assert secret(program) is not None


@at_once_and_late(fast=False)
@pytest.mark.nightly
def test_a_kubeconfig_and_a_credentials_file_are_for_the_libraries(program: Program, tmp_path: Path) -> None:
    done = program.run(
        {
            **REQUIRED,
            "KUBECONFIG": str(program.management.kubeconfig(tmp_path / "kubeconfig")),
            # An emulator needs no credentials: the file is not read.
            "GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "credentials.json"),
            "SECRET_MANAGER_EMULATOR_HOST": program.store.grpc,
        }
    )
    assert done.code == 0, done.output
    assert {"grpc", "kubernetes"} <= set(done.modules)
    assert counted(done.told["gcp_api_calls"])["get_secret", "404"] == 1
    assert hidden(done)
    assert secret(program) is not None


@pytest.mark.parametrize("way", ["pod", "kubeconfig"])
def test_the_variables_of_kubernetes_core_are_ignored(program: Program, tmp_path: Path, way: str) -> None:
    other = {"K8S_AUTH_HOST": "http://127.0.0.1:1", "K8S_AUTH_API_KEY": "example-password"}
    if way == "kubeconfig":
        other["KUBECONFIG"] = str(program.management.kubeconfig(tmp_path / "kubeconfig"))
    done = program.run({**REQUIRED, **other})
    assert done.code == 0, done.output
    assert hidden(done)
    assert secret(program) is not None


def test_outside_of_a_pod_it_says_so(program: Program) -> None:
    del program.env["KUBERNETES_SERVICE_HOST"]
    done = program.run(REQUIRED)
    assert (done.code, done.told["kind"]) == (2, "configuration")
    assert "KUBERNETES_SERVICE_HOST is not set" in done.told["message"]
    assert program.store.calls.count() == 0


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("CLUSTER_NAME", "example-name\x1b[2J", "must be at most 2048 printable characters"),
        ("CLUSTER_NAME", "example-name" * 10_000, "must be at most 2048 printable characters"),
        ("GCP_PROJECT_ID", "example-name" * 10_000, "must be at most 2048 printable characters"),
        (
            "REPLICATION_POLICY",
            "user-managed:example-name\u2028x",
            "must be at most 2048 printable characters",
        ),
        ("SECRET_NAME", "example-name\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), ""),
        ("KUBERNETES_SERVICE_HOST", "example-name/x", "must be a host name or an address"),
        ("KUBERNETES_SERVICE_PORT", "tcp://example-name:1", "must be a number from 1 to 65535"),
        ("KUBERNETES_SERVICE_PORT", "65536", "must be a number from 1 to 65535"),
        ("SECRET_MANAGER_EMULATOR_HOST", "example-name:99999", "must be a host, or a host and a port"),
        ("GCE_METADATA_HOST", "example-name:port", "must be a host, or a host and a port"),
    ],
)
@pytest.mark.nightly
def test_an_invalid_variable_is_reported_before_any_request(
    program: Program, name: str, value: str, rule: str
) -> None:
    done = program.run({**REQUIRED, name: value})
    assert (done.code, done.told["kind"]) == (2, "configuration")
    (entry,) = done.log
    assert entry["operation"] == "load-config"
    for said in (entry["message"], done.told["message"]):
        assert said.startswith(name)
        assert rule in said
    assert "example-name" not in done.output + json.dumps(done.told)
    assert program.store.calls.count() == 0
