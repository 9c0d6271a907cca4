# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program on real nodes: systemd over D-Bus, root without capabilities, and a stand-in for kubelet."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.node.rows import NO_FILE, row
from tests.node.syncer.world import Cluster, document, eventually
from tests.node.world import FILE
from tests.support.login import TlsFront
from tests.support.syncer_tree import Tree, build_tree

if TYPE_CHECKING:
    from tests.lab.nodes import Node

pytestmark = pytest.mark.real("nodes")

UNIT = "kubelet.service"
# Exits before it is ready if its file contains the given registry.
KUBELET = f"""[Service]
Type=notify
NotifyAccess=all
TimeoutStartSec=5
ExecStart=/bin/sh -c 'test -f {FILE} && grep -q bad.example {FILE} && exit 1; \\
  systemd-notify --ready; exec sleep inf'
"""
WINDOW = 1.0
LONG = 90


class Syncer:
    """The program as the DaemonSet starts it, but without its namespaces: it gets the node's directory and
    D-Bus.
    """

    def __init__(self, node: Node, tree: Tree, directory: Path, environ: dict[str, str]) -> None:
        self.node = node
        self.log = directory / f"{node.name}.log"
        node.run(["mkdir", "-p", "-m", "0700", "/var/lib/kubelet"], check=True)
        node.install_unit(UNIT, KUBELET)
        node.run(["systemctl", "start", UNIT], check=True)
        setpriv = shutil.which("setpriv")
        assert setpriv
        with self.log.open("wb") as stream:
            self.process = subprocess.Popen(
                [setpriv, "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--", *tree.command],
                env={
                    "PATH": os.environ["PATH"],
                    **tree.environ,
                    **environ,
                    "NODE_NAME": node.name,
                    "SYNCER_KUBELET_DIR": str(node.root / "var/lib/kubelet"),
                    "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={node.bus_dir}/system_bus_socket",
                },
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
            )

    def auths(self) -> set[str]:
        return set(json.loads(self.node.read("/var/lib/kubelet/config.json"))["auths"])

    def kubelet(self) -> dict[str, str]:
        return self.node.show(UNIT, "ActiveState", "InvocationID", "ActiveEnterTimestampMonotonic")

    def status(self) -> dict[str, str]:
        """The kernel's status fields of the process."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return {name: value.strip() for name, _colon, value in (line.partition(":") for line in lines)}

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(LONG)


Start = Callable[[Any], list[Syncer]]


@pytest.fixture
def start(cluster: Cluster, tmp_path: Path) -> Iterator[Start]:
    """Starts one syncer on each node."""
    account = tmp_path / "account"
    account.mkdir()
    front = TlsFront(cluster.lab.url.removeprefix("http://"), tmp_path)
    (account / "token").write_text(cluster.lab.admin_token)
    (account / "ca.crt").write_bytes(front.authority.read_bytes())
    environ = {
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": front.url.rpartition(":")[2],
        "SYNCER_LEASES": ",".join(cluster.leases),
        "SYNCER_ACCOUNT_DIR": str(account),
        # Kubelet listens inside the node, and the program runs outside.
        "SYNCER_HEALTHZ": "",
        "SYNCER_HEALTH_WINDOW": str(WINDOW),
    }
    tree = build_tree(tmp_path / "image")
    syncers: list[Syncer] = []

    def begin(nodes: list[Node]) -> list[Syncer]:
        for node in nodes:
            syncers.append(Syncer(node, tree, tmp_path, environ))
        return syncers

    yield begin
    for syncer in syncers:
        syncer.stop()
    front.stop()


def wait(cluster: Cluster, condition: Callable[[], Any], syncers: list[Syncer]) -> None:
    """Like ``eventually``; a failure shows the programs' logs."""
    end = time.monotonic() + LONG
    while not condition():
        logs = "\n".join(syncer.log.read_text()[-1500:] for syncer in syncers)
        assert time.monotonic() < end, f"{cluster.statuses()}\n{logs}"
        time.sleep(0.05)


@row("all is well", "notify that exits, exec whose binary is bad")
def test_three_nodes_one_at_a_time_and_what_kubelet_does_not_come_up_with(
    cluster: Cluster, nodes: list[Node], start: Start
) -> None:
    syncers = start(nodes)
    before = [syncer.kubelet()["InvocationID"] for syncer in syncers]

    def all_are(states: set[str], version: str) -> bool:
        found = [cluster.status(syncer.node.name) for syncer in syncers]
        return all(said.get("state") in states and said.get("resourceVersion") == version for said in found)

    good = cluster.put(document("example-good"))
    wait(cluster, lambda: all_are({"in-sync"}, good), syncers)
    assert all(syncer.auths() == {"quay.io"} for syncer in syncers)
    kubelets = [syncer.kubelet() for syncer in syncers]
    assert all(kubelet["ActiveState"] == "active" for kubelet in kubelets)
    assert not set(before) & {kubelet["InvocationID"] for kubelet in kubelets}
    started = sorted(int(kubelet["ActiveEnterTimestampMonotonic"]) for kubelet in kubelets)
    gaps = [(later - sooner) / 1e6 for sooner, later in itertools.pairwise(started)]
    assert min(gaps) >= WINDOW, "one restart must be watched for its window before the next"

    bad = cluster.put(document("example-bad", "quay.io", "bad.example"))
    wait(cluster, lambda: all_are({"failed", "held"}, bad), syncers)
    states = sorted(cluster.status(syncer.node.name)["state"] for syncer in syncers)
    assert states == ["failed", "held", "held"], "only one kubelet may go down for it"
    for syncer, kubelet in zip(syncers, kubelets, strict=True):
        now = syncer.kubelet()
        assert now["ActiveState"] == "active"
        if cluster.status(syncer.node.name)["state"] == "held":
            assert now["InvocationID"] == kubelet["InvocationID"], "the others must not be restarted"
        else:
            assert syncer.auths() == {"quay.io"}, "must be rolled back"
            assert now["InvocationID"] != kubelet["InvocationID"]

    better = cluster.put(document("example-better", "quay.io", "registry.example.com"))
    wait(cluster, lambda: all_are({"in-sync"}, better), syncers)
    assert all(syncer.auths() == {"quay.io", "registry.example.com"} for syncer in syncers)
    for syncer in syncers:
        status = syncer.status()
        assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == int(status["CapBnd"], 16) == 0
        assert int(status["VmRSS"].split()[0]) < 24 * 1024, status["VmRSS"]


@row("`config.json` is a link, a directory, a pipe")
@pytest.mark.parametrize(("command", "says"), NO_FILE)
@pytest.mark.nightly
def test_something_else_than_a_file(
    cluster: Cluster, node: Node, start: Start, command: str, says: str
) -> None:
    node.run(["mkdir", "-p", "-m", "0700", "/var/lib/kubelet"], check=True)
    node.run(command.split(), check=True)
    syncers = start([node])
    before = syncers[0].kubelet()["InvocationID"]
    version = cluster.put(document("example-one"))
    wait(cluster, lambda: says in cluster.status(node.name).get("message", ""), syncers)
    status = cluster.status(node.name)
    assert (status["state"], status["by"], status["resourceVersion"]) == ("failed", "node", version)
    assert syncers[0].kubelet()["InvocationID"] == before
    node.run(["rm", "-r", FILE], check=True)
    wait(cluster, lambda: cluster.status(node.name)["state"] == "in-sync", syncers)
    assert syncers[0].auths() == {"quay.io"}
    assert syncers[0].kubelet()["InvocationID"] != before
    assert int(syncers[0].status()["CapEff"], 16) == 0


@pytest.mark.nightly
def test_the_bus_is_restarted_between_two_changes(cluster: Cluster, node: Node, start: Start) -> None:
    syncers = start([node])
    version = cluster.put(document("example-one"))
    wait(cluster, lambda: cluster.status(node.name).get("resourceVersion") == version, syncers)
    wait(cluster, lambda: cluster.status(node.name)["state"] == "in-sync", syncers)
    node.run(["systemctl", "restart", "dbus.service"], check=True)
    before = syncers[0].kubelet()["InvocationID"]
    version = cluster.put(document("example-two"))
    wait(cluster, lambda: cluster.status(node.name).get("resourceVersion") == version, syncers)
    wait(cluster, lambda: cluster.status(node.name)["state"] == "in-sync", syncers)
    assert syncers[0].kubelet()["InvocationID"] != before
    eventually(lambda: cluster.holder() == "", "the slot is given back")
