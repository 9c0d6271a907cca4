# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each outcome of a restart, on a real systemd, both ways of asking: what is said, and left behind."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from tests.integration.node.world import BAD, FILE, UNIT, World, document

pytestmark = [
    pytest.mark.real("nodes"),
    pytest.mark.parametrize("systemd", ["dbus", "systemctl"]),
]


@pytest.fixture(autouse=True)
def _jeepney(world: World, systemd: str) -> None:
    if systemd == "dbus":
        world.give_jeepney()


def failed(world: World, systemd: str, *registries: str, **options: Any) -> dict[str, Any]:
    """The result of a run that has to fail."""
    done = world.sync(*(registries or (BAD,)), systemd=systemd, **options)
    assert done.code != 0, done.output
    assert "example-password" not in done.output
    return done.result


def test_well(world: World, systemd: str) -> None:
    world.install()
    before = world.kubelet()
    result = world.sync("quay.io", systemd=systemd, window=1.0).result
    assert result["actions"] == ["written", "restarted"]
    assert result["restart"]["jobs"] == ["done"]
    assert result["restart"]["healthy"] is True
    assert result["registries"] == {"quay.io": "file"}
    assert world.auths() == {"quay.io"}
    now = world.kubelet()
    assert now[0] == "active"
    assert now != before
    again = world.sync("quay.io", systemd=systemd).result
    assert again["changed"] is False
    assert world.kubelet() == now


@pytest.mark.parametrize("case", ["NoSuchUnit", "UnitMasked", "BadUnitSetting"])
def test_a_unit_that_cannot_be_restarted(world: World, systemd: str, case: str) -> None:
    world.install()
    before = world.kubelet()
    if case == "NoSuchUnit":
        result = failed(world, systemd, "quay.io", unit="nobody.service")
    else:
        if case == "UnitMasked":
            world.node.run(["sh", "-ec", f"rm /etc/systemd/system/{UNIT}; systemctl mask {UNIT}"], check=True)
        else:
            world.node.install_unit(UNIT, "[Service]\nType=simple\n")
        world.node.run(["systemctl", "daemon-reload"], check=True)
        result = failed(world, systemd, "quay.io")
        assert world.kubelet() == before
    assert case in result["msg"]
    assert world.beside() == []


@pytest.mark.parametrize(
    ("mode", "kind", "job", "says"),
    [
        ("exit", "simple", "done", "kubelet ended"),
        ("exit", "notify", "failed", "the restart ended with failed, result"),
        ("crash", "notify", "done", "kubelet ended"),
        ("crash", "simple", "done", "kubelet ended"),
        ("unready", "notify", "failed", "result timeout"),
        ("unhealthy", "notify", "done", "healthz answers 500 after 5 s"),
    ],
)
def test_a_kubelet_that_does_not_come_up(
    world: World, systemd: str, mode: str, kind: str, job: str, says: str
) -> None:
    world.install(mode, kind=kind)
    world.put(document("ecr.example"), mode=0o640)
    before = world.node.read(FILE)
    result = failed(world, systemd)
    assert says in result["msg"]
    assert "(2 attempts); the file was rolled back" in result["msg"]
    assert "either" not in result["msg"]
    assert result["restart"]["jobs"] == [job, job, "done"]
    assert result["restart"]["healthy"] is True
    assert result["rolled_back"] is True
    assert world.node.read(FILE) == before
    assert world.node.run(["stat", "-c", "%a %U", FILE]).stdout == "640 root\n"
    now = world.kubelet()
    assert now[0] == "active"
    # Not again until it changes.
    held = failed(world, systemd)
    assert held["kind"] == "held"
    assert held["changed"] is False
    assert world.kubelet() == now


def test_absence_is_restored_as_absence(world: World, systemd: str) -> None:
    world.install("crash")
    failed(world, systemd)
    assert "config.json" not in world.beside()
    assert world.kubelet()[0] == "active"


def test_a_dependency_that_fails(world: World, systemd: str) -> None:
    needed = "[Unit]\nStartLimitIntervalSec=0\n[Service]\nType=oneshot\nExecStart=/bin/test -e /run/ok\n"
    world.node.install_unit("needed.service", needed)
    world.node.write("/run/ok", "")
    world.install(unit="Requires=needed.service\nAfter=needed.service")
    world.node.run(["rm", "/run/ok"], check=True)
    result = failed(world, systemd, "quay.io")
    assert "the restart ended with dependency" in result["msg"]
    assert "not well with the file of before either" in result["msg"]
    assert result["restart"]["jobs"] == ["dependency"] * 4
    assert "config.json" not in world.beside()
    # Once it is mended, the next run brings kubelet up with the file of before.
    world.node.write("/run/ok", "")
    assert failed(world, systemd, "quay.io")["kind"] == "held"
    assert world.kubelet()[0] == "active"
    assert world.ledger()["pending"] is None


def test_a_condition_that_is_not_met(world: World, systemd: str) -> None:
    world.node.write("/run/allowed", "")
    world.install(unit="ConditionPathExists=/run/allowed")
    world.node.run(["rm", "/run/allowed"], check=True)
    result = failed(world, systemd, "quay.io")
    assert result["restart"]["jobs"][0] == "done"
    assert "a condition of the unit is not met" in result["msg"]
    assert result["rolled_back"] is True
    assert "config.json" not in world.beside()
    assert world.kubelet()[0] == "inactive"
    # It was this that stopped it, so the next run tries to bring it back.
    world.node.write("/run/allowed", "")
    failed(world, systemd, "quay.io")
    assert world.kubelet()[0] == "active"


def test_the_start_limit(world: World, systemd: str) -> None:
    """Without ResetFailedUnit the sixth start would leave kubelet down."""
    world.install(unit="StartLimitIntervalSec=600\nStartLimitBurst=5")
    for _restart in range(4):
        world.node.run(["systemctl", "restart", UNIT], check=True)
    result = world.sync("quay.io", systemd=systemd, window=0.5).result
    assert result["restart"]["jobs"] == ["done"]
    assert world.kubelet()[0] == "active"
    for _restart in range(4):
        world.node.run(["systemctl", "restart", UNIT], check=True)
    assert world.node.run(["systemctl", "restart", UNIT]).returncode != 0


def during_the_restart(world: World, command: list[str]) -> threading.Thread:
    """Run the command on the node once kubelet is in the middle of its restart."""
    before = world.kubelet()

    def work() -> None:
        for _look in range(1000):
            now = world.kubelet()
            if now != before and now[0] == "activating":
                world.node.run(command, check=True)
                return
            time.sleep(0.02)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_a_concurrent_stop(world: World, systemd: str) -> None:
    world.install("slow", extra="TimeoutStartSec=30")
    stopping = during_the_restart(world, ["systemctl", "stop", UNIT])
    done = world.sync("quay.io", systemd=systemd)
    stopping.join()
    assert done.code == 0, done.output
    assert done.result["restart"]["jobs"] == ["canceled"]
    assert "canceled by a stop" in done.output
    assert world.kubelet()[0] == "inactive"
    assert world.auths() == {"quay.io"}
    # Nobody starts what somebody has stopped.
    assert world.sync("quay.io", systemd=systemd).result["changed"] is False
    assert world.kubelet()[0] == "inactive"


def test_the_bus_is_restarted_in_the_middle(world: World, systemd: str) -> None:
    world.install("slow", extra="TimeoutStartSec=30")
    restarting = during_the_restart(world, ["systemctl", "restart", "dbus.service"])
    done = world.sync("quay.io", systemd=systemd, window=1.0)
    restarting.join()
    assert done.code == 0, done.output
    assert done.result["restart"]["jobs"] == ["done"]
    assert world.kubelet()[0] == "active"


def test_a_bus_that_is_gone(world: World, systemd: str) -> None:
    world.install()
    world.node.run(
        ["sh", "-ec", "systemctl stop dbus.socket dbus.service; rm -f /run/dbus/system_bus_socket"]
    )
    done = world.sync("quay.io", systemd=systemd, window=0.5)
    if systemd == "systemctl":
        # It has a door of its own.
        assert done.code == 0, done.output
        return
    assert "D-Bus cannot be reached" in done.result["msg"]
    assert world.beside() == []
