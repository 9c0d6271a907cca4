# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Numbers and paths have limits. A value beyond them is an error that begins with the option's name."""

from __future__ import annotations

import copy
import functools
import importlib
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.limits import LIMITS, is_path
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.syncer_limits import (
    LONGEST_SECONDS,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import validated_by_spec
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import with_targets

ROOT = Path(__file__).resolve().parents[3]
PLUGINS = "ansible_collections.hyperfleet.pull_secret.plugins"
SOURCE = {"env": "PULL_SECRET_DATA"}
CONDITIONS = [
    {"type": name, "status": "True", "reason": "Fine"} for name in ("Available", "Applied", "Health")
]
OBJECT = {"kind": "PullSecret", "metadata": {"name": "one"}}
# The options that a module requires, besides the wrong one.
NEEDED: dict[str, dict[str, Any]] = {
    "cloud_event": {"broker": {"type": "rabbitmq", "url": "amqp://127.0.0.1:1", "exchange": "e"}},
    "dockerconfig_merge": {"source": SOURCE},
    "gcp_pull_secret": {"project": "customer-prod-12345", "cluster_id": "cls-1", "source": SOURCE},
    "guest_cluster_pull_secret": {"source": SOURCE, "namespace_pattern": "guests"},
    "hosted_cluster_pull_secret": {
        "cluster_id": "cls-1",
        "control_plane_namespace": "clusters",
        "syncer_image": "syncer",
    },
    "hyperfleet_adapter": {"all": True, "config": "/nowhere"},
    "hyperfleet_cluster_info": {"hyperfleet": {"url": "http://127.0.0.1:1"}},
    "hyperfleet_status": {
        "cluster_id": "cls-1",
        "conditions": CONDITIONS,
        "hyperfleet": {"url": "http://127.0.0.1:1"},
    },
    "k8s_pull_secret": {"cluster_id": "cls-1", "namespace": "clusters", "source": SOURCE},
    "kubelet_auth_sync": {"state": "healthy"},
    "operator_check": {"object": OBJECT},
    "operator_status": {"object": OBJECT},
    "pull_secret_info": {"project": "customer-prod-12345", "cluster_id": "cls-1", "namespace": "clusters"},
}
# Ansible or the action plugins fill these in.
SUBOPTIONS: dict[str, dict[str, Any]] = {"retention": {"keep": 1}, "layers": {"name": "one"}}


def task(name: str) -> ModuleType:
    return importlib.import_module(f"{PLUGINS}.module_utils.tasks.{name}")


def spec_of(name: str) -> dict[str, Any]:
    module = task(name)
    if hasattr(module, "spec"):
        found: dict[str, Any] = module.spec()
        return found
    options = module.target_options()
    return options if "api_timeout" in options else with_targets(options)


def options(spec: dict[str, Any], *kinds: str, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of each option of these types."""
    for name, rule in spec.items():
        if rule.get("type") in kinds:
            yield (*above, name)
        yield from options(rule.get("options") or {}, *kinds, above=(*above, name))


def given(spec: dict[str, Any], parts: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The option with this value, inside the options that contain it."""
    name, rest = parts[0], parts[1:]
    if not rest:
        return {name: value}
    inner = {**SUBOPTIONS.get(name, {}), **given(spec[name]["options"], rest, value)}
    return {name: [inner] if spec[name]["type"] == "list" else inner}


def refusal(name: str, parts: tuple[str, ...], value: Any) -> str:
    """The error message for this value."""
    spec, needed = spec_of(name), dict(NEEDED[name])
    wrong = given(spec, parts, value)
    if parts[0] in ("source", "layers"):
        needed.pop("source", None)
    if parts[0] == "targets":
        wrong["targets"] = [{**wrong["targets"][0], "cluster_id": "cls-2"}]
    wrong = {
        key: {**needed[key], **item} if isinstance(item, dict) and key in needed else item
        for key, item in wrong.items()
    }
    try:
        params = validated_by_spec(spec, copy.deepcopy({**needed, **wrong}))
        result: dict[str, Any] = task(name).run(params, check_mode=False, diff=False, stop=threading.Event())
    except ConfigurationError as error:
        return str(error)
    (target,) = result["targets"]
    assert target["kind"] == "configuration", target["msg"]
    return str(target["msg"])


def called(spec: dict[str, Any], parts: tuple[str, ...]) -> str:
    """The option as error messages name it: inside ``targets`` without that prefix."""
    text = ""
    for part in parts:
        text += f".{part}" if text else part
        rule = spec[part]
        if rule.get("type") == "list":
            text = "" if part == "targets" else f"{text}[0]"
        spec = rule.get("options") or {}
    return text


def called_in_full(spec: dict[str, Any], parts: tuple[str, ...]) -> str:
    """The option as messages about types name it: with ``targets[0]`` in front."""
    return ("targets[0]." if parts[0] == "targets" else "") + called(spec, parts)


NUMBERS = [(name, parts) for name in NEEDED for parts in options(spec_of(name), "int", "float")]
# The paths of a target are tested as the task's own.
PATHS = [
    (name, parts)
    for name in NEEDED
    for parts in options(spec_of(name), "path")
    if parts[0] != "targets" and "source" not in parts
]


def limit_name(parts: tuple[str, ...]) -> str:
    return ".".join(part for part in parts if part != "targets")


def test_every_number_has_a_limit_and_every_limit_a_number() -> None:
    assert {limit_name(parts) for _name, parts in NUMBERS} == set(LIMITS)


def test_modules_are_all_there() -> None:
    utils = ROOT / "plugins/module_utils"
    paths = [*utils.glob("tasks/*.py"), *utils.glob("workflows/provision/*.py")]
    assert {path.stem for path in paths if "\ndef run(" in path.read_text()} == set(NEEDED)


@pytest.mark.parametrize(
    ("name", "parts"), [pytest.param(*one, id=f"{one[0]}-{'.'.join(one[1])}") for one in NUMBERS]
)
def test_a_number_out_of_bounds_is_refused_by_name(name: str, parts: tuple[str, ...]) -> None:
    limit = LIMITS[limit_name(parts)]
    kind = spec_of(name)
    for part in parts[:-1]:
        kind = kind[part]["options"]
    values: list[Any] = [limit.least if limit.above else limit.least - 1, limit.most + 1, 10**300]
    if kind[parts[-1]]["type"] == "float":
        values = [float(value) for value in values] + [limit.most * 1.01, float("inf"), float("nan")]
    said = f"{called(spec_of(name), parts)} must be {limit.text}"
    for value in values:
        assert refusal(name, parts, value) == said


@pytest.mark.parametrize(
    ("name", "parts"), [pytest.param(*one, id=f"{one[0]}-{'.'.join(one[1])}") for one in NUMBERS]
)
@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_no_number(name: str, parts: tuple[str, ...], value: bool) -> None:
    """False would be 0: ``destroy_after: false`` would destroy versions at once."""
    found = refusal(name, parts, value)
    assert found.startswith(called_in_full(spec_of(name), parts) + " must be a ")
    assert found.partition("; in target")[0].endswith(", not true or false")


@pytest.mark.parametrize(
    ("name", "parts"), [pytest.param(*one, id=f"{one[0]}-{'.'.join(one[1])}") for one in PATHS]
)
@pytest.mark.parametrize(
    "value", ["/tmp/a\0b", "/tmp/\ud800", "/" + "a/" * 2100], ids=["nul", "half", "long"]
)
def test_a_path_that_can_be_none_is_refused_by_name(name: str, parts: tuple[str, ...], value: str) -> None:
    assert refusal(name, parts, value) == (
        f"{called(spec_of(name), parts)} must be a path of at most 4096 bytes, without a NUL character"
    )


@pytest.mark.parametrize("where", ["dest", "source"])
def test_a_wrong_path_fails_its_target_alone(where: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("PULL_SECRET_DATA", '{"auths": {"quay.io": {"auth": "dTpw"}}}')
    wrong: dict[str, Any] = {"id": "wrong", "dest": str(tmp_path / "b"), "source": dict(SOURCE)}
    wrong[where] = "/tmp/a\0b" if where == "dest" else {"file": "/tmp/a\0b"}
    name = "dockerconfig_merge"
    params = validated_by_spec(
        spec_of(name),
        {"targets": [{"id": "right", "dest": str(tmp_path / "a"), "source": dict(SOURCE)}, wrong]},
    )
    result = task(name).run(params, check_mode=False, diff=False)
    assert [target["id"] for target in result["failed_targets"]] == ["wrong"]
    assert (tmp_path / "a").exists()


def test_an_empty_path_stands_for_none() -> None:
    assert is_path("")


def test_the_syncers_limits_are_the_modules() -> None:
    assert LIMITS["health_window"].most == LONGEST_SECONDS


@pytest.mark.parametrize(
    "value",
    [float("inf"), float("nan"), 0.5, True, "0o99", "-1", "1000", 0o1000, "\u0667", "", "600x", [], {}],
)
def test_an_invalid_mode_is_refused(value: Any, tmp_path: Path) -> None:
    params = validated_by_spec(
        spec_of("dockerconfig_merge"), {"dest": str(tmp_path / "a"), "source": dict(SOURCE), "mode": value}
    )
    result = task("dockerconfig_merge").run(params, check_mode=False, diff=False)
    assert result["targets"][0]["msg"] == "mode must be an octal number in quotes, such as '0600'"


@functools.cache
def documented(name: str) -> dict[str, Any]:
    """The documented options of a module, including those of its documentation fragments."""
    document = yaml.safe_load(importlib.import_module(f"{PLUGINS}.modules.{name}").DOCUMENTATION)
    found: dict[str, Any] = document.get("options", {})
    for fragment in document["extends_documentation_fragment"]:
        *_collection, file, part = f"{fragment}.documentation".split(".")[:4]
        texts = importlib.import_module(f"{PLUGINS}.doc_fragments.{file}").ModuleDocFragment
        for option, described in yaml.safe_load(getattr(texts, part.upper())).get("options", {}).items():
            found[option] = {**described, **found.get(option, {})}
    return found


@pytest.mark.parametrize(
    ("name", "parts"), [pytest.param(*one, id=f"{one[0]}-{'.'.join(one[1])}") for one in NUMBERS]
)
def test_the_documentation_has_the_limits(name: str, parts: tuple[str, ...]) -> None:
    at = documented(name)
    if parts[0] == "targets" and "suboptions" not in at["targets"]:
        parts = parts[1:]
    for part in parts[:-1]:
        at = at[part]["suboptions"]
    described = at[parts[-1]]["description"]
    text = described if isinstance(described, str) else " ".join(described)
    # "a number of seconds from 0 to 86400" in the message is "From 0 to 86400." in the documentation.
    bounds = LIMITS[limit_name(parts)].text.partition("number ")[2].removeprefix("of seconds ")
    assert bounds in text.lower()
