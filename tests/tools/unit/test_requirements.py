# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An execution environment has all packages that the collection imports, in the versions of the tests."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.tools import artifact

ROOT = Path(__file__).resolve().parents[3]
ENVIRONMENT = yaml.safe_load((ROOT / "meta" / "execution-environment.yml").read_text())
# Imported packages that are not in an execution environment's list, with the reason.
ELSEWHERE = {
    "ansible-core": "what an execution environment is for",
    "jinja2": "ansible-core brings it",
    "pyyaml": "ansible-core brings it",
    "jeepney": "on nodes, and only if it is there",
    "google-api-core": "google-cloud-secret-manager brings it",
    "grpcio": "google-cloud-secret-manager brings it",
    "protobuf": "google-cloud-secret-manager brings it",
}


def requirements(path: Path) -> Iterator[Requirement]:
    for line in path.read_text().splitlines():
        text = line.partition("#")[0].strip()
        if text.startswith("-r "):
            yield from requirements(path.parent / text.removeprefix("-r "))
        elif text:
            yield Requirement(text)


NAMED = {
    str(canonicalize_name(one.name)): one
    for one in requirements(ROOT / ENVIRONMENT["dependencies"]["python"])
}
PINNED = {
    str(canonicalize_name(one.name)): one.specifier
    for name in ("rulebook", "test")
    for one in requirements(ROOT / "requirements" / f"{name}.txt")
}


def modules_of(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, ``google.auth`` for ``from google import auth``."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)


@cache
def packages() -> dict[str, str]:
    """Return the distributions that plugins and event sources import, each with a file that imports it."""
    installed = packages_distributions()
    google = {
        "google.api_core": "google-api-core",
        "google.auth": "google-auth",
        "google.cloud.secretmanager_v1": "google-cloud-secret-manager",
        "google.oauth2": "google-auth",
        "google.protobuf": "protobuf",
        "google.pubsub_v1": "google-cloud-pubsub",
    }
    found: dict[str, str] = {}
    for directory in ("plugins", "extensions/eda"):
        for path in sorted((ROOT / directory).rglob("*.py")):
            for module in modules_of(path):
                top = module.partition(".")[0]
                if top in sys.stdlib_module_names or top in ("ansible_collections", "__future__"):
                    continue
                if top == "google":
                    names = [name for start, name in google.items() if f"{module}.".startswith(f"{start}.")]
                else:
                    # For a module that is not installed here, use its own name.
                    names = installed.get(top, [top])
                assert names, f"{path.relative_to(ROOT)}: whose is {module}?"
                found[canonicalize_name(names[0])] = path.relative_to(ROOT).as_posix()
    return found


def test_what_is_imported_is_named() -> None:
    found = packages()
    wrong = {name: found[name] for name in found if (name in NAMED) is (name in ELSEWHERE)}
    assert found
    assert not wrong


@pytest.mark.parametrize("package", sorted(NAMED))
def test_what_is_named_is_imported_and_tested_in_a_version_of_the_range(package: str) -> None:
    assert package in packages()
    (pin,) = PINNED[package]
    assert pin.operator == "=="
    assert NAMED[package].specifier.contains(pin.version)


def test_the_execution_environment_has_the_pinned_ansible_and_this_version_of_the_collection() -> None:
    definition = yaml.safe_load((ROOT / "execution-environment.yml").read_text())
    interpreter = {"python_version": definition["dependencies"]["python_interpreter"]["package_system"][6:]}
    pins = [*requirements(ROOT / "requirements" / "core.txt")]
    pins += requirements(ROOT / "requirements" / "constraints" / "rulebook.txt")
    pinned = {
        f"{pin.name}{pin.specifier}" for pin in pins if not pin.marker or pin.marker.evaluate(interpreter)
    }
    for name in ("ansible_core", "ansible_runner"):
        assert definition["dependencies"][name]["package_pip"] in pinned
    (collection,) = definition["dependencies"]["galaxy"]["collections"]
    files = [
        f"/build/{file['dest']}/{Path(file['src']).name}" for file in definition["additional_build_files"]
    ]
    assert collection["name"] in files
    assert Path(collection["name"]).name == artifact.path().name
