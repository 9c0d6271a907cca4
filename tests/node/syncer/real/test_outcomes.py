# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each outcome of a restart on a real systemd, through the syncer: the status and what is left.

``tests/node/real/test_outcomes.py`` tests the same rows for the module.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.lab.nodes import Node
from tests.node.rows import NO_FILE, UNWELL, Unwell, another_run, row
from tests.node.syncer.real.real_node import RealNode
from tests.node.syncer.world import Cluster, eventually
from tests.node.world import BACKUP, BAD, FILE, UNIT, World, document
from tests.support.processes import Ansible

pytestmark = pytest.mark.real("nodes")

LONG = 90


class Outcomes:
    """One node and the syncer on it."""

    def __init__(self, world: World, cluster: Cluster) -> None:
        self.world = world
        self.cluster = cluster
        self._syncer: RealNode | None = None

    @property
    def syncer(self) -> RealNode:
        assert self._syncer is not None
        return self._syncer

    def start(self, *registries: str, **environ: str) -> str:
        """Write the Secret and start the syncer; return the Secret's version."""
        self._syncer = RealNode(self.cluster, self.world.node, self.world.directory, **environ)
        version = self.cluster.put(json.dumps(document(*registries)).encode())
        self._syncer.start()
        return version

    def close(self) -> None:
        if self._syncer is not None:
            self._syncer.close()

    def wait(self, state: str, version: str, *words: str, by_node: bool = False) -> str:
        """Wait for the status with this state and these words; return its message."""

        def said() -> bool:
            found = self.cluster.status()
            if (found.get("state"), found.get("resourceVersion")) != (state, version):
                return False
            return all(word in found["message"] for word in words)

        end = time.monotonic() + LONG
        while not said():
            assert time.monotonic() < end, (self.cluster.status(), self.syncer.log[-5:])
            time.sleep(0.02)
        status = self.cluster.status()
        assert status.get("by") == ("node" if by_node else None), status
        assert "example-password" not in json.dumps([status, self.syncer.log])
        return str(status["message"])

    def kubelet(self) -> tuple[str, str]:
        return self.world.kubelet()

    def run(self, *command: str) -> None:
        self.world.everywhere(*command)

    def slot_is_free(self) -> None:
        eventually(lambda: self.cluster.holder() == "", "the slot is given back")


@pytest.fixture
def at(cluster: Cluster, node: Node, ansible: Ansible, tmp_path: Path) -> Iterator[Outcomes]:
    made = Outcomes(World([node], ansible, tmp_path), cluster)
    yield made
    made.close()


@row("all is well")
def test_well(at: Outcomes) -> None:
    at.world.install()
    before = at.kubelet()
    at.wait("in-sync", at.start("quay.io"))
    now = at.kubelet()
    assert (now[0], now != before) == ("active", True)
    assert at.world.auths() == {"quay.io"}
    at.slot_is_free()


@row("no such unit, masked, a bad setting")
@pytest.mark.parametrize("case", ["NoSuchUnit", "UnitMasked", "BadUnitSetting"])
@pytest.mark.nightly
def test_a_unit_that_cannot_be_restarted(at: Outcomes, case: str) -> None:
    at.world.install()
    at.world.put(document("ecr.example"))
    before, kept = at.kubelet(), at.world.node.read(FILE)
    if case == "UnitMasked":
        at.run("sh", "-ec", f"rm /etc/systemd/system/{UNIT}; systemctl mask {UNIT}")
        at.run("systemctl", "daemon-reload")
    elif case == "BadUnitSetting":
        at.world.node.install_unit(UNIT, "[Service]\nType=simple\n")
    version = at.start("quay.io", SYNCER_UNIT="missing.service" if case == "NoSuchUnit" else UNIT)
    at.wait("failed", version, case, "rolled back", by_node=True)
    assert at.kubelet() == before
    assert at.world.node.read(FILE) == kept
    at.slot_is_free()


@row(*{case.row for case in UNWELL})
@pytest.mark.parametrize("case", UNWELL, ids=str)
@pytest.mark.nightly
def test_a_kubelet_that_does_not_come_up(at: Outcomes, case: Unwell) -> None:
    at.world.install(case.mode, kind=case.kind)
    at.world.put(document("ecr.example"), mode=0o640)
    kept = at.world.node.read(FILE)
    version = at.start(BAD)
    message = at.wait("failed", version, case.says.format(ready=60), "(3 attempts); the file was rolled back")
    assert "either" not in message
    assert at.world.node.read(FILE) == kept
    assert at.world.node.run(["stat", "-c", "%a %U", FILE]).stdout == "640 root\n"
    now = at.kubelet()
    assert now[0] == "active"
    at.slot_is_free()
    # It is not tried again until the document changes.
    again = at.cluster.put(json.dumps(document(BAD), indent=1).encode())
    at.wait("failed", again, "not tried again until it changes")
    assert at.kubelet() == now


def sick(at: Outcomes, flag: str, *words: str) -> None:
    """Kubelet lacks a dependency: it comes up with neither file, and no document is to blame."""
    at.run("rm", flag)
    version = at.start("quay.io")
    at.wait("failed", version, *words, "unhealthy with the previous file, too", by_node=True)
    assert "config.json" not in at.world.beside()
    assert at.kubelet()[0] != "active"
    at.slot_is_free()
    # The syncer keeps trying to start kubelet, and still blames no document.
    at.run("touch", flag)
    eventually(lambda: at.kubelet()[0] == "active", "kubelet is brought up", LONG)
    eventually(lambda: at.world.ledger()["pending"] is None, "that is known", LONG)
    at.wait("failed", version, by_node=True)


@row("a dependency fails")
@pytest.mark.nightly
def test_a_dependency_that_fails(at: Outcomes) -> None:
    at.world.install_needing("/run/ok")
    sick(at, "/run/ok", "systemd reports the result 'dependency' for the restart")


@row("a condition of the unit is not met")
@pytest.mark.nightly
def test_a_condition_that_is_not_met(at: Outcomes) -> None:
    at.run("touch", "/run/ok")
    at.world.install(unit="ConditionPathExists=/run/ok")
    sick(at, "/run/ok", "a condition of the unit is not met")


@row("somebody stops it meanwhile")
@pytest.mark.nightly
def test_a_concurrent_stop(at: Outcomes) -> None:
    at.world.install("slow", extra="TimeoutStartSec=30")
    with at.world.during_the_restart("systemctl", "stop", UNIT):
        at.wait("in-sync", at.start("quay.io"), "canceled by a stop")
    assert at.kubelet()[0] == "inactive"
    assert at.world.auths() == {"quay.io"}
    at.slot_is_free()


@row("kubelet is not running")
@pytest.mark.nightly
def test_a_kubelet_that_is_not_running(at: Outcomes) -> None:
    at.world.install()
    at.run("systemctl", "stop", UNIT)
    at.wait("in-sync", at.start("quay.io"), "it reads the file when it starts")
    assert at.kubelet()[0] == "inactive"
    assert at.world.auths() == {"quay.io"}


@row("the sixth restart in 10 s")
@pytest.mark.nightly
def test_the_start_limit(at: Outcomes) -> None:
    at.world.install(unit="StartLimitIntervalSec=600\nStartLimitBurst=5")
    for _restart in range(4):
        at.run("systemctl", "restart", UNIT)
    at.wait("in-sync", at.start("quay.io"))
    assert at.kubelet()[0] == "active"
    for _restart in range(4):
        at.run("systemctl", "restart", UNIT)
    assert at.world.node.run(["systemctl", "restart", UNIT]).returncode != 0, (
        "the unit must have a start limit"
    )


@row("the bus is restarted meanwhile")
@pytest.mark.nightly
def test_the_bus_is_restarted_in_the_middle(at: Outcomes) -> None:
    at.world.install("slow", extra="TimeoutStartSec=30")
    with at.world.during_the_restart("systemctl", "restart", "dbus.service"):
        at.wait("in-sync", at.start("quay.io"))
    assert at.kubelet()[0] == "active"
    assert at.world.auths() == {"quay.io"}


@row("D-Bus cannot be reached")
@pytest.mark.nightly
def test_a_bus_that_is_gone(at: Outcomes) -> None:
    at.world.install()
    before = at.kubelet()
    at.run("sh", "-c", "systemctl stop dbus.socket dbus.service; rm -f /run/dbus/system_bus_socket")
    version = at.start("quay.io")
    at.wait("pending", version, "D-Bus cannot be reached", by_node=True)
    assert at.world.auths() == {"quay.io"}, "kubelet reads the file later"
    assert at.kubelet() == before
    at.run("systemctl", "start", "dbus.socket", "dbus.service")
    at.wait("in-sync", version)
    assert at.kubelet() != before


@row("the backup is gone when it is needed")
@pytest.mark.nightly
def test_a_backup_that_is_gone(at: Outcomes) -> None:
    # systemd does not restart it either.
    at.world.install("unready", extra="Restart=no")
    at.world.put(document("ecr.example"))
    with at.world.during_the_restart("rm", BACKUP):
        at.wait("failed", at.start(BAD), "could not be rolled back: its backup is gone")
    assert at.world.auths() == {"ecr.example", BAD}
    at.slot_is_free()
    # Kubelet stays as it is, and the write is not tried again.
    before = at.kubelet()
    again = at.cluster.put(json.dumps(document(BAD), indent=1).encode())
    at.wait("failed", again, "not tried again until it changes")
    assert at.kubelet() == before
    assert at.world.auths() == {"ecr.example", BAD}


def refused(at: Outcomes, says: str, mend: Callable[[], object]) -> None:
    """The file cannot be written at first. Once it can, it is written."""
    before = at.kubelet()
    version = at.start("quay.io")
    at.wait("failed", version, says, by_node=True)
    assert at.kubelet() == before
    mend()
    at.wait("in-sync", version)
    assert "quay.io" in at.world.auths()


@row("read-only or full file system")
@pytest.mark.nightly
def test_a_read_only_file_system(at: Outcomes) -> None:
    at.world.install()
    at.world.mount("1m")
    at.world.put(document("ecr.example"))
    at.run("mount", "-o", "remount,ro", "/var/lib/kubelet")
    refused(at, "Read-only file system", lambda: at.run("mount", "-o", "remount,rw", "/var/lib/kubelet"))
    assert at.world.auths() == {"ecr.example", "quay.io"}


@row("read-only or full file system")
@pytest.mark.nightly
def test_a_full_disk(at: Outcomes) -> None:
    at.world.install()
    at.world.mount("64k")
    at.world.put(document("ecr.example"))
    at.world.node.run(["sh", "-c", "dd if=/dev/zero of=/var/lib/kubelet/full bs=1k"])
    refused(at, "No space left on device", lambda: at.run("rm", "/var/lib/kubelet/full"))
    assert at.world.auths() == {"ecr.example", "quay.io"}


@row("`config.json` is a link, a directory, a pipe")
@pytest.mark.parametrize(("command", "says"), NO_FILE)
@pytest.mark.nightly
def test_something_else_than_a_file(at: Outcomes, command: str, says: str) -> None:
    at.world.install()
    at.run(*command.split())
    refused(at, says, lambda: at.run("rm", "-r", FILE))


@row("another run is at work")
@pytest.mark.nightly
def test_another_run(at: Outcomes) -> None:
    at.world.install()
    before = at.kubelet()
    with another_run(at.world.node.root / "var/lib/kubelet"):
        version = at.start("quay.io")
        at.wait("failed", version, "another process holds the lock for writing on this node", by_node=True)
        assert at.kubelet() == before
    at.wait("in-sync", version)
