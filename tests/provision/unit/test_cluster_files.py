# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cluster descriptions from files. Their pull secrets are not read."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml
from ansible.errors import AnsibleError, AnsibleLookupError

from ansible_collections.hyperfleet.pull_secret.plugins.lookup import cluster_files
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.problems import check_cluster_list
from tests.support.yaml_bombs import MERGES

SECRET = '{"auths": {"quay.io": {"auth": "dXNlcjpleGFtcGxlLXBhc3N3b3Jk"}}}'
DOCUMENT: dict[str, Any] = {
    "kind": "Cluster",
    "id": "cls-1",
    "name": "one",
    "spec": {"provider": "gcp", "gcp": {"projectId": "customer-prod-12345"}, "pullSecret": {"data": SECRET}},
    "status": {"conditions": []},
}


def read(*terms: Path, **options: Any) -> list[dict[str, Any]]:
    """Call the lookup as Ansible does, except for Ansible's own loading of options."""
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


def shown(path: Path) -> str:
    """The path as messages show it: long ones are cut to the file's name."""
    return str(path) if len(str(path)) < 80 else path.name


@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.yml"])
def test_a_cluster_as_the_api_returns_it(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name)
    assert read(path) == [
        {
            "cluster_id": "cls-1",
            "cluster_name": "one",
            "gcp_project_id": "customer-prod-12345",
            "management_namespace": "clusters-cls-1",
            "source": {"file": str(path), "field": "spec.pullSecret.data"},
        }
    ]


@pytest.mark.parametrize(
    "term", ["/tmp/a\0b", "/tmp/\ud800", "/tmp/" + "a" * 5000], ids=["nul", "half", "long"]
)
def test_what_can_be_no_path_is_refused(term: str) -> None:
    with pytest.raises(AnsibleLookupError, match="must be the path of a file or a directory"):
        read(term)  # type: ignore[arg-type]


def test_snake_case_is_read_too(tmp_path: Path) -> None:
    spec = {"gcp": {"project_id": "p-2"}, "pull_secret": {"data": SECRET}}
    (cluster,) = read(written(tmp_path / "a.json", {**DOCUMENT, "spec": spec}))
    assert cluster["gcp_project_id"] == "p-2"
    assert cluster["source"]["field"] == "spec.pull_secret.data"


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("automatic", {"replication_policy": "automatic"}),
        (
            "user-managed:europe-west1, us-east1",
            {"replication_policy": "user_managed", "replication_locations": ["europe-west1", "us-east1"]},
        ),
        (None, {}),
        ("", {}),
    ],
)
@pytest.mark.parametrize("name", ["replicationPolicy", "replication_policy"])
def test_the_replication_policy_is_read(tmp_path: Path, name: str, policy: Any, expected: Any) -> None:
    gcp = {"projectId": "customer-prod-12345", name: policy}
    (found,) = read(written(tmp_path / "a.json", {**DOCUMENT, "spec": {**DOCUMENT["spec"], "gcp": gcp}}))
    assert {key: value for key, value in found.items() if key.startswith("replication")} == expected
    assert [checked.problem for checked in check_cluster_list([found])] == [None]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"gcp": {"replicationPolicy": {"userManaged": {}}}},
            "spec.gcp.replicationPolicy must be automatic",
        ),
        ({"gcp": {"replicationPolicy": ["a"]}}, "spec.gcp.replicationPolicy must be automatic"),
        ({"gcp": {"replicationPolicy": False}}, "spec.gcp.replicationPolicy must be automatic"),
        ({"gcp": {"replicationPolicy": "regional"}}, "spec.gcp.replicationPolicy must be automatic or"),
        ({"gcp": ["projectId"]}, "spec.gcp must be a mapping"),
        ({"pullSecret": "example-value"}, "spec.pullSecret must be a mapping"),
        ({"pull_secret": ["example-value"]}, "spec.pull_secret must be a mapping"),
        (
            {"pull_secret": {"data": "{}"}},
            "spec.pullSecret.data and spec.pull_secret.data are both set and differ",
        ),
        (
            {"replicationPolicy": "user-managed:europe-west1"},
            "spec.replicationPolicy is not a known field; did you mean spec.gcp.replicationPolicy?",
        ),
        ({"pullSecret": {"Data": "{}"}}, "spec.pullSecret.Data is not a known field; did you mean"),
    ],
)
def test_what_the_adapter_refuses_is_a_problem_here(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    path = written(tmp_path / "a.json", {**DOCUMENT, "spec": {**DOCUMENT["spec"], **changes}})
    (found,) = read(path)
    assert set(found) == {"cluster_id", "problem"}
    assert found["problem"].startswith(f"{shown(path)}: {said}")


def test_no_pull_secret_leaves_its_file(tmp_path: Path) -> None:
    assert "dXNlcjpleGFtcGxl" not in json.dumps(read(written(tmp_path / "a.json")))


@pytest.mark.parametrize("wrong", ["robot:Example-Passw0rd", {"a": "b"}, ["a"], 7])
def test_a_namespace_that_is_none_is_refused_by_its_path(tmp_path: Path, wrong: Any) -> None:
    placed = {**DOCUMENT, "status": {"adapters": {"placement": {"data": {"namespace": wrong}}}}}
    (cluster,) = read(written(tmp_path / "a.json", placed))
    assert (
        "status.adapters.placement.data.namespace must be at most 63 lower case letters" in cluster["problem"]
    )
    assert "Passw0rd" not in str(cluster)


def test_the_placement_decides_the_namespace(tmp_path: Path) -> None:
    """The job contract says that the placement adapter writes it there."""
    placed = {**DOCUMENT, "status": {"adapters": {"placement": {"data": {"namespace": "placed-here"}}}}}
    assert read(written(tmp_path / "a.json", placed))[0]["management_namespace"] == "placed-here"


def test_one_that_is_being_deleted_is_a_problem(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", {**DOCUMENT, "deleted_time": "2026-11-20T10:00:00Z"})
    assert read(path) == [{"cluster_id": "a.json", "problem": f"{shown(path)}: the cluster is being deleted"}]


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


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not {kind}"),
        ("[]", "must be a mapping (one cluster)"),
        ('"text"', "must be a mapping (one cluster)"),
        ("{}", "must be a cluster with an id, which is a string and not empty"),
        ('{"id": 7}', "must be a cluster with an id, which is a string and not empty"),
        ('{"id": ""}', "must be a cluster with an id, which is a string and not empty"),
        (b'{"id": "\xff"}', "is not {kind}"),
        (b"\x00\x01", "is not {kind}"),
    ],
)
@pytest.mark.parametrize("name", ["broken.json", "broken.yaml"])
def test_a_broken_file_is_a_problem_of_its_own(
    tmp_path: Path, name: str, content: str | bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    written(tmp_path / "fine.json")
    told = said.format(kind=Path(name).suffix[1:].upper())
    found = read(tmp_path)
    assert set(found[0]) == {"cluster_id", "problem"}
    # A file that is neither JSON nor YAML is reported with a line number.
    assert found[0]["problem"].partition(" (line ")[0] == f"{shown(tmp_path / name)} {told}"
    assert found[1]["cluster_id"] == "cls-1"
    assert [checked.problem for checked in check_cluster_list(found)] == [found[0]["problem"], None]


def test_what_cannot_be_read_is_a_problem_of_its_own_and_nothing_hangs(tmp_path: Path) -> None:
    written(tmp_path / "a.json")
    (tmp_path / "dangling.json").symlink_to(tmp_path / "absent")
    (tmp_path / "directory.yaml").mkdir()
    os.mkfifo(tmp_path / "fifo.json")
    (tmp_path / "loop.yml").symlink_to(tmp_path / "loop.yml")
    with (tmp_path / "sparse.json").open("wb") as stream:
        stream.truncate(17 * 1024 * 1024)
    found = read(tmp_path)
    assert [cluster["cluster_id"] for cluster in found] == [
        *("cls-1", "dangling.json", "directory.yaml", "fifo.json", "loop.yml", "sparse.json")
    ]
    assert [str(cluster.get("problem")).rpartition("/")[2] for cluster in found] == [
        "None",
        "dangling.json cannot be read: No such file or directory",
        "directory.yaml cannot be read: Is a directory",
        "fifo.json cannot be read: not a regular file",
        "loop.yml cannot be read: Too many levels of symbolic links",
        "sparse.json cannot be read: larger than 16 MiB",
    ]


def test_a_file_that_may_not_be_read_is_a_problem_of_its_own(tmp_path: Path) -> None:
    """The error is simulated: root, who may run the tests, can read every file."""
    path = written(tmp_path / "a.json")
    with mock.patch.object(
        cluster_files, "read_regular", side_effect=PermissionError(errno.EACCES, "Permission denied")
    ):
        (cluster,) = read(tmp_path)
    assert cluster == {"cluster_id": "a.json", "problem": f"{shown(path)} cannot be read: Permission denied"}


def test_one_id_in_several_files_is_a_problem_of_each(tmp_path: Path) -> None:
    for name in ("a.json", "b.yaml", "c.json"):
        written(tmp_path / name)
    written(tmp_path / "d.json", {**DOCUMENT, "id": "cls-2"})
    found = read(tmp_path)
    said = (
        f"{shown(tmp_path / 'a.json')} and {shown(tmp_path / 'b.yaml')} (and 1 more) have the same id, cls-1"
    )
    assert [cluster.get("problem") for cluster in found] == [said, said, said, None]
    assert [cluster["cluster_id"] for cluster in found] == ["a.json", "b.yaml", "c.json", "cls-2"]


def test_a_file_given_twice_is_told_as_that(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json")
    assert [cluster["problem"] for cluster in read(path, path)] == [f"{shown(path)} is given 2 times"] * 2


def test_an_id_that_may_be_a_secret_is_not_told(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        written(tmp_path / name, {**DOCUMENT, "id": SECRET})
    assert "dXNlcjpleGFtcGxl" not in json.dumps(read(tmp_path))


@pytest.mark.parametrize(
    ("misplaced", "said"),
    [
        ({"name": SECRET}, "the cluster's name: a docker config or a credential"),
        ({"name": json.loads(SECRET)}, "the cluster's name must be a string"),
        ({"spec": {"gcp": {"projectId": SECRET}}}, "gcp_project_id: a docker config or a credential"),
        (
            {"spec": {"gcp": {"projectId": json.loads(SECRET)}}},
            "spec.gcp.projectId must be a string or a whole number",
        ),
        ({"id": SECRET}, "its id is not a valid name"),
    ],
)
def test_a_pull_secret_in_the_wrong_place_stays_in_its_file(
    tmp_path: Path, misplaced: dict[str, Any], said: str
) -> None:
    path = written(tmp_path / "a.json", {**DOCUMENT, **misplaced})
    (cluster,) = read(path)
    assert set(cluster) == {"cluster_id", "problem"}
    assert cluster["problem"].startswith(f"{shown(path)}: {said}")
    assert "dXNlcjpleGFtcGxl" not in json.dumps(cluster)


def test_a_name_that_is_no_text_is_a_problem_of_its_own(tmp_path: Path) -> None:
    written(Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json")))
    (cluster,) = read(tmp_path)
    assert cluster["problem"] == "a file (its name not shown): its name is not UTF-8"
    assert [checked.name for checked in check_cluster_list([cluster])] == ["cluster 1"]


def test_hidden_files_are_left_out(tmp_path: Path) -> None:
    written(tmp_path / ".hidden.json")
    written(tmp_path / "a.json", {**DOCUMENT, "id": "cls-2"})
    assert [cluster["cluster_id"] for cluster in read(tmp_path)] == ["cls-2"]


@pytest.mark.parametrize("name", [None, "README.md", ".hidden.json"])
def test_a_directory_without_cluster_files_is_an_error(tmp_path: Path, name: str | None) -> None:
    if name:
        written(tmp_path / name)
    with pytest.raises(AnsibleError, match=r"has no cluster files \(\*\.json, \*\.yaml, \*\.yml\)"):
        read(tmp_path)


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AnsibleError, match="absent does not exist, or is neither a file nor a directory"):
        read(tmp_path / "absent")


def test_a_directory_that_may_not_be_listed_is_an_error(tmp_path: Path) -> None:
    refused = PermissionError(errno.EACCES, "Permission denied")
    with mock.patch.object(os, "listdir", side_effect=refused), pytest.raises(AnsibleError) as caught:
        read(tmp_path)
    assert str(caught.value) == f"{shown(tmp_path)} cannot be listed: Permission denied"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.yaml", MERGES, "has more than 100000 values after its aliases are expanded (line 9)"),
        (
            "a.yaml",
            f"id: cls-1\nspec: !!timestamp '{SECRET}'\n",
            "has a value that does not fit its tag (line 2)",
        ),
        ("a.json", "[" * 500 + "]" * 500, "is nested more than 100 levels deep"),
    ],
)
def test_a_file_out_of_bounds_is_a_problem_of_its_own(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    path = written(tmp_path / name, text)
    written(tmp_path / "b.json", {**DOCUMENT, "id": "cls-2"})
    found = read(tmp_path)
    assert [cluster.get("problem") for cluster in found] == [f"{shown(path)} {said}", None]


def test_yaml_runs_nothing(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    read(written(tmp_path / "a.yaml", f"id: !!python/object/apply:os.mknod [{str(marker)!r}]\n"))
    assert not marker.exists()
