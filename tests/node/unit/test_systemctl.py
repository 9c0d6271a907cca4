# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""systemctl as a module runs it; a program takes its place and prints systemd's answers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils import basic
from ansible.module_utils.basic import AnsibleModule

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd import dbus, systemctl
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd.manager import (
    BAD_UNIT,
    GONE,
    MASKED,
    NO_UNIT,
    UNFINISHED,
    SystemdError,
    open_systemd,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd.systemctl import (
    BySystemctl,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.node.fake_systemd import UNIT

SHOWN = "LoadState=loaded\nActiveState=active\nSubState=running\nInvocationID=ab\nNRestarts=2\nType=notify\n"


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> AnsibleModule:
    monkeypatch.setattr(basic, "_ANSIBLE_ARGS", json.dumps({"ANSIBLE_MODULE_ARGS": {}}).encode())
    monkeypatch.setattr(basic, "_ANSIBLE_PROFILE", "legacy", raising=False)
    return AnsibleModule(argument_spec={})


class Program:
    """A stand-in for ``systemctl`` that records its arguments and prints given answers."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "systemctl"
        self._asked = directory / "asked"
        self.says()

    def says(self, output: str = "", errors: str = "", code: int = 0, before: str = ":") -> None:
        (self.path.parent / "output").write_text(output)
        (self.path.parent / "errors").write_bytes(errors.encode("latin-1"))
        self.path.write_text(
            f'#!/bin/sh\ncd "${{0%/*}}"\necho "$LC_ALL $*" >> asked\n{before}\n'
            f"cat output; cat errors >&2; exit {code}\n"
        )
        self.path.chmod(0o755)

    @property
    def asked(self) -> list[str]:
        return self._asked.read_text().splitlines()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return Program(tmp_path)


@pytest.fixture
def systemd(module: AnsibleModule, program: Program) -> BySystemctl:
    assert program
    return BySystemctl(module.run_command)


def test_what_is_asked_and_answered(systemd: BySystemctl, program: Program) -> None:
    program.says(SHOWN)
    state = systemd.state(UNIT)
    assert (state.load, state.invocation, state.restarts, state.type) == ("loaded", "ab", 2, "notify")
    assert state.is_up
    systemd.reset_failed(UNIT)
    assert systemd.restart(UNIT, 5.0) == "done"
    assert program.asked == [
        f"C show --no-ask-password --property={systemctl._PROPERTIES} -- {UNIT}",
        f"C reset-failed --no-ask-password -- {UNIT}",
        f"C restart --no-ask-password --job-mode=replace -- {UNIT}",
    ]


@pytest.mark.parametrize(
    ("says", "result"),
    [
        ("Job for kubelet.service failed because the control process exited with error code.", "failed"),
        ("Job for kubelet.service canceled.", "canceled"),
        ("A dependency job for kubelet.service failed. See 'journalctl -xe' for details.", "dependency"),
        ("Job for kubelet.service failed because a timeout was exceeded: it timed out", "timeout"),
    ],
)
def test_a_job_that_did_not_end_well(systemd: BySystemctl, program: Program, says: str, result: str) -> None:
    program.says(errors=says, code=1)
    assert systemd.restart(UNIT, 5.0) == result


@pytest.mark.parametrize(
    ("says", "name"),
    [
        ("Failed to restart kubelet.service: Unit kubelet.service not found.", NO_UNIT),
        ("Failed to restart kubelet.service: Unit kubelet.service is masked.", MASKED),
        ("Failed to restart kubelet.service: Unit has a bad unit file setting.", BAD_UNIT),
        ("Failed to connect to bus: No such file or directory", GONE),
        ("Something \xff nobody foresaw", "Failed"),
    ],
)
def test_a_refusal(systemd: BySystemctl, program: Program, says: str, name: str) -> None:
    program.says(errors=says, code=1)
    with pytest.raises(SystemdError) as caught:
        systemd.restart(UNIT, 5.0)
    assert caught.value.name == name
    caught.value.message.encode()


def test_it_is_killed_at_its_limit(
    systemd: BySystemctl, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.says(before="echo $$ > number; exec sleep 600")
    assert systemd.restart(UNIT, 0.5) == UNFINISHED
    with pytest.raises(ProcessLookupError):
        os.kill(int((program.path.parent / "number").read_text()), 0)
    monkeypatch.setattr(systemctl, "_CALL_LIMIT", 0.5)
    with pytest.raises(SystemdError, match="systemctl gave no answer") as caught:
        systemd.state(UNIT)
    assert caught.value.is_unreachable


def test_a_program_that_fails_by_itself_has_not_been_too_slow(systemd: BySystemctl, program: Program) -> None:
    program.says(before="kill -9 $$")
    with pytest.raises(SystemdError):
        systemd.restart(UNIT, 60.0)


def test_there_is_none(module: AnsibleModule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemdError, match="systemctl cannot be run: No such file") as caught:
        BySystemctl(module.run_command).restart(UNIT, 5.0)
    assert caught.value.is_unreachable


def test_only_a_module_runs_it(monkeypatch: pytest.MonkeyPatch, module: AnsibleModule) -> None:
    monkeypatch.setattr(dbus, "is_installed", lambda: False)
    ways: list[dict[str, Any]] = [{"backend": "systemctl"}, {}]
    for way in ways:
        assert open_systemd(**way, run_command=module.run_command).NAME == "systemctl"
        with pytest.raises(ConfigurationError, match="in a module only"):
            open_systemd(**way)
