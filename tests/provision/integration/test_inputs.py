# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Wrong cluster descriptions, and the options of the whole run."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.provision.integration.test_interrupted import until
from tests.support.docker_configs import auth, docker_config
from tests.support.nightly import some
from tests.support.provision import World, recap, rows
from tests.support.secret_manager import PROJECT

ONE = docker_config(quay_io="one")


def test_wrong_clusters_fail_alone_before_anything_of_them_is_written(world: World) -> None:
    """The errors are for either of the two places, or from the modules' own validation of arguments."""
    good = [world.cluster(), world.cluster()]
    wrong: dict[str, Any] = {
        "unknown key 'gcp_projectid'": {"gcp_projectid": "customer-prod-12345"},
        "management_namespace is missing": {"management_namespace": None},
        "management_namespace must be at most 63 lower case": {"management_namespace": "No_Namespace"},
        "k8s_secret_name must be lower case": {"k8s_secret_name": "Upper"},
        "labels must be a mapping": {"labels": "x"},
        "state must be one of present, absent": {"state": "foo"},
        "source must be a mapping with one of": {"source": "/etc/pull-secret.json"},
        "source has both file and env": {"source": {"file": "x", "env": None}},
        "source.kubernetes.name is missing": {"source": {"kubernetes": {"namespace": "a"}}},
        "retention must be a mapping": {"retention": 5},
        "service_accounts[0] must be a string": {"service_accounts": [{"a": "b"}]},
        "source.env: a docker config": {"source": {"env": auth("one")}},
    }
    bad = [{**world.cluster(), **change} for change in wrong.values()]
    twins = [world.cluster(), world.cluster()]
    twins[1]["cluster_id"] = twins[0]["cluster_id"]
    numbered = {**world.cluster(), "cluster_id": 123}
    finished = world.provision({"clusters": [good[0], *bad, *twins, numbered, "cls-9", good[1]]})
    assert finished.code != 0
    assert recap(finished)["failed"] == 1
    table = rows(finished)
    for cluster, said in zip(bad, wrong, strict=True):
        row = table[cluster["cluster_id"]]
        assert row["reason"].startswith(said), row
        assert (row["kind"], row["version"]) == ("configuration", None)
    numbers = f"{len(bad) + 2} and {len(bad) + 3}"
    both = f"is the cluster_id of clusters {numbers}; correct it, or remove all but one of them"
    assert table[twins[0]["cluster_id"]]["reason"] == f"{twins[0]['cluster_id']} {both}"
    assert "cluster_id must be a string" in table[f"cluster {len(bad) + 4}"]["reason"]
    assert "it is a string, not a mapping" in table[f"cluster {len(bad) + 5}"]["reason"]
    assert auth("one") not in finished.output
    for cluster in good:
        assert table[cluster["cluster_id"]]["kind"] is None
        assert world.placed_config(cluster) == ONE
    assert len(world.manager.store) == len(good)
    assert len(world.api.writes()) == len(good)


@pytest.mark.parametrize(
    ("clusters", "kind"),
    some([(5, "a "), ("clusters.yml", "a string"), ({}, "a mapping")]),
)
@pytest.mark.nightly
def test_what_is_no_list_of_clusters_is_one_clear_error(world: World, clusters: Any, kind: str) -> None:
    """ansible-core 2.18 converts the number to a string."""
    finished = world.provision({"clusters": clusters})
    assert finished.code != 0
    assert f"clusters must be a list of mappings, not {kind}" in finished.output
    assert len(world.manager.store) == 0


@pytest.mark.nightly
def test_an_empty_variable_is_no_list_and_no_success(world: World) -> None:
    """``clusters:`` with nothing below it is null."""
    finished = world.provision({"clusters": None})
    assert finished.code != 0
    said = finished.result["msg"]
    assert said.startswith("no cluster is given; describe one with -e cluster_id=ID ")
    assert "-e @clusters.yml" in said
    assert "-e clusters_dir=DIRECTORY" in said


@pytest.mark.nightly
def test_an_empty_list_is_nothing_to_do(world: World) -> None:
    finished = world.provision({"clusters": []})
    assert finished.code == 0, finished.output
    assert recap(finished)["changed"] == 0


@pytest.mark.nightly
def test_a_missing_variable_is_told(world: World) -> None:
    finished = world.provision({"cluster_id": world.api.new_name("cls")})
    assert finished.code != 0
    (row,) = rows(finished).values()
    assert row["kind"] == "configuration"
    assert "project" in row["reason"]
    assert world.api.writes() == []


@pytest.mark.nightly
def test_a_missing_directory_is_told(world: World) -> None:
    finished = world.provision({"clusters_dir": "/nonexistent/fleet"})
    assert finished.code != 0
    assert "/nonexistent/fleet does not exist, or is neither a file nor a directory" in finished.output


@pytest.mark.nightly
def test_a_directory_without_cluster_files_is_told(world: World) -> None:
    world.fleet.joinpath(".hidden.json").write_text("{}")
    finished = world.provision({"clusters_dir": "../fleet"})
    assert finished.code != 0
    assert "../fleet has no cluster files (*.json, *.yaml, *.yml)" in finished.output


@pytest.mark.nightly
def test_a_directorys_clusters_are_kept_where_their_spec_says(world: World) -> None:
    """Replication can only be chosen when a secret is created, so a file's value must not be ignored."""
    europe, _path = world.cluster_file(replicationPolicy="user-managed:europe-west1,europe-west4")
    anywhere, _path = world.cluster_file()
    _cluster, wrong = world.cluster_file(replicationPolicy={"userManaged": {"replicas": []}})
    finished = world.provision({"clusters_dir": "../fleet"})
    told = {name: row["reason"] for name, row in rows(finished).items() if row["failed"]}
    assert list(told) == [wrong.name]
    said = "spec.gcp.replicationPolicy must be automatic or user-managed:LOCATION,LOCATION"
    assert told[wrong.name] == f"../fleet/{wrong.name}: {said} (it is a mapping with userManaged)"
    kept = {
        cluster: [replica.location for replica in found.message.replication.user_managed.replicas]
        for cluster in (europe, anywhere)
        if (found := world.manager.store.find(PROJECT, f"hyperfleet-{cluster}-pull-secret"))
    }
    assert kept == {europe: ["europe-west1", "europe-west4"], anywhere: []}


@pytest.mark.nightly
def test_broken_files_fail_alone_and_do_not_stop_the_fleet(world: World) -> None:
    """The run starts beside the directory, so that messages show the path as it was given."""
    fine = [world.cluster_file()[0], world.cluster_file()[0]]
    twin, path = world.cluster_file()
    (world.fleet / "twin.yaml").write_text(path.read_text())
    (world.fleet / "cut.json").write_text('{"id": "cls-1", "spec": {"pullSecret": {"data": "example-pass')
    (world.fleet / "dangling.json").symlink_to(world.fleet / "absent")
    (world.fleet / "directory.json").mkdir()
    (world.fleet / "text.json").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(world.fleet / "fifo.yml")
    finished = world.provision({"clusters_dir": "../fleet"})
    assert finished.code != 0
    told = {name: row["reason"] for name, row in rows(finished).items() if row["failed"]}
    both = f"../fleet/{path.name} and ../fleet/twin.yaml have the same id, {twin}"
    assert told == {
        path.name: both,
        "twin.yaml": both,
        "cut.json": "../fleet/cut.json is not JSON (line 1)",
        "dangling.json": "../fleet/dangling.json cannot be read: No such file or directory",
        "directory.json": "../fleet/directory.json cannot be read: Is a directory",
        "text.json": "../fleet/text.json is not JSON",
        "fifo.yml": "../fleet/fifo.yml cannot be read: not a regular file",
    }
    assert "example-pass" not in finished.output
    assert [world.placed_config(identity) for identity in fine] == [ONE, ONE]
    assert len(world.manager.store) == len(fine)


@pytest.mark.nightly
def test_in_a_role_of_ones_own_a_wrong_cluster_fails_alone_too(world: World) -> None:
    """Ansible validates the role's variables first. The role is the one of the README."""
    identity, _path = world.cluster_file()
    (world.fleet / "cut.json").write_text("{")
    files = "lookup('hyperfleet.pull_secret.cluster_files', '../fleet/', wantlist=True)"
    every = f"{{{{ {files} | map('combine', {{'labels': {{'team': 'a'}}}}) + ['cls-9'] }}}}"
    role = {
        "ansible.builtin.import_role": {"name": "hyperfleet.pull_secret.provision"},
        "vars": {"provision_clusters": every},
    }
    play = [{"hosts": "localhost", "gather_facts": False, "tasks": [role]}]
    finished = world.provision({}, playbook=play)
    assert finished.code != 0
    failed = {name: row["reason"] for name, row in rows(finished).items() if row["failed"]}
    assert failed == {
        "cut.json": "../fleet/cut.json is not JSON (line 1)",
        "cluster 3": "it is a string, not a mapping",
    }
    assert world.placed_config(identity) == ONE
    assert world.placed(identity)["metadata"]["labels"]["team"] == "a"


@pytest.mark.nightly
def test_files_are_read_once(world: World) -> None:
    """The files are read once, at the beginning of the run."""
    identity, path = world.cluster_file()
    world.manager.faults.add("AddSecretVersion", delay=0.5)
    running = world.start({"clusters_dir": "../fleet"})
    until(lambda: world.manager.calls.count("CreateSecret") > 0, "the first call")
    # The pull secret has been read by now. Only a second reading would need the file.
    path.unlink()
    finished = running.wait()
    assert finished.code == 0, finished.output
    assert world.placed_config(identity) == ONE


@pytest.mark.parametrize(
    ("variables", "said"),
    some(
        [
            (
                {"clusters": [], "state": "absent", "adopt": "true"},
                "cluster, or unset it with an empty string, such as -e state=",
            ),
            ({"clusters_dir": "../fleet", "cluster_id": "cls-1"}, "cluster_id: a variable of one cluster"),
            (
                {"clusters_dir": "../fleet", "source": {"file": "x"}},
                "with an empty string, such as -e source=",
            ),
            (
                {"clusters_dir": "../fleet", "k8s_immutable": False},
                "k8s_immutable: a variable of one cluster",
            ),
            ({"clusters_dir": "../fleet", "clusters": []}, "clusters and clusters_dir are both given"),
        ]
    ),
)
@pytest.mark.nightly
def test_what_would_be_ignored_is_refused(world: World, variables: dict[str, Any], said: str) -> None:
    world.cluster_file()
    finished = world.provision(variables)
    assert finished.code != 0
    assert said in finished.result["msg"]
    assert len(world.manager.store) == 0


@pytest.mark.nightly
def test_empty_variables_say_nothing(world: World) -> None:
    """For example a survey's empty fields, or a variable that overrides one of the inventory."""
    identity, _path = world.cluster_file()
    finished = world.provision({"clusters_dir": "../fleet", "clusters": "", "state": "", "labels": None})
    assert finished.code == 0, finished.output
    assert world.placed_config(identity) == ONE
    again = world.provision({"clusters": [world.cluster()], "clusters_dir": ""})
    assert again.code == 0, again.output


@pytest.mark.parametrize("source", some([{}, "/etc/pull-secret.json"]))
@pytest.mark.nightly
def test_a_source_that_names_no_place_is_told(world: World, source: Any) -> None:
    """An empty source does not mean the HyperFleet API, and a path is not a source."""
    finished = world.provision({**world.cluster(), "source": source})
    assert finished.code != 0
    (row,) = rows(finished).values()
    places = "inline, file, env, kubernetes, gcp, hyperfleet"
    assert row["reason"] == f"source must be a mapping with one of {places}"
    assert len(world.manager.store) == 0


@pytest.mark.nightly
def test_one_secret_manager_for_all_is_down(world: World) -> None:
    clusters = [world.cluster() for _number in range(3)]
    world.manager.faults.add("*", code="UNAVAILABLE")
    finished = world.provision({"clusters": clusters})
    assert finished.code != 0
    assert {row["kind"] for row in rows(finished).values()} == {"unavailable"}
    assert {row["management_secret"] for row in rows(finished).values()} == {"not reached"}
    assert world.api.writes() == []


@pytest.mark.nightly
def test_the_management_cluster_is_down(world: World) -> None:
    clusters = [world.cluster() for _number in range(3)]
    world.api.faults.add(status=503, times=None)
    finished = world.provision({"clusters": clusters})
    assert finished.code != 0
    assert {row["kind"] for row in rows(finished).values()} == {"unavailable"}
    assert [world.versions(cluster) for cluster in clusters] == [1, 1, 1]
    world.api.faults.clear()
    assert world.provision({"clusters": clusters}).code == 0
    assert [world.versions(cluster) for cluster in clusters] == [1, 1, 1]


@pytest.mark.nightly
def test_defaults_of_the_action_group(world: World) -> None:
    """module_defaults apply to the modules. They do not break the role, which has variables for the same
    options.
    """
    cluster = world.cluster()
    group: dict[str, Any] = {
        "gcp": {"endpoint": f"http://{world.manager.grpc}"},
        "kubernetes": {"host": world.api.url, "api_key": world.api.token},
        "digest_key": "example-key",
        "retry": {"tries": 2, "delay": 0.01},
    }
    target = {
        "cluster_id": cluster["cluster_id"],
        "project": PROJECT,
        "source": cluster["source"],
    }
    place = {
        "cluster_id": cluster["cluster_id"],
        "namespace": cluster["management_namespace"],
        "source": cluster["source"],
    }
    role = {
        "ansible.builtin.import_role": {"name": "hyperfleet.pull_secret.provision"},
        "vars": {
            "provision_clusters": [cluster],
            "provision_gcp": group["gcp"],
            "provision_kubernetes": group["kubernetes"],
        },
    }
    play = [
        {
            "hosts": "localhost",
            "gather_facts": False,
            "module_defaults": {"group/hyperfleet.pull_secret.pull_secret": group},
            "tasks": [
                {"hyperfleet.pull_secret.gcp_pull_secret": target},
                {"hyperfleet.pull_secret.k8s_pull_secret": place},
                {"hyperfleet.pull_secret.dockerconfig_merge": {"source": cluster["source"]}},
                role,
            ],
        }
    ]
    # Without these variables the modules cannot find the lab by themselves.
    for name in ("KUBECONFIG", "SECRET_MANAGER_EMULATOR_HOST"):
        world.ansible.env[name] = ""
    finished = world.ansible.playbook(play)
    assert finished.code == 0, finished.output
    digests = [
        finished.of(name)[0]["targets"][0]["digest"]
        for name in ("gcp_pull_secret", "k8s_pull_secret", "dockerconfig_merge")
    ]
    assert len(set(digests)) == 1, "the same key for all targets gives the same digest"
    assert world.placed_config(cluster) == ONE
    assert rows(finished)[cluster["cluster_id"]]["version"] == "1"


@pytest.mark.nightly
def test_options_of_the_whole_run_reach_both_modules(world: World) -> None:
    """Each option is set to something that fails: an endpoint without a server, a missing kubeconfig."""
    cluster = world.cluster()
    missing = {"endpoint": "http://127.0.0.1:9"}
    lab = world.ansible.env.pop("SECRET_MANAGER_EMULATOR_HOST")
    finished = world.provision({"clusters": [cluster], "provision_gcp": missing})
    (row,) = rows(finished).values()
    assert row["kind"] == "unavailable"
    elsewhere = {
        "provision_gcp": {"endpoint": f"http://{lab}"},
        "provision_kubernetes": {"kubeconfig": "/nonexistent/kubeconfig"},
    }
    finished = world.provision({"clusters": [cluster], **elsewhere})
    (row,) = rows(finished).values()
    assert row["version"] == "1"
    assert row["kind"] == "configuration"
    assert "kubeconfig" in row["reason"]
