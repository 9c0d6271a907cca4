# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The workflows run targets of the Makefile, with supported versions, few permissions and pinned actions."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tools import env
from tests.tools.ansible_test import OLDEST_PYTHON

ROOT = Path(__file__).resolve().parents[3]
FILES = {path.name: path.read_text() for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
# YAML 1.1 reads the key `on` as true.
WORKFLOWS: dict[str, dict[Any, Any]] = {name: yaml.safe_load(text) for name, text in FILES.items()}
PYTHONS = {python for _version, pythons in env.CORES.values() for python in pythons}
# The Makefile's targets; some end with a version of ansible-core.
TARGETS = re.compile(
    "|".join(
        name.replace(".", r"\.").replace("%", "(?:" + "|".join(map(re.escape, env.CORES)) + ")") + r"\Z"
        for name in re.findall(r"^([a-z0-9.%-]+):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    )
)
_MATRIX = re.compile(r"\$\{\{ matrix\.(\w+) }}")


def jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, workflow in WORKFLOWS.items():
        for key, job in workflow["jobs"].items():
            if "uses" not in job:
                yield f"{name}:{key}", job


JOBS = dict(jobs())


def variants(job: dict[str, Any]) -> list[dict[str, str]]:
    """Return the variants of the job's matrix; one empty variant if it has no matrix."""
    matrix = dict(job.get("strategy", {}).get("matrix", {}))
    included = matrix.pop("include", [])
    crossed = [dict(zip(matrix, values, strict=True)) for values in itertools.product(*matrix.values())]
    return included or crossed


def expanded(text: str, variant: dict[str, str]) -> str:
    return _MATRIX.sub(lambda match: variant[match.group(1)], text)


def commands(job: dict[str, Any]) -> list[str]:
    return [
        expanded(step["run"], variant) for variant in variants(job) for step in job["steps"] if "run" in step
    ]


def pythons(job: dict[str, Any]) -> list[list[str]]:
    """Return the installed versions of Python for each variant."""
    return [
        expanded(step["with"]["python-version"], variant).split()
        for variant in variants(job)
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/setup-python@")
    ]


def test_there_are_workflows() -> None:
    assert set(FILES) == {"ci.yml", "release.yml"}
    assert len(JOBS) >= 8


@pytest.mark.parametrize("name", sorted(JOBS))
def test_a_job_runs_targets_of_the_makefile_only(name: str) -> None:
    for command in commands(JOBS[name]):
        found = re.fullmatch(
            r'(?:sudo --preserve-env=CI env PATH="\$PATH" PYTHON=\S+ )?make ([a-z0-9.-]+)', command
        )
        assert found, command
        assert TARGETS.match(found.group(1)), command


@pytest.mark.parametrize("name", sorted(JOBS))
def test_a_job_uses_supported_pythons(name: str) -> None:
    assert pythons(JOBS[name])
    for versions in pythons(JOBS[name]):
        assert set(versions) <= PYTHONS | {OLDEST_PYTHON}
        # The last one is `python`; .venv and the tools need it.
        assert versions[-1] in PYTHONS
    for variant in variants(JOBS[name]):
        chosen = expanded(str(JOBS[name].get("env", {}).get("PYTHON", "")), variant)
        assert not chosen or chosen.removeprefix("python") in PYTHONS


def test_sanity_runs_on_every_core_with_its_oldest_and_newest_python() -> None:
    job = JOBS["ci.yml:sanity"]
    assert sorted((one["core"], one["python"]) for one in variants(job)) == sorted(
        (core, python) for core, (_version, range_) in env.CORES.items() for python in (range_[0], range_[-1])
    )


def test_the_unit_tests_run_on_every_python() -> None:
    assert {one["python"] for one in variants(JOBS["ci.yml:unit"])} == PYTHONS


def test_the_supported_cores_begin_where_the_collection_says() -> None:
    required = yaml.safe_load((ROOT / "meta" / "runtime.yml").read_text())["requires_ansible"]
    assert required == f">={next(iter(env.CORES))}.0"
    assert (next(iter(env.CORES)), list(env.CORES)[-1]) == env.ENDS


@pytest.mark.parametrize("name", sorted(FILES))
def test_actions_are_pinned_by_commit_and_say_their_version(name: str) -> None:
    used = re.findall(r"^ *-? *uses: (.*)$", FILES[name], re.MULTILINE)
    assert used
    for line in used:
        assert re.fullmatch(
            r"[\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./\.github/workflows/\w+\.yml", line
        ), line


def test_an_action_has_one_version() -> None:
    pins = set(re.findall(r"uses: (\S+@[0-9a-f]{40} # \S+)", "\n".join(FILES.values())))
    assert len(pins) == len({pin.partition("@")[0] for pin in pins})


@pytest.mark.parametrize("name", sorted(WORKFLOWS))
def test_a_workflow_has_few_rights(name: str) -> None:
    workflow = WORKFLOWS[name]
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["group"]
    assert "pull_request_target" not in workflow[True]
    for job in workflow["jobs"].values():
        writes = {key for key, value in job.get("permissions", {}).items() if value != "read"}
        assert not writes or (name == "release.yml" and writes == {"contents"})


@pytest.mark.parametrize("name", sorted(JOBS))
def test_a_job_ends_in_time_and_keeps_no_credentials(name: str) -> None:
    assert JOBS[name]["timeout-minutes"] <= 150
    for step in JOBS[name]["steps"]:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_a_secret_is_given_to_one_step_and_in_its_environment() -> None:
    for name, job in JOBS.items():
        assert "secrets." not in str({key: value for key, value in job.items() if key != "steps"}), name
        for step in job["steps"]:
            without = {key: value for key, value in step.items() if key != "env"}
            assert "secrets." not in str(without), name
            assert "${{" not in step.get("run", "").replace("${{ matrix.", ""), name
