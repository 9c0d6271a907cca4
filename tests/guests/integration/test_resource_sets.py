# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Delivery through ClusterResourceSets: first, again, rotated, removed, and what is said aloud."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.client import (
    KubernetesClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    PullSecretError,
)
from tests.guests.integration.world import BINDINGS, SETS, World, rows
from tests.support.docker_configs import auth, docker_config, encoded


def test_first_again_and_rotated(world: World) -> None:
    namespace, name = world.guest()
    first = world.run()
    assert rows(first) == {f"{namespace}/{name}": "waiting"}, first
    assert first["changed"] is True
    assert first["targets"][0]["actions"] == ["created secret", "created clusterresourceset"]
    secret = world.api.secret(namespace, world.set_name)
    assert secret["type"] == "addons.cluster.x-k8s.io/resource-set"
    (manifest,) = world.manifests(namespace)
    assert (manifest["metadata"]["namespace"], manifest["metadata"]["name"]) == ("kube-system", "pull-secret")
    assert world.delivered(namespace) == docker_config(registry_example_com="one")
    resource_set = world.api.get(namespace, SETS, world.set_name)
    assert resource_set["spec"] == {
        "clusterSelector": {"matchLabels": {"cluster.x-k8s.io/cluster-name": name}},
        "resources": [{"kind": "Secret", "name": world.set_name}],
        "strategy": "Reconcile",
    }
    world.apply(namespace, name)
    world.api.reset()
    again = world.run()
    assert again["changed"] is False
    assert rows(again) == {f"{namespace}/{name}": "delivered"}
    assert world.api.writes() == []
    world.put_source(docker_config(registry_example_com="two", quay_io="new"))
    rotated = world.run(diff=True)
    assert rotated["targets"][0]["actions"] == ["updated secret"]
    assert world.delivered(namespace) == docker_config(registry_example_com="two", quay_io="new")
    assert "registry quay.io" in rotated["diff"][0]["after"]
    assert "registry registry.example.com (credential differs)" in rotated["diff"][0]["before"]
    assert auth("two") not in json.dumps(rotated)


def test_check_mode_writes_nothing(world: World) -> None:
    world.guest()
    result = world.run(check_mode=True)
    assert result["changed"] is True
    assert world.api.writes() == []


def test_several_clusters_in_a_namespace_keep_their_sets(world: World) -> None:
    namespace, _first = world.guest()
    world.run()
    _namespace, second = world.guest(namespace)
    world.run()
    names = world.api.names(namespace, SETS)
    # A selector is immutable, so the first Cluster's set stays.
    assert names == sorted([world.set_name, f"{world.set_name}-{second}"])
    other = world.api.get(namespace, SETS, f"{world.set_name}-{second}")
    assert other["spec"]["clusterSelector"]["matchLabels"] == {"cluster.x-k8s.io/cluster-name": second}
    assert world.run()["changed"] is False


def test_a_cluster_without_the_label_is_named(world: World) -> None:
    namespace, name = world.guest(labels={})
    good = "/".join(world.guest())
    result = world.run()
    assert rows(result) == {f"{namespace}/{name}": "failed", good: "waiting"}
    message = next(row["msg"] for row in result["targets"] if row.get("failed"))
    assert f"has no label cluster.x-k8s.io/cluster-name={name}" in message
    assert world.api.secret(namespace, world.set_name) is None
    labelled = world.run(label_clusters=True)
    assert not labelled.get("failed"), labelled
    row = next(row for row in labelled["targets"] if row["id"].endswith(f"/{name}"))
    assert row["actions"] == ["created secret", "created clusterresourceset", "labelled Cluster"]
    assert world.api.get(namespace, "clusters", name)["metadata"]["labels"] == {
        "cluster.x-k8s.io/cluster-name": name
    }


def test_a_cluster_that_others_write_is_labelled(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    namespace, name = world.guest(labels={})
    patch = KubernetesClient.patch

    def overtaken(client: KubernetesClient, *call: Any) -> Any:
        world.api.merge(namespace, "clusters", name, {"metadata": {"labels": {"tier": "gold"}}})
        return patch(client, *call)

    monkeypatch.setattr(KubernetesClient, "patch", overtaken)
    result = world.run(label_clusters=True)
    assert not result.get("failed"), result
    labels = {"cluster.x-k8s.io/cluster-name": name, "tier": "gold"}
    assert world.api.get(namespace, "clusters", name)["metadata"]["labels"] == labels


def test_paused_deleting_and_empty_are_said(world: World) -> None:
    paused = "/".join(world.guest(spec={"paused": True}))
    namespace, name = world.guest(finalizers=["cluster.cluster.x-k8s.io"])
    world.api.delete(namespace, "clusters", name)
    empty = world.namespace()
    result = world.run()
    assert rows(result) == {paused: "waiting", f"{namespace}/{name}": "skipped"}
    assert world.api.secret(namespace, world.set_name) is None
    warnings = {row["id"]: row["warnings"] for row in result["targets"]}
    assert warnings[paused] == ["the Cluster is paused; Cluster API applies ClusterResourceSets all the same"]
    assert warnings[f"{namespace}/{name}"] == ["skipped: the Cluster is being deleted"]
    world.api.merge(namespace, "clusters", name, {"metadata": {"finalizers": None}})
    assert result["notes"] == [f"namespace {empty} is selected and has no Cluster"]


def test_a_cluster_with_another_label_is_named(world: World) -> None:
    world.guest(labels={"cluster.x-k8s.io/cluster-name": "other"})
    result = world.run(label_clusters=True)
    assert "the Cluster's label cluster.x-k8s.io/cluster-name is other" in result["msg"]
    assert world.api.writes() == []


def test_a_new_cluster_in_the_namespace_of_one_that_left(world: World) -> None:
    world.guest()
    namespace, old = world.guest()
    world.run()
    world.api.delete(namespace, "clusters", old)
    _namespace, new = world.guest(namespace)
    result = world.run()
    assert not result.get("failed"), result
    assert rows(result)[f"{namespace}/{old}"] == "pruned"
    assert world.api.names(namespace, SETS) == [f"{world.set_name}-{new}"]
    assert world.run()["changed"] is False


def test_the_host_that_is_its_own_guest_keeps_the_delivered_secret(world: World) -> None:
    namespace, _name = world.guest()
    world.run()
    (manifest,) = world.manifests(namespace)
    # As Cluster API creates it, in the same cluster.
    manifest["metadata"]["namespace"] = world.source
    world.api.create(world.source, "secrets", manifest)
    assert world.run()["changed"] is False
    world.run(state="absent", source=None)
    assert world.api.secret(world.source, "pull-secret") is not None


def test_label_and_pattern_both_have_to_fit(world: World) -> None:
    chosen = "/".join(world.guest())
    world.guest()
    result = world.run(namespace_pattern=chosen.partition("/")[0])
    assert rows(result) == {chosen: "waiting"}
    # The whole name has to match.
    assert world.run(namespace_pattern=chosen[:3])["targets"] == []


def test_guests_that_left_are_removed(world: World) -> None:
    (stays, _one), (unselected, two), (gone, three) = world.guest(), world.guest(), world.guest()
    world.run()
    world.select(unselected, selected=False)
    result = world.run()
    assert rows(result)[f"{unselected}/{two}"] == "pruned"
    assert world.api.secret(unselected, world.set_name) is None
    assert world.api.get(unselected, SETS, world.set_name) is None
    world.api.delete(gone, "clusters", three)
    result = world.run()
    assert rows(result)[f"{gone}/{three}"] == "pruned"
    assert world.api.get(gone, SETS, world.set_name) is None
    assert world.api.get(stays, SETS, world.set_name) is not None
    assert world.run()["changed"] is False


def test_more_than_the_limit_is_refused_until_it_is_confirmed(world: World) -> None:
    guests = [world.guest() for _number in range(3)]
    world.run()
    for namespace, _name in guests[:2]:
        world.select(namespace, selected=False)
    result = world.run()
    assert result["failed"] is True
    first = "/".join(guests[0])
    assert f"2 of 3 guests ({first}: its namespace is not selected, " in result["msg"]
    assert "would be removed, more than prune_limit (10%); nothing was removed" in result["msg"]
    assert all(world.api.get(namespace, SETS, world.set_name) for namespace, _name in guests)
    confirmed = world.run(prune_limit="100%")
    assert not confirmed.get("failed"), confirmed
    assert [bool(world.api.get(namespace, SETS, world.set_name)) for namespace, _name in guests] == [
        False,
        False,
        True,
    ]


def test_an_empty_selection_removes_nothing(world: World) -> None:
    namespace, _name = world.guest()
    world.run()
    world.select(namespace, selected=False)
    for limit in ("10%", "100%"):
        result = world.run(prune_limit=limit)
        assert "because no namespace is selected; nothing was removed" in result["msg"]
        assert world.api.get(namespace, SETS, world.set_name) is not None


@pytest.mark.parametrize("failing", ["namespaces", "clusters", SETS, "secrets", BINDINGS])
def test_a_list_that_fails_removes_nothing(world: World, failing: str) -> None:
    guests = [world.guest(), world.guest()]
    world.run()
    world.select(guests[0][0], selected=False)
    world.api.reset()
    world.api.faults.add(verb="list", path=f"*/{failing}", status=503, times=None)
    with pytest.raises(PullSecretError, match=r"503|ServiceUnavailable"):
        world.run()
    assert world.api.writes() == []
    world.api.reset()
    assert all(world.api.get(namespace, SETS, world.set_name) for namespace, _name in guests)


def test_what_is_not_ours_is_refused_and_kept(world: World) -> None:
    namespace, name = world.guest()
    world.api.put_secret(namespace, world.set_name, {"manifests.yaml": "e30="})
    result = world.run()
    assert rows(result) == {f"{namespace}/{name}": "failed"}
    assert "has no label managed-by=hyperfleet" in result["targets"][0]["msg"]
    assert world.api.get(namespace, SETS, world.set_name) is None
    adopted = world.run(adopt=True)
    assert not adopted.get("failed"), adopted
    assert world.delivered(namespace) == docker_config(registry_example_com="one")


def test_another_delivery_is_refused(world: World) -> None:
    """Of two deliveries, one's name with the Cluster's behind it is the other's name."""
    namespace, _name = world.guest(name="dev")
    world.guest(namespace)
    assert not world.run().get("failed")
    world.api.delete(namespace, "clusters", world.api.names(namespace, "clusters")[1])
    other = world.run(set_name=f"{world.set_name}-dev", adopt=True)
    assert f"belongs to the delivery {world.set_name}" in other["msg"]


def test_a_set_with_another_strategy_is_not_replaced(world: World) -> None:
    namespace, name = world.guest()
    spec = {
        "clusterSelector": {"matchLabels": {"cluster.x-k8s.io/cluster-name": name}},
        "resources": [{"kind": "Secret", "name": world.set_name}],
        "strategy": "ApplyOnce",
    }
    world.api.create(namespace, SETS, {"metadata": {"name": world.set_name}, "spec": spec})
    result = world.run(adopt=True)
    assert "spec.strategy differs, and Cluster API does not allow to change it" in result["msg"]
    assert world.api.get(namespace, SETS, world.set_name)["spec"] == spec
    assert world.api.secret(namespace, world.set_name) is None


@pytest.mark.parametrize("phase", ["before", "after"])
def test_conflicts_and_lost_answers(world: World, phase: str) -> None:
    """The next attempt reads again, and the result still says what was done."""
    (leaving, name), (namespace, _name) = world.guest(), world.guest()
    world.run()
    world.select(leaving, selected=False)
    world.put_source(docker_config(registry_example_com="two"))
    world.api.reset()
    for verb in ("patch", "delete"):
        if phase == "before":
            world.api.faults.add(verb=verb, status=409, reason="Conflict")
        else:
            world.api.faults.add(verb=verb, drop=True, phase="after")
    result = world.run()
    assert not result.get("failed"), result
    actions = {row["id"]: row["actions"] for row in result["targets"]}
    assert actions[f"{leaving}/{name}"] == ["deleted secret", "deleted clusterresourceset"]
    assert "updated secret" in [action for each in actions.values() for action in each]
    assert world.delivered(namespace) == docker_config(registry_example_com="two")
    assert world.run()["changed"] is False


def test_an_old_binding_is_not_taken_for_the_delivery(world: World) -> None:
    namespace, name = world.guest()
    world.run()
    world.apply(namespace, name)
    world.put_source(docker_config(registry_example_com="two"))
    world.run()
    # Cluster API has not applied the new content yet.
    again = world.run()
    assert (again["changed"], rows(again)) == (False, {f"{namespace}/{name}": "waiting"})


def test_what_cluster_api_could_not_apply_is_said(world: World) -> None:
    namespace, _name = world.guest()
    world.run()
    condition = {"type": "ResourcesApplied", "status": "False", "reason": "ApplyFailed", "message": "no"}
    status = {"deprecated": {"v1beta1": {"conditions": [condition]}}}
    world.api.merge(namespace, SETS, world.set_name, {"status": status})
    (row,) = world.run()["targets"]
    assert row["warnings"] == [
        "Cluster API could not apply it (ApplyFailed); see the conditions of the ClusterResourceSet"
    ]


@pytest.mark.parametrize("more", [{"spec": "ConfigMap calico"}, {"data": "key cni.yaml"}])
def test_what_delivers_something_else_is_not_taken_over(world: World, more: dict[str, str]) -> None:
    namespace, name = world.guest()
    (where, what) = next(iter(more.items()))
    data = {"manifests.yaml": "e30=", **({"cni.yaml": "e30="} if where == "data" else {})}
    world.api.put_secret(namespace, world.set_name, data, "addons.cluster.x-k8s.io/resource-set")
    resources = [{"kind": "Secret", "name": world.set_name}]
    resources += [{"kind": "ConfigMap", "name": "calico"}] if where == "spec" else []
    spec = {
        "clusterSelector": {"matchLabels": {"cluster.x-k8s.io/cluster-name": name}},
        "resources": resources,
        "strategy": "Reconcile",
    }
    world.api.create(namespace, SETS, {"metadata": {"name": world.set_name}, "spec": spec})
    result = world.run(adopt=True)
    assert f"also delivers {what}" in result["msg"]
    assert world.api.get(namespace, SETS, world.set_name)["spec"] == spec
    assert world.api.secret(namespace, world.set_name)["data"] == data


@pytest.mark.parametrize(
    "text", ["---\n{}", '{"data": "x"}', '{"data": {".dockerconfigjson": 5}}', "[" * 9999]
)
def test_odd_content_is_repaired(world: World, text: str) -> None:
    namespace, _name = world.guest()
    world.run()
    world.api.put_secret(namespace, world.set_name, {"manifests.yaml": encoded(text)})
    result = world.run()
    assert not result.get("failed"), result
    assert world.delivered(namespace) == docker_config(registry_example_com="one")


def test_a_secret_that_lost_its_labels_is_not_forgotten(world: World) -> None:
    world.guest()
    namespace, name = world.guest()
    world.run()
    world.api.merge(namespace, "secrets", world.set_name, {"metadata": {"labels": {"managed-by": None}}})
    world.select(namespace, selected=False)
    result = world.run()
    assert rows(result)[f"{namespace}/{name}"] == "failed"
    assert "has no label managed-by=hyperfleet" in result["msg"]
    assert world.api.get(namespace, SETS, world.set_name) is not None


def test_a_selection_of_nothing_is_said(world: World) -> None:
    assert world.run()["notes"] == ["no namespace is selected"]
    world.guest()
    world.run()
    absent = world.run(state="absent", source=None, namespace_selector="delivery=typo")
    assert absent["notes"] == ["objects of this delivery stay in namespaces that are not selected: 1"]
    with pytest.raises(ConfigurationError, match="namespace_selector or namespace_pattern is required"):
        world.run(namespace_selector=" ")


def test_absent_removes_everything_of_this_delivery(world: World) -> None:
    guests = [world.guest() for _number in range(3)]
    world.run()
    other = world.run(set_name=f"{world.set_name}-other", secret_name="other")
    assert not other.get("failed"), other
    # Whether guests are pruned makes no difference to a removal.
    result = world.run(state="absent", source=None, prune=False)
    assert set(rows(result).values()) == {"pruned"}
    for namespace, _name in guests:
        assert world.api.get(namespace, SETS, world.set_name) is None
        assert world.api.get(namespace, SETS, f"{world.set_name}-other") is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"namespace_selector": None}, "namespace_selector or namespace_pattern is required"),
        (
            {"set_name": "crs.pull-secret"},
            "set_name must be at most 63 lower case letters, digits and dashes",
        ),
        ({"namespace_pattern": "("}, "namespace_pattern must be a regular expression"),
        ({"prune_limit": "ten"}, "prune_limit must be a share of the guests, such as 10%"),
        ({"source": None}, "one of source and layers is required"),
        ({"secret_namespaces": ["Kube"]}, r"secret_namespaces\[0\] must be"),
    ],
)
def test_wrong_options_are_named(world: World, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        world.run(**options)
