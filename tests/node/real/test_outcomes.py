# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each outcome of a restart on real nodes, over D-Bus and with systemctl: the result and what is left."""

from __future__ import annotations

from typing import Any

import pytest

from tests.node.rows import UNWELL, Unwell, row
from tests.node.world import BACKUP, BAD, FILE, UNIT, World, assert_silent, document
from tests.support.processes import Finished

pytestmark = pytest.mark.real("nodes")


def both(done: Finished) -> list[dict[str, Any]]:
    """The results of both nodes."""
    assert_silent(done.output)
    results = done.of("kubelet_auth_sync")
    assert len(results) == 2, done.output
    ways = {result["restart"]["systemd"] for result in results if "restart" in result} - {""}
    assert ways in (set(), {"dbus", "systemctl"})
    return results


def well(pair: World, *registries: str, **options: Any) -> list[dict[str, Any]]:
    done = pair.sync(*registries, **options)
    assert done.code == 0, done.output
    return both(done)


def failed(pair: World, *registries: str, **options: Any) -> list[dict[str, Any]]:
    """The results of a run that must fail on both nodes."""
    done = pair.sync(*(registries or (BAD,)), **options)
    assert [task.status for task in done.tasks] == ["failed"] * 2, done.output
    return both(done)


def kubelets(pair: World) -> list[tuple[str, str]]:
    return [pair.kubelet(node) for node in pair.nodes]


def states(pair: World) -> set[str]:
    return {state for state, _invocation in kubelets(pair)}


def files(pair: World) -> list[bool]:
    return ["config.json" in pair.beside(node) for node in pair.nodes]


@row("all is well")
def test_well(pair: World) -> None:
    pair.install()
    before = kubelets(pair)
    for result in well(pair, "quay.io", window=1.0):
        assert result["actions"] == ["written", "restarted"]
        assert result["restart"]["jobs"] == ["done"]
        assert result["restart"]["healthy"] is True
        assert result["registries"] == {"quay.io": "file"}
    now = kubelets(pair)
    assert states(pair) == {"active"}
    assert not set(now) & set(before)
    assert [pair.auths(node) for node in pair.nodes] == [{"quay.io"}] * 2
    assert [result["changed"] for result in well(pair, "quay.io")] == [False] * 2
    assert kubelets(pair) == now


@row("no such unit, masked, a bad setting")
@pytest.mark.parametrize("case", ["NoSuchUnit", "UnitMasked", "BadUnitSetting"])
@pytest.mark.nightly
def test_a_unit_that_cannot_be_restarted(pair: World, case: str) -> None:
    pair.install()
    before = kubelets(pair)
    if case == "UnitMasked":
        pair.everywhere("sh", "-ec", f"rm /etc/systemd/system/{UNIT}; systemctl mask {UNIT}")
        pair.everywhere("systemctl", "daemon-reload")
    elif case == "BadUnitSetting":
        for node in pair.nodes:
            node.install_unit(UNIT, "[Service]\nType=simple\n")
    for result in failed(pair, "quay.io", unit="missing.service" if case == "NoSuchUnit" else UNIT):
        assert case in result["msg"]
    assert kubelets(pair) == before
    assert [pair.beside(node) for node in pair.nodes] == [[], []]


@row(*{case.row for case in UNWELL})
@pytest.mark.parametrize("case", UNWELL, ids=str)
@pytest.mark.nightly
def test_a_kubelet_that_does_not_come_up(pair: World, case: Unwell) -> None:
    pair.install(case.mode, kind=case.kind)
    pair.put(document("ecr.example"), mode=0o640)
    before = pair.node.read(FILE)
    for result in failed(pair):
        assert case.says.format(ready=5) in result["msg"]
        assert "(2 attempts); the file was rolled back" in result["msg"]
        assert "either" not in result["msg"]
        assert result["restart"]["jobs"] == [case.job, case.job, "done"]
        assert result["restart"]["healthy"] is True
        assert result["rolled_back"] is True
    for node in pair.nodes:
        assert node.read(FILE) == before
        assert node.run(["stat", "-c", "%a %U", FILE]).stdout == "640 root\n"
    now = kubelets(pair)
    assert states(pair) == {"active"}
    # It is not tried again until the document changes.
    for held in failed(pair):
        assert held["kind"] == "held"
        assert held["changed"] is False
    assert kubelets(pair) == now


@pytest.mark.nightly
def test_absence_is_restored_as_absence(pair: World) -> None:
    pair.install("crash")
    failed(pair)
    assert files(pair) == [False] * 2
    assert states(pair) == {"active"}


@row("a dependency fails")
@pytest.mark.nightly
def test_a_dependency_that_fails(pair: World) -> None:
    pair.install_needing("/run/ok")
    pair.everywhere("rm", "/run/ok")
    for result in failed(pair, "quay.io"):
        assert "systemd reports the result 'dependency' for the restart" in result["msg"]
        assert "unhealthy with the previous file, too" in result["msg"]
        assert result["restart"]["jobs"] == ["dependency"] * 4
    assert files(pair) == [False] * 2
    # Once the dependency is back, the next run starts kubelet with the previous file.
    pair.everywhere("touch", "/run/ok")
    assert [held["kind"] for held in failed(pair, "quay.io")] == ["held"] * 2
    assert states(pair) == {"active"}
    assert [pair.ledger(node)["pending"] for node in pair.nodes] == [None] * 2


@row("a condition of the unit is not met")
@pytest.mark.nightly
def test_a_condition_that_is_not_met(pair: World) -> None:
    pair.everywhere("touch", "/run/allowed")
    pair.install(unit="ConditionPathExists=/run/allowed")
    pair.everywhere("rm", "/run/allowed")
    for result in failed(pair, "quay.io"):
        assert result["restart"]["jobs"][0] == "done"
        assert "a condition of the unit is not met" in result["msg"]
        assert result["rolled_back"] is True
    assert files(pair) == [False] * 2
    assert states(pair) == {"inactive"}
    # Our run stopped it, so the next run starts it.
    pair.everywhere("touch", "/run/allowed")
    failed(pair, "quay.io")
    assert states(pair) == {"active"}


@row("kubelet is not running")
@pytest.mark.nightly
def test_a_kubelet_that_is_not_running(pair: World) -> None:
    pair.install()
    pair.everywhere("systemctl", "stop", UNIT)
    for result in well(pair, "quay.io", window=0.5):
        assert result["restart"]["jobs"] == []
        assert "it reads the file when it starts" in str(result["warnings"])
    assert states(pair) == {"inactive"}
    assert [pair.auths(node) for node in pair.nodes] == [{"quay.io"}] * 2


@pytest.mark.nightly
def test_a_kubelet_that_runs_and_is_not_heard(pair: World) -> None:
    """While kubelet runs and its healthz cannot be reached, the file is not written; check mode fails too."""
    pair.install()
    pair.put(document("ecr.example"))
    before = kubelets(pair)
    wrong = "http://127.0.0.1:10249/healthz"
    for flags in ((), ("--check",)):
        for result in failed(pair, "quay.io", healthz=wrong, flags=flags):
            assert (
                f"kubelet runs, but healthz cannot be reached: Connection refused ({wrong})" in result["msg"]
            )
    assert kubelets(pair) == before
    assert [pair.beside(node) for node in pair.nodes] == [["config.json"]] * 2
    # A kubelet that is down gets the file, whatever ``healthz`` is set to.
    pair.everywhere("systemctl", "stop", UNIT)
    well(pair, "quay.io", healthz=wrong)
    assert [pair.auths(node) for node in pair.nodes] == [{"ecr.example", "quay.io"}] * 2


@row("the sixth restart in 10 s")
@pytest.mark.nightly
def test_the_start_limit(pair: World) -> None:
    """Without ResetFailedUnit the sixth start would leave kubelet down."""
    pair.install(unit="StartLimitIntervalSec=600\nStartLimitBurst=5")
    for _restart in range(4):
        pair.everywhere("systemctl", "restart", UNIT)
    for result in well(pair, "quay.io", window=0.5):
        assert result["restart"]["jobs"] == ["done"]
    assert states(pair) == {"active"}
    for _restart in range(4):
        pair.everywhere("systemctl", "restart", UNIT)
    assert pair.node.run(["systemctl", "restart", UNIT]).returncode != 0


@row("somebody stops it meanwhile")
@pytest.mark.nightly
def test_a_concurrent_stop(pair: World) -> None:
    pair.install("slow", extra="TimeoutStartSec=30")
    with pair.during_the_restart("systemctl", "stop", UNIT):
        done = pair.sync("quay.io")
    assert done.code == 0, done.output
    assert [result["restart"]["jobs"] for result in both(done)] == [["canceled"]] * 2
    assert all("canceled by a stop" in str(result["warnings"]) for result in both(done))
    assert "deprecated" not in done.output
    assert states(pair) == {"inactive"}
    assert [pair.auths(node) for node in pair.nodes] == [{"quay.io"}] * 2
    # The module does not start a kubelet that somebody has stopped.
    assert [result["changed"] for result in well(pair, "quay.io")] == [False] * 2
    assert states(pair) == {"inactive"}


@row("the bus is restarted meanwhile")
@pytest.mark.nightly
def test_the_bus_is_restarted_in_the_middle(pair: World) -> None:
    pair.install("slow", extra="TimeoutStartSec=30")
    with pair.during_the_restart("systemctl", "restart", "dbus.service"):
        results = well(pair, "quay.io", window=1.0)
    assert [result["restart"]["jobs"] for result in results] == [["done"]] * 2
    assert states(pair) == {"active"}


@row("D-Bus cannot be reached")
@pytest.mark.nightly
def test_a_bus_that_is_gone(pair: World) -> None:
    pair.install()
    pair.everywhere("sh", "-c", "systemctl stop dbus.socket dbus.service; rm -f /run/dbus/system_bus_socket")
    done = pair.sync("quay.io", window=0.5)
    # systemctl uses a socket of its own.
    refused = [task.result for task in done.tasks if task.status == "failed"]
    assert len(refused) == 1, done.output
    assert "D-Bus cannot be reached" in refused[0]["msg"]
    assert files(pair) == [False, True]


@row("the backup is gone when it is needed")
@pytest.mark.nightly
def test_a_backup_that_is_gone(pair: World) -> None:
    # systemd does not restart it either.
    pair.install("unready", extra="Restart=no")
    pair.put(document("ecr.example"))
    with pair.during_the_restart("rm", BACKUP):
        results = failed(pair)
    for result in results:
        assert "could not be rolled back: its backup is gone" in result["msg"]
    assert [pair.auths(node) for node in pair.nodes] == [{"ecr.example", BAD}] * 2
    # Kubelet stays as it is, and the write is not tried again.
    before = kubelets(pair)
    for held in failed(pair):
        assert (held["kind"], held["changed"]) == ("held", False)
    assert kubelets(pair) == before
    assert [pair.auths(node) for node in pair.nodes] == [{"ecr.example", BAD}] * 2
