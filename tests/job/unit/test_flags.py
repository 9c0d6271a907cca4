# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The flags of the job's program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.job import program
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.job.flags import (
    FLAGS,
    VERSION,
    WITHOUT_FLAG,
    read_command_line,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.provision.environment import (
    VARIABLES,
)
from tests.support.job.around import REQUIRED
from tests.tools.env import ROOT

CANARY = "example-password-4711"


def test_each_variable_of_the_contract_but_the_secret_has_a_flag() -> None:
    assert {*FLAGS, WITHOUT_FLAG} == set(VARIABLES)
    for name in FLAGS:
        flag = "--" + name.lower().replace("_", "-")
        for arguments in ([flag, "x"], [f"{flag}=x"]):
            assert read_command_line(arguments, {name: "y", "OTHER": "z"}).environment == {
                name: "x",
                "OTHER": "z",
            }


@pytest.mark.parametrize("flag", ["--help", "-h", "--version"])
def test_a_question_is_answered_without_work(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(REQUIRED, ["--cluster-id", "cls-1", flag]) == 0
    said = capsys.readouterr().out
    if flag == "--version":
        assert said == f"pullsecret-job {VERSION}\n"
    else:
        assert all(name in said for name in (*FLAGS, WITHOUT_FLAG))


def test_the_version_is_the_collections() -> None:
    assert yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"] == VERSION


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--clusterid", CANARY], "unknown arguments: --clusterid; see --help"),
        (["--cluster", CANARY], "unknown arguments: --cluster; see --help"),
        ([CANARY], "unknown arguments: 1 (not shown); see --help"),
        ([f"-p{CANARY.upper()}"], "unknown arguments: 1 (not shown); see --help"),
        (["--cluster-id"], "argument --cluster-id: expected one argument; see --help"),
        ([f"--version={CANARY}"], "a flag is used in a wrong way; see --help"),
        ([f"--pull-secret-data={CANARY}"], "there is no flag --pull-secret-data: every process"),
    ],
)
def test_what_is_no_flag_is_refused_and_not_shown(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = tmp_path / "message"
    message.touch()
    assert program.main({**REQUIRED, "TERMINATION_MESSAGE_PATH": str(message)}, arguments) == 2
    log, told = json.loads(capsys.readouterr().out), json.loads(message.read_text())
    assert log["message"].startswith(said)
    assert (told["kind"], told["message"]) == ("configuration", log["message"])
    assert CANARY not in json.dumps([log, told])
    with pytest.raises(ConfigurationError):
        read_command_line(arguments, {})
