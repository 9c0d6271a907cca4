# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab's plain nodes run systemd, are isolated from each other and the host, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lab.mounts import mounts_below
from tests.lab.nodes import Node, cgroups, node_lab
from tests.lab.nodes.lab import NodeLab
from tests.lab.nodes.node import enter, is_leader
from tests.lab.supervisor import LabError

pytestmark = pytest.mark.real("nodes")

ROOT = Path(__file__).resolve().parents[3]
UNIT = "[Service]\nType=exec\nExecStart=/bin/sleep infinity\n"


def leaves_nothing(lab: NodeLab, processes: set[int]) -> bool:
    """Whether no process, control group or file of this lab is left."""
    groups = [root / lab.group for root in cgroups.hierarchies()]
    assert not lab.directory.exists()
    assert not mounts_below(lab.directory)
    assert not [group for group in groups if group.exists()]
    assert not [pid for pid in processes if is_running(pid)]
    return True


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_node_has_its_own_systemd_bus_and_name(nodes: list[Node]) -> None:
    assert [node.run(["hostname"]).stdout.strip() for node in nodes] == ["node-1", "node-2", "node-3"]
    machines = {node.read("/etc/machine-id") for node in nodes}
    assert len(machines) == 3
    for node in nodes:
        assert node.run(["cat", "/proc/1/comm"]).stdout == "systemd\n"
        assert node.run(["systemctl", "is-system-running"]).stdout == "running\n"


def test_units_run_and_the_bus_tells_of_them(node: Node) -> None:
    node.install_unit("kubelet.service", UNIT)
    node.run(["systemctl", "restart", "kubelet.service"], check=True)
    assert node.show("kubelet.service", "ActiveState", "SubState") == {
        "ActiveState": "active",
        "SubState": "running",
    }
    socket = node.bus_dir / "system_bus_socket"
    told = subprocess.run(
        [
            *("busctl", f"--address=unix:path={socket}", "get-property", "org.freedesktop.systemd1"),
            *("/org/freedesktop/systemd1/unit/kubelet_2eservice", "org.freedesktop.systemd1.Unit"),
            "ActiveState",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.stdout, told.stderr) == ('s "active"\n', "")


def test_nodes_see_nothing_of_each_other(nodes: list[Node]) -> None:
    nodes[0].write("/var/lib/kubelet/config.json", "{}", 0o600)
    assert (nodes[0].root / "var/lib/kubelet/config.json").read_text() == "{}"
    assert nodes[1].run(["ls", "/var/lib/kubelet"]).returncode != 0
    assert not (nodes[0].lower / "var/lib/kubelet").exists()


def test_a_node_is_given_as_it_was_first(node: Node, plain_nodes: object) -> None:
    node.install_unit("kubelet.service", UNIT)
    node.write("/var/lib/kubelet/config.json", "{}")
    before = node.leader
    node.reset()
    assert node.leader != before
    assert node.show("kubelet.service", "LoadState") == {"LoadState": "not-found"}
    assert node.run(["ls", "/var/lib/kubelet"]).returncode != 0


def test_a_masked_units_link_does_not_lead_to_the_host(node: Node) -> None:
    """The link's target /dev/null must not be resolved on the host."""
    node.run(["systemctl", "mask", "kubelet.service"], check=True)
    node.install_unit("kubelet.service", UNIT)
    assert node.show("kubelet.service", "LoadState") == {"LoadState": "loaded"}
    assert Path("/dev/null").is_char_device()


def test_nothing_is_run_where_no_node_is(node: Node) -> None:
    assert node.leader is not None
    assert is_leader(node.leader)
    for pid in (0, 1, os.getpid(), os.getppid()):
        with pytest.raises(LabError, match="not the first of a node"):
            enter(pid)


@pytest.mark.nightly
def test_up_and_down_twice_leave_nothing() -> None:
    for dummy in range(2):
        with node_lab(2) as lab:
            processes = cgroups.pids(lab.group)
            assert len(processes) > 4
            assert mounts_below(lab.directory)
        assert leaves_nothing(lab, processes)


CRASHING = """
import time
from tests.lab.nodes import node_lab
with node_lab(2) as lab:
    print(lab.number, flush=True)
    time.sleep(600)
"""


def test_what_a_killed_process_left_is_ended() -> None:
    process = subprocess.Popen([sys.executable, "-c", CRASHING], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    lab = NodeLab(int(process.stdout.readline()))
    processes = cgroups.pids(lab.group)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert processes
    assert all(map(is_running, processes)), "must survive their owner"
    ended = subprocess.run(
        [sys.executable, "-m", "tests.lab.nodes", "down"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert leaves_nothing(lab, processes)
