# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Clusters from their files: everything of them but their pull secrets."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml
from ansible.errors import AnsibleError

from ansible_collections.hyperfleet.pull_secret.plugins.lookup import cluster_files
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.provision import gcp_targets

SECRET = '{"auths": {"quay.io": {"auth": "dXNlcjpleGFtcGxlLXBhc3N3b3Jk"}}}'
DOCUMENT: dict[str, Any] = {
    "kind": "Cluster",
    "id": "cls-1",
    "name": "one",
    "spec": {"provider": "gcp", "gcp": {"projectId": "p-1"}, "pullSecret": {"data": SECRET}},
    "status": {"conditions": []},
}


def read(*terms: Path, **options: Any) -> list[dict[str, Any]]:
    """The lookup as Ansible runs it, but for Ansible's own loading of options."""
    documented = yaml.safe_load(cluster_files.DOCUMENTATION)["options"]
    values = {name: option.get("default") for name, option in documented.items()} | options
    plugin = cluster_files.LookupModule()
    with mock.patch.multiple(plugin, set_options=mock.DEFAULT, get_option=values.__getitem__):
        found: list[dict[str, Any]] = plugin.run([str(term) for term in terms], variables={}, **options)
    return found


def written(path: Path, document: Any = None) -> Path:
    document = DOCUMENT if document is None else document
    dump = json.dumps if path.suffix == ".json" else yaml.safe_dump
    path.write_text(document if isinstance(document, str) else dump(document))
    return path


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.yml"])
def test_a_cluster_as_the_api_returns_it(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name)
    assert read(path) == [
        {
            "cluster_id": "cls-1",
            "cluster_name": "one",
            "gcp_project_id": "p-1",
            "management_namespace": "clusters-cls-1",
            "source": {"file": str(path), "field": "spec.pullSecret.data"},
        }
    ]


def test_snake_case_is_read_too(tmp_path: Path) -> None:
    spec = {"gcp": {"project_id": "p-2"}, "pull_secret": {"data": SECRET}}
    (cluster,) = read(written(tmp_path / "a.json", {**DOCUMENT, "spec": spec}))
    assert cluster["gcp_project_id"] == "p-2"
    assert cluster["source"]["field"] == "spec.pull_secret.data"


def test_no_pull_secret_leaves_its_file(tmp_path: Path) -> None:
    assert "dXNlcjpleGFtcGxl" not in json.dumps(read(written(tmp_path / "a.json")))


def test_the_placement_decides_the_namespace(tmp_path: Path) -> None:
    placed = {**DOCUMENT, "status": {"placement": {"data": {"namespace": "placed-here"}}}}
    assert read(written(tmp_path / "a.json", placed))[0]["management_namespace"] == "placed-here"


def test_the_namespace_of_one_that_is_not_placed_is_an_option(tmp_path: Path) -> None:
    (cluster,) = read(written(tmp_path / "a.json"), namespace="ns-{id}-x")
    assert cluster["management_namespace"] == "ns-cls-1-x"


def test_a_directory_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("c.json", "a.yaml", "b.yml"):
        written(tmp_path / name, {**DOCUMENT, "id": f"cls-{name[0]}"})
    for name in ("README.md", "d.json.bak", "e"):
        (tmp_path / name).write_text("not a cluster")
    assert [cluster["cluster_id"] for cluster in read(tmp_path)] == ["cls-a", "cls-b", "cls-c"]


def test_several_terms(tmp_path: Path) -> None:
    one = written(tmp_path / "one.json")
    (tmp_path / "more").mkdir()
    written(tmp_path / "more" / "two.json", {**DOCUMENT, "id": "cls-2"})
    assert [cluster["cluster_id"] for cluster in read(tmp_path / "more", one)] == ["cls-2", "cls-1"]


@pytest.mark.parametrize("content", ["", "{", "[]", '"text"', "{}", '{"spec": 7, "status": [], "id": null}'])
@pytest.mark.parametrize("name", ["Broken_one.json", "Broken_one.yaml"])
def test_a_broken_file_is_a_cluster_that_will_fail_alone(tmp_path: Path, content: str, name: str) -> None:
    """It goes by its file's name, in letters that an id may have."""
    path = written(tmp_path / name, content)
    (cluster,) = read(path)
    assert cluster["cluster_id"] == "broken-one"
    assert cluster["source"]["file"] == str(path)
    assert gcp_targets([cluster])[0]["source"] == cluster["source"]


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AnsibleError, match="absent is neither a file nor a directory"):
        read(tmp_path / "absent")


def test_an_unreadable_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "loop.json"
    os.symlink(path, path)
    with pytest.raises(AnsibleError, match=r"loop\.json cannot be read"):
        read(tmp_path)


def test_yaml_runs_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    read(written(tmp_path / "a.yaml", f"id: !!python/object/apply:os.mknod [{str(marker)!r}]\n"))
    assert not marker.exists()
