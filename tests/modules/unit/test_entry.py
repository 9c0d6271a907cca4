# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Arguments that make Ansible's own validation raise an exception: in the action plugin and in the module."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils import tasks
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import dockerconfig_merge
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import (
    validated,
    validated_by_spec,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows import provision
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import with_targets
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.run import key_of_digests
from ansible_collections.hyperfleet.pull_secret.plugins.modules import dockerconfig_merge as module
from tests.support.nightly import some

GOOD = {"id": "a", "source": {"env": "A"}}
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"source": 0}, "source"),
    ({"source": 7411}, "source"),
    ({"retry": 7411}, "retry"),
    ({"gcp": 7411}, "gcp"),
    ({"kubernetes": 7411}, "kubernetes"),
    ({"hyperfleet": 7411}, "hyperfleet"),
    ({"concurrency": float("inf")}, "concurrency"),
    ({"retry": {"tries": float("inf")}}, "retry.tries"),
    ({"retry": {"tries": True}}, "retry.tries"),
    ({"timeout": False}, "timeout"),
    ({"targets": [GOOD, {"id": "b", "source": {"file": "7411"}}], "concurrency": True}, "concurrency"),
    ({"source": {"kubernetes": 7411}}, "source.kubernetes"),
    ({"layers": [{"name": "a", "source": {"env": "A"}}, {"name": "b", "source": 7411}]}, "layers[1].source"),
    ({"targets": [GOOD, {"id": "b", "source": 7411}]}, "targets[1].source"),
]
# In JSON every key is a string, so a module's own process never gets these.
HERE = [({name: {7411: 2}}, name) for name in ("source", "retry", "gcp", "kubernetes", "hyperfleet")]


def in_a_process(name: str, arguments: dict[str, Any]) -> subprocess.CompletedProcess[bytes]:
    """Run a module as a program of its own."""
    return subprocess.run(
        [sys.executable, "-m", name],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode(),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        check=False,
    )


@pytest.mark.parametrize(("arguments", "option"), [*WRONG, *HERE, ({"layers": {7411: 2}}, "layers")])
def test_what_breaks_validation_is_named_and_not_quoted(arguments: dict[str, Any], option: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        validated(dockerconfig_merge.target_options, arguments)
    assert option in str(caught.value)
    assert "7411" not in str(caught.value)


@pytest.mark.parametrize(("arguments", "option"), [WRONG[1], WRONG[-1]])
def test_in_a_process_of_its_own_too(arguments: dict[str, Any], option: str) -> None:
    done = in_a_process(module.__name__, arguments)
    told = json.loads(done.stdout)
    assert told["failed"] is True
    assert told["msg"].startswith(f"{option} must be a")
    assert b"7411" not in done.stdout


def specs() -> Iterator[tuple[str, dict[str, Any]]]:
    """The name and the whole argument spec of every module that has code of its own."""
    found_in = [(one, found) for one in (tasks, provision) for found in pkgutil.iter_modules(one.__path__)]
    for package, found in found_in:
        task = importlib.import_module(f"{package.__name__}.{found.name}")
        if hasattr(task, "spec"):
            yield found.name, task.spec()
        elif hasattr(task, "target_options"):
            options = task.target_options()
            yield found.name, options if "api_timeout" in options else with_targets(options)


def mappings(spec: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of each option that takes a mapping; ``[]`` is an element of a list."""
    for name, its in spec.items():
        here = (*path, name, "[]") if its.get("elements") == "dict" else (*path, name)
        if "dict" in (its["type"], its.get("elements")):
            yield here
            yield from mappings(its.get("options") or {}, here)


def given(path: tuple[str, ...], value: Any) -> Any:
    """Arguments with only this option, and the lists and mappings that contain it."""
    for part in reversed(path):
        value = [value] if part == "[]" else {part: value}
    return value


def called(path: tuple[str, ...]) -> str:
    return ".".join(path).replace(".[]", "[0]")


SPECS = dict(specs())
STRINGS = [(name, path) for name, spec in SPECS.items() for path in mappings(spec)]


def test_every_module_is_here() -> None:
    here = {path.stem for path in Path(str(module.__file__)).parent.glob("*.py")} - {"__init__"}
    others = {"check_variables", "hosted_cluster_report", "pull_secret_job", "pull_secret_report"}
    assert here - set(SPECS) == others


@pytest.mark.parametrize(("name", "path"), STRINGS, ids=[f"{name}-{called(path)}" for name, path in STRINGS])
def test_a_string_in_the_place_of_a_mapping_is_refused_with_the_options_name(
    name: str, path: tuple[str, ...]
) -> None:
    spec = SPECS[name]
    # A missing required option would be reported first.
    spec = {option: {**its, "required": False} for option, its in spec.items()}
    with pytest.raises(ConfigurationError) as caught:
        validated_by_spec(_without_required(spec), given(path, "7411"))
    assert str(caught.value).startswith(f"{called(path)} must be a mapping")
    assert "7411" not in str(caught.value)


def _without_required(spec: dict[str, Any]) -> dict[str, Any]:
    loose = {}
    for name, its in spec.items():
        loose[name] = {key: value for key, value in its.items() if key not in ("required", "required_one_of")}
        if "options" in its:
            loose[name]["options"] = _without_required(its["options"])
    return loose


@pytest.mark.parametrize(
    ("name", "path"),
    some([next(one for one in STRINGS if one[0] == name) for name in SPECS]),
    ids=list(SPECS),
)
def test_in_every_modules_own_process_too(name: str, path: tuple[str, ...]) -> None:
    required = {"config": "/nowhere", "broker": {"type": "webhook"}}
    arguments = {option: value for option, value in required.items() if option in SPECS[name]}
    arguments.update(given(path, "7411"))
    told = json.loads(in_a_process(f"{module.__package__}.{name}", arguments).stdout)
    assert told["failed"] is True
    # For a list Ansible raises its own error, which names the option.
    elements = f"Elements value for option '{path[0]}' is of type "
    assert told["msg"].startswith(elements if path[-1] == "[]" else f"{called(path)} must be a mapping")
    assert "7411" not in told["msg"]


def test_of_targets_each_that_is_wrong_is_named() -> None:
    targets = [GOOD, {"id": "b", "source": "x"}, {"id": "c", "layers": [{"name": "a", "source": "x"}]}]
    with pytest.raises(ConfigurationError) as caught:
        validated(dockerconfig_merge.target_options, {"targets": targets})
    assert str(caught.value).startswith("targets[1].source must be a mapping with one of inline, file, env, ")
    assert str(caught.value).endswith("; in targets 2 (b), 3 (c)")


def test_null_is_refused_by_a_module_without_an_action_plugin() -> None:
    told = json.loads(in_a_process(f"{module.__package__}.cloud_event", {"broker": None}).stdout)
    assert told["msg"] == "broker is null; give it a value"


@pytest.mark.parametrize("value", [{"a": "b"}, ["a"], True], ids=["mapping", "list", "boolean"])
def test_nothing_but_texts_and_numbers_becomes_a_text(value: Any) -> None:
    """Ansible would convert a mapping to the string ``{'a': 'b'}`` and YAML's ``yes`` to ``True``."""
    for arguments, option in (
        ({"id": value}, "id"),
        ({"dest": value}, "dest"),
        ({"drop": ["a", value]}, "drop[1]"),
        ({"source": {"kubernetes": {"namespace": value, "name": "n"}}}, "source.kubernetes.namespace"),
    ):
        with pytest.raises(ConfigurationError) as caught:
            validated(dockerconfig_merge.target_options, arguments)
        assert str(caught.value) == f"{option} must be a string"
    assert validated(dockerconfig_merge.target_options, {"id": 7, "drop": [7.5]})["drop"] == ["7.5"]


def test_a_digest_key_that_cannot_be_encoded_is_not_told() -> None:
    with pytest.raises(ConfigurationError, match="digest_key") as caught:
        key_of_digests("example-password\ud800")
    assert "example" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert key_of_digests("ä") == "ä".encode()
