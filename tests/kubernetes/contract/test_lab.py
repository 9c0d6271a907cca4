# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The processes of the lab: start, stop, restart after a crash, two labs at the same time."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes.client
import kubernetes.config
import pytest
import urllib3
import yaml
from kubernetes.dynamic import DynamicClient

from tests.kubernetes.contract.conftest import until
from tests.lab import samples
from tests.lab.control_plane import ControlPlane, keep, leased
from tests.lab.control_plane.build import build
from tests.lab.supervisor import LabError, Supervisor, start_time
from tests.lab.world import STAND_INS, Lab

SLEEPER = [sys.executable, "-c", "import signal; signal.pause()"]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path / "lab")
    yield lab
    lab.down()


def read_env(lab: Lab) -> dict[str, str]:
    """The variables as a shell reads them from the file."""
    names = "KUBECONFIG K8S_URL K8S_TOKEN K8S_VIEWER_TOKEN SECRET_MANAGER_GRPC SECRET_MANAGER_REST"
    names += " HYPERFLEET_API_URL"
    script = f'. "$1"; for name in {names}; do eval "echo \\$name=\\$$name"; done'
    told = subprocess.run(
        ["sh", "-c", script, "sh", str(lab.env_file)], capture_output=True, text=True, check=True, env={}
    )
    return dict(line.split("=", 1) for line in told.stdout.splitlines())


@pytest.mark.nightly
def test_up_twice_is_harmless_and_down_leaves_nothing(lab: Lab) -> None:
    assert lab.up(real=False)
    env = read_env(lab)
    assert all(env.values())
    assert not lab.up(real=False)
    assert read_env(lab) == env
    assert lab.status() == dict.fromkeys(sorted(STAND_INS), True)
    for path in (lab.env_file, Path(env["KUBECONFIG"])):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    pids = [json.loads(p.read_text())["pid"] for p in lab.directory.glob("*.pid")]
    assert lab.down()
    assert not lab.directory.exists()
    assert [start_time(pid) for pid in pids] == [None] * len(STAND_INS)
    assert not lab.down()


@pytest.mark.nightly
def test_two_clusters_with_tokens_of_their_own(lab: Lab) -> None:
    lab.up(real=False)
    path = read_env(lab)["KUBECONFIG"]
    clients = [kubernetes.config.new_client_from_config(path, context=name) for name in ("mgmt-1", "mgmt-2")]
    assert clients[0].configuration.host != clients[1].configuration.host
    kinds = [DynamicClient(client).resources.get(api_version="v1", kind="Namespace") for client in clients]
    kinds[0].create(body={"metadata": {"name": "only-in-1"}})
    seen = [[item.metadata.name for item in kind.get().items] for kind in kinds]
    assert ["only-in-1" in found for found in seen] == [True, False]


@pytest.mark.nightly
def test_samples_to_try_things_with(lab: Lab) -> None:
    with pytest.raises(LabError, match="make lab-up"):
        lab.seed()
    lab.up(real=False)
    lab.seed()
    directory = lab.directory / "samples"
    (directory / "pull-secret.json").chmod(0o644)
    assert "clusters-cls-foreign" in lab.seed()
    clusters = yaml.safe_load((directory / "clusters.yml").read_text())["clusters"]
    files = {Path(cluster["source"]["file"]) for cluster in clusters}
    assert [stat.S_IMODE(path.stat().st_mode) for path in [*files, directory / "clusters.yml"]] == [0o600] * 3
    client = kubernetes.config.new_client_from_config(read_env(lab)["KUBECONFIG"])
    listed: Any = kubernetes.client.CoreV1Api(client).list_namespace().items
    namespaces = [item.metadata.name for item in listed]
    assert {cluster["management_namespace"] for cluster in clusters} <= set(namespaces)
    secret = f"{lab.secret_manager()}/v1/projects/customer-shop-13579/secrets/{samples.FOREIGN}"
    assert urllib3.request("GET", secret).json()["labels"] == {"managed-by": "shop-team"}
    assert len(urllib3.request("GET", f"{secret}/versions").json()["versions"]) == 1
    assert lab.down()
    assert not lab.directory.exists()


@pytest.mark.nightly
def test_namespaces_of_ones_own(lab: Lab) -> None:
    with pytest.raises(LabError, match="make lab-up"):
        lab.add_namespaces(["mine"])
    lab.up(real=False)
    for _again in range(2):
        lab.add_namespaces(["mine", "other"])
    client = kubernetes.config.new_client_from_config(read_env(lab)["KUBECONFIG"])
    assert kubernetes.client.CoreV1Api(client).read_namespace("other")


@pytest.mark.nightly
def test_a_secret_can_be_put_into_secret_manager(lab: Lab) -> None:
    lab.up(real=False)
    for number in (1, 2):
        version = samples.put(lab.secret_manager(), "customer-1", "mine", b"one", {"team": "a"})
        assert version.endswith(f"/secrets/mine/versions/{number}")
    with pytest.raises(LabError, match="Secret ID"):
        samples.put(lab.secret_manager(), "customer-1", "mi ne", b"one")


@pytest.mark.nightly
def test_what_crashed_is_started_again(lab: Lab) -> None:
    lab.up(real=False)
    pid = json.loads((lab.directory / "hyperfleet.pid").read_text())["pid"]
    other = json.loads((lab.directory / "kubernetes.pid").read_text())["pid"]
    os.kill(pid, signal.SIGKILL)
    lab.supervisor.stop("hyperfleet")  # also waits until the process has ended
    assert lab.up(real=False)
    assert all(lab.status().values())
    assert json.loads((lab.directory / "kubernetes.pid").read_text())["pid"] == other


@pytest.mark.nightly
def test_down_after_a_crash(lab: Lab) -> None:
    lab.up(real=False)
    for path in lab.directory.glob("*.pid"):
        os.kill(json.loads(path.read_text())["pid"], signal.SIGKILL)
    until(lambda: not any(lab.status().values()), "all die")
    assert lab.down()
    assert not lab.directory.exists()


@pytest.mark.nightly
def test_up_after_everything_crashed(lab: Lab) -> None:
    lab.up(real=False)
    before = read_env(lab)
    for path in lab.directory.glob("*.pid"):
        os.kill(json.loads(path.read_text())["pid"], signal.SIGKILL)
    until(lambda: not any(lab.status().values()), "all die")
    assert lab.up(real=False)
    assert read_env(lab)["SECRET_MANAGER_REST"] != before["SECRET_MANAGER_REST"]
    client = kubernetes.config.new_client_from_config(read_env(lab)["KUBECONFIG"])
    assert kubernetes.client.CoreV1Api(client).list_namespace().items


@pytest.mark.nightly
def test_two_labs_of_one_machine(lab: Lab, tmp_path: Path) -> None:
    other = Lab(tmp_path / "other")
    try:
        assert lab.up(real=False)
        assert other.up(real=False)
        assert read_env(lab)["K8S_URL"] != read_env(other)["K8S_URL"]
    finally:
        assert other.down()
    assert all(lab.status().values())


@pytest.mark.nightly
def test_the_two_kinds_of_kubernetes_exclude_each_other(lab: Lab) -> None:
    lab.up(real=False)
    with pytest.raises(LabError, match="stand-in Kubernetes"):
        lab.up(real=True)
    assert all(lab.status().values())


def test_a_pid_that_belongs_to_another_program_by_now_is_left_alone(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path)
    supervisor.start("mine", SLEEPER)
    record = tmp_path / "mine.pid"
    was = json.loads(record.read_text())
    record.write_text(json.dumps({**was, "started": "another-boot:1"}))
    assert not supervisor.running("mine")
    assert not supervisor.stop("mine")
    assert start_time(was["pid"]) == was["started"]
    record.write_text(json.dumps(was))
    assert supervisor.stop("mine")
    assert start_time(was["pid"]) is None


def test_a_process_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path)
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); "
    pid = supervisor.start("deaf", [sys.executable, "-c", deaf + "\nwhile True: signal.pause()"])
    while not supervisor.log("deaf").read_text():
        assert supervisor.running("deaf")
    assert supervisor.stop("deaf", seconds=0.1)
    assert start_time(pid) is None


@pytest.mark.real("go")
@pytest.mark.nightly
def test_a_shared_control_plane_ends_with_its_last_user(tmp_path: Path) -> None:
    plane = ControlPlane(tmp_path / "plane")
    with leased(plane) as first:
        with leased(ControlPlane(tmp_path / "plane")) as second:
            assert second == first
        assert plane.state() == first
    assert list(tmp_path.iterdir()) == []


@pytest.mark.real("go")
@pytest.mark.nightly
def test_one_that_was_started_by_hand_stays_and_survives_a_crash(tmp_path: Path) -> None:
    plane = ControlPlane(tmp_path / "plane")
    try:
        state = plane.up()
        keep(plane)
        with leased(plane) as leased_state:
            assert leased_state == state
        assert plane.state() == state
        etcd = json.loads((plane.directory / "etcd.pid").read_text())["pid"]
        os.kill(etcd, signal.SIGKILL)
        until(lambda: not plane.supervisor.running("etcd"), "etcd dies")
        assert plane.state() is None
        assert plane.up().token != state.token
    finally:
        assert plane.down()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.real("go")
def test_the_whole_lab_on_the_real_control_plane(lab: Lab) -> None:
    assert lab.up(real=True)
    assert not lab.up(real=True)
    env = read_env(lab)
    assert env["K8S_URL"].startswith("https://")
    client = DynamicClient(kubernetes.config.new_client_from_config(env["KUBECONFIG"]))
    assert client.version["kubernetes"]["gitVersion"] == "v1.34.4"
    lab.seed()
    command = [str(build() / "kubectl"), "get", "namespace", "clusters-cls-123", "-o", "name"]
    told = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert told.stdout == "namespace/clusters-cls-123\n"
    with pytest.raises(LabError, match="real Kubernetes"):
        lab.up(real=False)
