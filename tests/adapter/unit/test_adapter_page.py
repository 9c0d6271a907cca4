# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The page *adapter*: a valid configuration, complete permissions, and a pod with all that the adapter needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.config import (
    load_adapter_config,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.schema import (
    SCHEMA,
)
from tests.support import doc_tables
from tests.support.adapter_jobs.rights import documented, granted, pod

_LEAST = doc_tables.yaml_blocks(doc_tables.page("adapter"))[0]


def test_the_least_configuration_is_one(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(_LEAST)
    config = load_adapter_config(str(path))
    accounts = {item["metadata"]["name"] for item in documented() if item["kind"] == "ServiceAccount"}
    assert {config.name, config.job.service_account} == accounts
    assert config.namespace == "hyperfleet-system"


def test_the_rights_are_whole_and_none_is_for_everything() -> None:
    objects = documented()
    held = {(item["kind"], item["metadata"]["name"]) for item in objects}
    bound = [item for item in objects if item["kind"].endswith("Binding")]
    roles = {(item["roleRef"]["kind"], item["roleRef"]["name"]) for item in bound}
    assert roles == {pair for pair in held if pair[0] in ("Role", "ClusterRole")}
    assert all(("ServiceAccount", one["name"]) in held for item in bound for one in item["subjects"])
    assert not [row for row in granted(objects) if "*" in row]
    # No permission in all namespaces gives access to data.
    everywhere = {(verb, resource) for _user, where, verb, resource in granted(objects) if where is None}
    assert everywhere == {("get", "namespaces")}


def test_the_pod_has_what_the_adapter_needs(tmp_path: Path) -> None:
    config_map, deployment = pod()
    spec = deployment["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    assert set(mounts) == {one["name"] for one in spec["volumes"]}
    path = tmp_path / "config.yaml"
    path.write_text(config_map["data"]["config.yaml"])
    config = load_adapter_config(str(path))
    # Both configurations on the page have the same meaning.
    path.write_text(_LEAST)
    assert load_adapter_config(str(path)) == config
    assert config.name == spec["serviceAccountName"]
    assert config.metrics.port == container["ports"][0]["containerPort"]
    named = {f"{mounts['config']}/{one}" for one in config_map["data"]}
    used = {word for word in container["args"] if word.startswith("/")}
    used.add(yaml.safe_load(config_map["data"]["vars.yml"])["adapter_config"])
    assert used == named
    assert config.broker.url_file == f"{mounts['broker']}/url"
    assert deployment["spec"]["strategy"] == {"type": "Recreate"}
    for probe in ("livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] == container["ports"][0]["name"]


def test_what_the_go_adapters_fields_become_are_fields() -> None:
    """Each AdapterConfig field in the table exists in the schema; each field of the Go adapters is listed once."""
    rows = doc_tables.table(doc_tables.page("migrate"), "Go adapter", "AdapterConfig", "Note")
    assert len(rows) > 15
    for row in rows:
        for name in doc_tables.literals(row[1]):
            assert _field(name) is not None or _field(f"jobTemplate.{name}") is not None, name
    theirs = [name for row in rows for name in doc_tables.literals(row[0]) if name.startswith("clients.")]
    assert len(theirs) == len(set(theirs)) >= 7


def _field(path: str) -> Any:
    """The schema of a field, below ``spec`` or at the top level, or None."""
    for found in (SCHEMA["properties"]["spec"], SCHEMA):
        for name in path.split("."):
            found = (found or {}).get("properties", {}).get(name.removesuffix("[]"))
            if name.endswith("[]") and found is not None:
                found = found.get("items")
        if found is not None:
            return found
    return None
