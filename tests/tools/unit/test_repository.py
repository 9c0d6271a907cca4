# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a public repository agree with the code, and their links are valid."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tools import env, tree
from tests.tools.ansible_test import OLDEST_PYTHON

ROOT = Path(__file__).resolve().parents[3]
GITHUB = ROOT / ".github"
PAGES = (
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "SECURITY.md",
    "SUPPORT.md",
    *(
        path.relative_to(ROOT).as_posix()
        for pattern in ("roles", "extensions")
        for path in ROOT.glob(f"{pattern}/*/README.md")
    ),
)
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]


def form(name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml").read_text())
    return document


def test_the_table_of_supported_versions_is_what_the_tests_run() -> None:
    rows = re.findall(r"^\| (2\.\d+) \| (.*) \|$", (ROOT / "SUPPORT.md").read_text(), re.MULTILINE)
    assert {core: tuple(pythons.split(", ")) for core, pythons in rows} == {
        core: pythons for core, (_version, pythons) in env.CORES.items()
    }
    assert f"Python {OLDEST_PYTHON} or newer" in (ROOT / "SUPPORT.md").read_text()


@pytest.mark.parametrize("name", ["bug_report", "feature_request"])
def test_a_form_warns_of_secrets_before_anything_else(name: str) -> None:
    first, *fields = form(name)["body"]
    assert first["type"] == "markdown"
    assert "Do not paste a pull secret" in first["attributes"]["value"]
    ids = [field["id"] for field in fields]
    assert len(set(ids)) == len(ids)


def test_a_bug_report_asks_for_versions_rule_and_message() -> None:
    fields = {field["id"]: field for field in form("bug_report")["body"] if "id" in field}
    assert {"versions", "rule", "message", "no-secret"} <= set(fields)
    assert "ansible --version" in fields["versions"]["attributes"]["description"]
    assert all(fields[name]["validations"]["required"] for name in ("versions", "message"))


def test_every_go_module_and_requirement_is_updated() -> None:
    updates = {
        one["package-ecosystem"]: one
        for one in yaml.safe_load((GITHUB / "dependabot.yml").read_text())["updates"]
    }
    modules = {f"/{path.parent.as_posix()}" for path in tree.sources() if path.name == "go.mod"}
    assert set(updates["gomod"]["directories"]) == modules
    assert updates["pip"]["directory"] == "/requirements"
    assert "github-actions" in updates


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: str(hook["id"]))
def test_a_hook_calls_a_tool_of_ours(hook: dict[str, Any]) -> None:
    """A hook has the same version as `make lint`: it is a target, or a program of the linters' environment."""
    makefile = (ROOT / "Makefile").read_text()
    program, _space, rest = hook["entry"].partition(" ")
    if program == "make":
        assert re.search(rf"^{rest}:", makefile, re.MULTILINE)
    else:
        assert re.search(rf"\$\(LINT\)/{Path(program).name}\b", makefile)
        assert program.startswith(".venvs/lint/bin/")


@pytest.mark.parametrize("name", PAGES)
def test_a_link_to_a_file_leads_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", (ROOT / name).read_text()):
        if not target.startswith(("https://", "#")):
            assert (ROOT / target).exists(), target


@pytest.mark.parametrize("name", PAGES)
def test_a_path_that_is_named_is_there(name: str) -> None:
    """A path of this repository. A word in capitals, such as NAME, is a placeholder."""
    for path in re.findall(
        r"`((?:plugins|tests|docs|roles|meta|requirements|extensions|\.\w+)/[\w./-]*)`",
        (ROOT / name).read_text(),
    ):
        if not re.search(r"\b[A-Z]{4,}\b", path) and not path.startswith((".venv", ".lab")):
            assert (ROOT / path).exists(), path


def test_the_file_of_owners_covers_everything() -> None:
    lines = [line for line in (GITHUB / "CODEOWNERS").read_text().splitlines() if line and line[0] != "#"]
    assert lines[0].startswith("* @")
