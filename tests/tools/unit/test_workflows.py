# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workflows cannot harm users: actions are pinned, permissions are few, and one step gets a secret."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
FILES = {path.name: path.read_text() for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
# YAML 1.1 reads the key `on` as true.
WORKFLOWS: dict[str, dict[Any, Any]] = {name: yaml.safe_load(text) for name, text in FILES.items()}
STEPS = [
    pytest.param(step, id=f"{name}:{key}:{number}")
    for name, workflow in WORKFLOWS.items()
    for key, job in workflow["jobs"].items()
    for number, step in enumerate(job.get("steps", ()))
]


@pytest.mark.parametrize("name", FILES)
def test_actions_are_pinned_by_commit(name: str) -> None:
    for line in re.findall(r"^ *-? *uses: (.*)$", FILES[name], re.MULTILINE):
        pinned = r"[\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./\.github/workflows/\w+\.yml"
        assert re.fullmatch(pinned, line), line


@pytest.mark.parametrize("name", FILES)
def test_a_workflow_has_few_permissions(name: str) -> None:
    workflow = WORKFLOWS[name]
    assert workflow["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in workflow[True]
    for job in workflow["jobs"].values():
        writes = {key for key, value in job.get("permissions", {}).items() if value != "read"}
        assert not writes or (name == "release.yml" and writes == {"contents"})


@pytest.mark.parametrize("step", STEPS)
def test_a_step_gets_a_secret_in_its_environment_only(step: dict[str, Any]) -> None:
    assert "secrets." not in str({key: value for key, value in step.items() if key != "env"})
    assert "${{" not in step.get("run", "").replace("${{ matrix.", "")
    if step.get("uses", "").startswith("actions/checkout@"):
        assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("name", FILES)
def test_no_job_gives_a_secret_to_all_its_steps(name: str) -> None:
    for job in WORKFLOWS[name]["jobs"].values():
        assert "secrets." not in str({key: value for key, value in job.items() if key != "steps"})
    assert "secrets" not in str(WORKFLOWS[name].get("env", ""))
