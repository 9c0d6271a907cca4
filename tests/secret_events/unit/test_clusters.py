# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source's options and its list of clusters."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.clusters import (
    check_clusters,
    parse_cluster_list,
    parse_clusters,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.settings import (
    KubeconfigSecret,
    ServerOptions,
    Watched,
    parse_settings,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.hosted import hosted_targets

DEFAULT = ServerOptions(kubeconfig="/etc/management")
ADDITIONAL = ("kube-system", "additional-pull-secret")


def test_a_watch_uses_its_own_connection_or_its_entrys_or_the_default() -> None:
    own = {"namespace": "three", "name": "s", "host": "https://three"}
    entries = [
        {"cluster_id": "cls-1", "watches": [{"namespace": "one", "name": "s"}]},
        {"cluster_id": "cls-2", "context": "two", "watches": [{"namespace": "two", "name": "s"}, own]},
    ]
    found, _targets, complaints = parse_clusters(entries, DEFAULT)
    assert complaints == []
    assert found == {
        Watched(DEFAULT, "one", "s"): {"cls-1"},
        Watched(ServerOptions(context="two"), "two", "s"): {"cls-2"},
        Watched(ServerOptions(host="https://three"), "three", "s"): {"cls-2"},
    }


def test_a_secret_of_two_clusters_is_watched_once() -> None:
    watches = [{"namespace": "shared", "name": "pull-secret"}]
    entries = [{"cluster_id": cluster, "watches": watches} for cluster in ("cls-1", "cls-2")]
    found, _targets, _complaints = parse_clusters(entries, DEFAULT)
    assert list(found.values()) == [{"cls-1", "cls-2"}]


def test_a_hosted_cluster_is_found_through_its_control_plane() -> None:
    entry = {"cluster_id": "cls-1", "control_plane_namespace": "clusters-1", "syncer_image": "any"}
    found, _targets, complaints = parse_clusters([entry], DEFAULT)
    assert complaints == []
    assert set(found) == {
        Watched(DEFAULT, "clusters-1", None),
        Watched(ServerOptions(secret=KubeconfigSecret(DEFAULT, "clusters-1")), *ADDITIONAL),
    }


def test_a_hosted_cluster_may_say_all_itself() -> None:
    entry = {
        "cluster_id": "cls-1",
        "original": {"namespace": "vault", "name": "original"},
        "management_context": "mgmt-2",
        "hosted_kubeconfig": "/etc/cls-1",
        "hosted_context": "admin",
        "hosted_namespace": "openshift-config",
    }
    found, _targets, complaints = parse_clusters([entry], DEFAULT)
    assert complaints == []
    assert set(found) == {
        Watched(ServerOptions(kubeconfig="/etc/management", context="mgmt-2"), "vault", "original"),
        Watched(
            ServerOptions(kubeconfig="/etc/cls-1", context="admin"),
            "openshift-config",
            "additional-pull-secret",
        ),
    }


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ("cls-1", "entry 2 of clusters must be a mapping"),
        ({}, "entry 2 of clusters: cluster_id is missing"),
        ({"cluster_id": "../cls"}, "entry 2 of clusters: cluster_id is missing or is not a valid name"),
        ({"cluster_id": "cls-2", "watches": []}, "cluster cls-2: watches must be a list"),
        ({"cluster_id": "cls-2", "watches": [{"namespace": "a"}]}, "cluster cls-2: watches: name is missing"),
        (
            {"cluster_id": "cls-2", "watches": [{"namespace": "a", "name": "b", "key": "c"}]},
            "unknown keys: key",
        ),
        ({"cluster_id": "cls-2", "token": "x", "watches": [{}]}, "cluster cls-2: unknown keys: token"),
        ({"cluster_id": "cls-2"}, "cluster cls-2: control_plane_namespace is missing"),
        ({"cluster_id": "cls-2", "hosted_kubeconfig": ["a"]}, "cluster cls-2: kubeconfig must be a string"),
    ],
)
def test_an_entry_that_cannot_be_used_is_left_out_alone(entry: Any, complaint: str) -> None:
    good = {"cluster_id": "cls-1", "control_plane_namespace": "clusters-1"}
    found, _targets, complaints = parse_clusters([good, entry], DEFAULT)
    assert len(found) == 2
    assert len(complaints) == 1
    assert complaint in complaints[0]
    with pytest.raises(ConfigurationError, match=r"of clusters|cluster cls-2"):
        check_clusters([good, entry])


@pytest.mark.parametrize(
    "other",
    [
        {"control_plane_namespace": "clusters-2"},
        {"control_plane_namespace": "clusters-1"},
        {"watches": [{"namespace": "two", "name": "s"}]},
    ],
)
def test_an_id_of_two_entries_belongs_to_neither_as_in_the_role(other: dict[str, Any]) -> None:
    """Otherwise a change of the first would merge the pull secret of the second."""
    entries = [
        {"cluster_id": "cls-1", "control_plane_namespace": "clusters-1"},
        {"cluster_id": "cls-2", "control_plane_namespace": "clusters-3"},
        {"cluster_id": "cls-1", **other},
    ]
    found, targets, complaints = parse_clusters(entries, DEFAULT)
    assert complaints == ["cluster cls-1: 2 entries have this cluster_id; all of them are ignored"]
    assert set(targets) == {"cls-2"}
    assert set(found.values()) == {frozenset({"cls-2"})}
    with pytest.raises(ConfigurationError, match="cluster cls-1: 2 entries"):
        check_clusters(entries)


def test_an_entry_that_cannot_be_used_takes_nothing_from_another_of_its_id() -> None:
    good = {"cluster_id": "cls-1", "control_plane_namespace": "clusters-1"}
    found, targets, complaints = parse_clusters([good, {"cluster_id": "cls-1"}], DEFAULT)
    assert (len(found), targets) == (2, {"cls-1": good})
    assert complaints[0].startswith("cluster cls-1: control_plane_namespace is missing")


def test_numbers_are_names_as_for_the_role() -> None:
    entry = {"cluster_id": 5, "control_plane_namespace": 0, "original": {"name": 7}, "syncer_image": "a"}
    assert [target["cluster_id"] for target in hosted_targets([entry])] == ["5"]
    found, targets, complaints = parse_clusters([entry], DEFAULT)
    assert complaints == []
    assert targets == {"5": entry}
    assert Watched(DEFAULT, "0", "7") in found
    _found, _targets, (complaint,) = parse_clusters([{**entry, "cluster_id": True}], DEFAULT)
    assert complaint == "entry 1 of clusters: cluster_id is missing or is not a valid name"


def test_what_is_to_be_absent_needs_no_original_as_for_the_role() -> None:
    entry = {"cluster_id": "cls-1", "hosted_context": "admin", "state": "absent"}
    assert len(hosted_targets([entry])) == 1
    assert hosted_targets([{**entry, "state": "present"}]) == []
    found, targets, complaints = parse_clusters([entry], DEFAULT)
    assert complaints == []
    assert targets == {"cls-1": entry}
    assert set(found) == {Watched(ServerOptions(kubeconfig="/etc/management", context="admin"), *ADDITIONAL)}
    assert parse_clusters([{**entry, "state": "present"}], DEFAULT).complaints


@pytest.mark.parametrize("text", [b"[]", b"clusters: []", b'{"clusters": []}', b"---\n[]\n"])
def test_a_file_is_the_list_or_has_one(text: bytes) -> None:
    assert parse_cluster_list(text, "clusters.yml", DEFAULT) == ({}, {}, [])


def test_what_stands_beside_the_list_holds_for_all_of_it_as_for_the_playbook() -> None:
    text = b"""
syncer_image: registry.example.com/syncer:1
hosted_namespace: tenants
management_context: ""
hosted_cluster_timeout: 600
clusters:
  - {cluster_id: cls-1, control_plane_namespace: clusters-1}
  - {cluster_id: cls-2, control_plane_namespace: clusters-2, syncer_image: other, hosted_namespace: ""}
"""
    found, targets, complaints = parse_cluster_list(text, "clusters.yml", DEFAULT)
    assert complaints == []
    assert {watched.namespace for watched in found} == {"clusters-1", "clusters-2", "tenants"}
    common = {"hosted_namespace": "tenants"}
    assert targets == {
        "cls-1": {
            **common,
            "cluster_id": "cls-1",
            "control_plane_namespace": "clusters-1",
            "syncer_image": "registry.example.com/syncer:1",
        },
        "cls-2": {
            **common,
            "cluster_id": "cls-2",
            "control_plane_namespace": "clusters-2",
            "syncer_image": "other",
        },
    }


@pytest.mark.parametrize(("seconds", "kept"), [(600, {}), ("600", {}), (0, {"rollout_timeout": 0})])
def test_how_long_nodes_are_waited_for_is_not_the_entrys_to_say(seconds: Any, kept: dict[str, Any]) -> None:
    entry = {"cluster_id": "cls-1", "control_plane_namespace": "clusters-1"}
    waiting = {"wait": True, "rollout_timeout": seconds}
    assert parse_clusters([{**entry, **waiting}], DEFAULT).targets == {"cls-1": {**entry, **kept}}
    assert parse_clusters([entry], DEFAULT, waiting).targets == {"cls-1": {**entry, **kept}}


def test_an_entry_with_a_docker_config_in_it_gets_into_no_event() -> None:
    config = '{"auths": {"quay.io": {"auth": "dXNlcjpleGFtcGxlLXBhc3N3b3Jk"}}}'
    entry = {"cluster_id": "cls-1", "control_plane_namespace": "clusters-1", "original": {"name": config}}
    found, targets, complaints = parse_clusters([entry], DEFAULT)
    assert (found, targets) == ({}, {})
    assert len(complaints) == 1
    assert "auths" not in complaints[0]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"clusters: [example-password", "neither JSON nor YAML"),
        (b"\xff\xfe\x00", "neither JSON nor YAML"),
        (b"example-password", "must hold a list of clusters"),
        (b"{}", "must hold a list of clusters"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_not_quoted(text: bytes, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        parse_cluster_list(text, "clusters.yml", DEFAULT)
    assert "clusters.yml" in str(caught.value)
    assert "example-password" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, "clusters is missing"),
        ({"clusters": "f", "cluster": 1}, "kubernetes_secret: unknown keys: cluster"),
        # The engine would wait for a reader of its feedback. The event for all clusters at the start makes it
        # needless.
        ({"clusters": "f", "feedback": True}, "kubernetes_secret: unknown keys: feedback"),
        ({"clusters": "f", "batch": 5}, "batch must be a mapping with delay, max"),
        ({"clusters": "f", "batch": {"size": 5}}, "batch: unknown keys: size"),
        ({"clusters": "f", "batch": {"delay": "soon"}}, "batch.delay must be a number"),
        ({"clusters": "f", "resync": -1}, "resync must be a number from 0 to 2592000"),
        ({"clusters": "f", "resync": float("nan")}, "resync must be a number"),
        ({"clusters": "f", "resync": 1e300}, "resync must be a number"),
        ({"clusters": "f", "resync": True}, "resync must be a number"),
        ({"clusters": "f", "silence": 10**400}, "silence must be a number from 1 to 86400"),
        ({"clusters": "f", "batch": {"delay": 3601}}, "batch.delay must be a number from 0 to 3600"),
        ({"clusters": "f", "batch": {"max": 0}}, "batch.max must be a number from 1 to 100000"),
        ({"clusters": "/a\0b"}, "clusters must be the path of a file"),
        ({"clusters": "f", "kubernetes": {"kubeconfig": "/a\0b"}}, "kubernetes: kubeconfig must be the path"),
        (
            {"clusters": "f", "kubernetes": {"host": "https://a", "context": "b"}},
            "host cannot be combined with",
        ),
        ({"clusters": "f", "kubernetes": {"api_key": "b"}}, "kubernetes: unknown keys: api_key"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        parse_settings(arguments)


def test_arguments_come_as_texts_too() -> None:
    settings = parse_settings({"clusters": "f", "batch": {"delay": "2", "max": "7"}, "resync": "0"})
    assert (settings.delay, settings.most, settings.resync, settings.silence) == (2.0, 7, 0.0, 330.0)
