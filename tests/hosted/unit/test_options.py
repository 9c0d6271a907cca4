# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of a hosted cluster are listed in several places: each list must be complete."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching import clusters
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.hosted_cluster_pull_secret import (
    target_options,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster import (
    from_options,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster.cluster import (
    HostedCluster,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import run_options
from ansible_collections.hyperfleet.pull_secret.plugins.modules import hosted_cluster_pull_secret
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.hosted import hosted_targets
from tests.support import doc_tables

ROOT = Path(__file__).resolve().parents[3]
ROLE = ROOT / "roles" / "hosted_cluster"
PREFIX = "hosted_cluster_"
# Options of a run that hosted clusters do not have, or that only the module and its action use.
NOT_THE_ROLES = {"gcp", "hyperfleet", "progress_file"}


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def _role() -> dict[str, Any]:
    options: dict[str, Any] = _yaml(ROLE / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]
    return options


def _documented() -> dict[str, Any]:
    options: dict[str, Any] = yaml.safe_load(hosted_cluster_pull_secret.DOCUMENTATION)["options"]
    return options


def _shape(options: dict[str, Any], below: str) -> dict[str, Any]:
    """Types, choices and nested options, which an argument spec and its documentation share."""
    return {
        name: {
            **{key: one[key] for key in ("type", "elements", "choices", "required") if key in one},
            below: _shape(one.get(below) or {}, below),
        }
        for name, one in options.items()
    }


def test_the_documentation_has_the_modules_options_at_the_top_and_in_targets() -> None:
    spec = {name: one["suboptions"] for name, one in _shape_of_spec().items()}
    documented = _documented()
    targets = documented.pop("targets")["suboptions"]
    assert documented == targets
    assert list(documented) == list(spec) == list(target_options())
    assert _shape(documented, "suboptions") == _shape_of_spec()


def _shape_of_spec() -> dict[str, Any]:
    def renamed(shape: dict[str, Any]) -> dict[str, Any]:
        return {
            name: {
                **{key: value for key, value in one.items() if key != "options"},
                "suboptions": renamed(one["options"]),
            }
            for name, one in shape.items()
        }

    return renamed(_shape(target_options(), "options"))


def test_the_playbook_takes_every_option_of_a_cluster_once() -> None:
    (play,) = _yaml(ROOT / "playbooks" / "hosted_cluster.yml")
    words = [*play["vars"]["hosted_cluster_own_variables"], *play["vars"]["hosted_cluster_common_variables"]]
    assert sorted(words) == sorted(name for name in target_options() if name != "id")


def test_a_file_of_clusters_says_the_same_to_the_rulebook_as_to_the_playbook() -> None:
    (play,) = _yaml(ROOT / "playbooks" / "hosted_cluster.yml")
    assert sorted(clusters._COMMON) == sorted(set(play["vars"]["hosted_cluster_common_variables"]) - {"wait"})


_SAMPLES: dict[str, Any] = {
    "hosted_kubeconfig": "/a",
    "syncer_image": "registry.example.com/syncer:1",
    "syncer_tolerations": [{"operator": "Exists"}],
    "syncer_resources": {"requests": {"cpu": "1"}},
    "policy": {"quay.io": "original"},
    "kubelet_unit": "a.service",
    "kubelet_dir": "/a",
    "max_restarting": "1",
    "healthz": "none",
}


@pytest.mark.parametrize("name", list(target_options()))
def test_the_filter_takes_every_option(name: str) -> None:
    spec = target_options()[name]
    samples = {"dict": {"name": "a"}, "bool": True, "float": 1.0, "list": ["a"]}
    value = _SAMPLES.get(name) or (spec.get("choices") or [samples.get(spec["type"], "a")])[0]
    given = {
        "cluster_id": "a",
        "control_plane_namespace": "a",
        "syncer_image": _SAMPLES["syncer_image"],
        name: value,
    }
    (target,) = hosted_targets([given])
    # Ansible adds default values to mappings.
    assert target[name] == value or isinstance(value, (dict, list))
    assert target[name]


def test_every_option_is_used_where_a_cluster_is_built() -> None:
    text = Path(from_options.__file__).read_text()
    unused = [name for name in target_options() if f'"{name}"' not in text]
    assert unused == ["id"]
    assert all(f"{field.name}=" in text for field in dataclasses.fields(HostedCluster))


def test_the_role_passes_the_runs_options_on() -> None:
    role = set(_role())
    wanted = {PREFIX + name for name in run_options() if name not in NOT_THE_ROLES}
    assert role == wanted | {PREFIX + name for name in ("clusters", "defaults", "show_table")}
    (task, *_rest) = _yaml(ROLE / "tasks" / "hosted_cluster.yml")
    passed = task["hyperfleet.pull_secret.hosted_cluster_pull_secret"]
    assert set(passed) == {"targets", *(name.removeprefix(PREFIX) for name in wanted)}
    for name, value in passed.items():
        assert name == "targets" or PREFIX + name in value


def test_the_roles_defaults_are_those_that_it_describes() -> None:
    described = {name: one["default"] for name, one in _role().items() if "default" in one}
    assert _yaml(ROLE / "defaults" / "main.yml") == {f"{PREFIX}clusters": [], **described}
    for name, option in run_options().items():
        if PREFIX + name in described and "default" in option:
            assert described[PREFIX + name] == option["default"], name


def test_the_rulebook_passes_on_what_the_role_takes() -> None:
    path = ROOT / "extensions" / "eda" / "rulebooks" / "hosted_cluster.yml"
    text = path.read_text()
    ((book),) = _yaml(path)
    passed = next(
        rule["action"]["run_playbook"]["extra_vars"]
        for rule in book["rules"]
        if "run_playbook" in rule["action"]
    )
    del passed["clusters"]
    own = {name for name in passed if name.startswith(PREFIX)}
    assert own <= set(_role())
    assert all(passed[name].startswith(f"{{{{ {name} | default(") for name in own)
    # The playbook passes the rest for all clusters.
    assert set(passed) - own <= set(target_options())
    comment = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    used = set(re.findall(r"\{\{ (\w+)(?: \||\s*\}\})", text))
    assert used, "no variables found in the rulebook"
    for name in used:
        assert name in comment
        assert name in doc_tables.page("event_source")
