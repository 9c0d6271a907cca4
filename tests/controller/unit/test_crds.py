# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The CRDs, the watches and the installation say the same as the code."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.managed_object import GROUP
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.custom_resources import (
    KINDS,
    camel_case,
    in_snake_case,
)
from tests.tools.crds import crd, files
from tests.tools.env import ROOT

OPERATOR = ROOT / "extensions" / "operator"


def test_the_crds_are_current() -> None:
    for path, text in files().items():
        assert path.read_text() == text, "make crds"


def test_no_spec_holds_a_value_or_names_a_file_of_the_controller() -> None:
    def names(schema: Any) -> set[str]:
        if not isinstance(schema, dict):
            return set()
        properties = schema.get("properties") or {}
        inner = [*properties.values(), schema.get("items"), schema.get("additionalProperties")]
        return set(properties).union(*map(names, inner))

    for kind in KINDS.values():
        spec = crd(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
        assert not names(spec) & {
            "inline",
            "file",
            "env",
            "kubeconfig",
            "context",
            "managementKubeconfig",
            "tokenFile",
        }


@pytest.mark.parametrize("kind", list(KINDS))
def test_each_kind_has_a_watch_a_sample_and_rights(kind: str) -> None:
    watches = {watch["kind"]: watch for watch in yaml.safe_load((OPERATOR / "watches.yaml").read_text())}
    watch = watches[kind]
    assert watch["markUnsafe"] is True
    # Otherwise the operator does not start.
    assert watch["finalizer"]["vars"]
    assert watch["maxRunnerArtifacts"] >= 3
    playbook = watch["playbook"].partition("/pull_secret/")[2]
    assert (ROOT / playbook).is_file()
    samples = [yaml.safe_load(path.read_text()) for path in (OPERATOR / "config" / "samples").glob("*.yaml")]
    assert [sample["kind"] for sample in samples].count(kind) == 1
    role = yaml.safe_load((OPERATOR / "config" / "rbac" / "role.yaml").read_text())
    resources = {
        resource for rule in role["rules"] if GROUP in rule["apiGroups"] for resource in rule["resources"]
    }
    assert {KINDS[kind].plural, f"{KINDS[kind].plural}/status"} <= resources


def test_an_option_of_guests_reaches_the_role() -> None:
    play = yaml.safe_load((ROOT / "playbooks" / "operator" / "guest_pull_secret.yml").read_text())[0]
    variables = play["tasks"][1]["vars"]
    options = {name.removeprefix("guest_cluster_") for name in variables} - {"digest_key", "show_table"}
    assert options == {*KINDS["GuestPullSecret"].options(), "state"}
    assert all(f"operator_delivery.{name} |" in variables[f"guest_cluster_{name}"] for name in options)


def test_keys_that_are_data_stay_as_they_are() -> None:
    options = KINDS["PullSecret"].options()
    spec = {
        "clusterId": "cls-1",
        "labels": {"cost-center": "a", "costCenter": "b"},
        "retention": {"keep": 2, "destroyAfter": 3600},
        "layers": [{"name": "a", "source": {"kubernetes": {"namespace": "n", "name": "s"}}}],
        "deletionPolicy": "Delete",
    }
    assert in_snake_case(spec, options) == {
        "cluster_id": "cls-1",
        "labels": {"cost-center": "a", "costCenter": "b"},
        "retention": {"keep": 2, "destroy_after": 3600},
        "layers": spec["layers"],
    }
    assert camel_case("k8s_secret_name") == "k8sSecretName"


def test_the_versions_are_those_of_the_collection() -> None:
    version = yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"]
    manager = yaml.safe_load((OPERATOR / "config" / "manager" / "kustomization.yaml").read_text())
    assert manager["images"][0]["newTag"] == version
    assert f"ARG VERSION={version}\n" in (OPERATOR / "Containerfile").read_text()
    pins = set((ROOT / "requirements" / "libraries.txt").read_text().splitlines())
    pins |= set((ROOT / "requirements" / "rulebook.txt").read_text().splitlines())
    own = [
        line for line in (OPERATOR / "requirements.txt").read_text().splitlines() if not line.startswith("#")
    ]
    assert set(own) <= pins
