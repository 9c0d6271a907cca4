# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Direct delivery: first, again, rotated, repaired, pruned, and the guests that cannot be reached."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.guests.integration.world import SETS, World, rows
from tests.support.docker_configs import KEY, TYPE, auth, docker_config, encoded, held
from tests.support.kubernetes.world import Api

ONE, TWO = (docker_config(registry_example_com=word) for word in ("one", "two"))


class Direct:
    """A guest with a namespace of its own, and the task that delivers to it."""

    def __init__(self, world: World, guest: Api) -> None:
        self.world, self.api = world, guest
        self.space = guest.namespace()
        self.namespace, self.name = world.reach(*world.guest(labels={}), guest)
        self.id = f"{self.namespace}/{self.name}"

    def run(self, **more: Any) -> dict[str, Any]:
        return self.world.run(**{"delivery": "direct", "secret_namespaces": [self.space], **more})

    def row(self, **more: Any) -> dict[str, Any]:
        found = self.run(**more)
        return next(dict(row) for row in found["targets"] if row["id"] == self.id)

    def secret(self, space: str | None = None) -> Any:
        return self.api.secret(space or self.space, "pull-secret")

    def lead(self, kubeconfig: dict[str, Any]) -> None:
        """Give the Cluster another kubeconfig."""
        data = {"value": encoded(json.dumps(kubeconfig))}
        self.world.api.put_secret(self.namespace, f"{self.name}-kubeconfig", data)

    def record(self) -> Any:
        return self.world.api.get(self.namespace, "configmaps", self.world.set_name)


@pytest.fixture
def direct(world: World, guest: Api) -> Direct:
    return Direct(world, guest)


def test_first_again_and_rotated(direct: Direct) -> None:
    first = direct.row(diff=True)
    assert first["state"] == "delivered"
    assert first["place"] == f"namespaces/{direct.namespace}/configmaps/{direct.world.set_name}"
    assert direct.api.token not in json.dumps(first)
    assert first["actions"] == ["created record", "created secret", "updated record"]
    secret = direct.secret()
    assert (held(secret), secret["type"]) == (ONE, TYPE)
    assert secret["metadata"]["labels"]["hyperfleet.io/delivered-by"] == direct.world.set_name
    assert direct.record()["data"] == {direct.space: f"pull-secret/{secret['metadata']['resourceVersion']}"}
    direct.world.api.reset()
    direct.api.reset()
    again = direct.row()
    assert (again["state"], again["changed"]) == ("delivered", False)
    # One LIST in the guest, and nothing is written anywhere.
    assert [call.verb for call in direct.api.calls.matching()] == ["list"]
    assert {call.verb for call in direct.world.api.calls.matching()} == {"get", "list"}
    direct.world.put_source(TWO)
    rotated = direct.row()
    assert (rotated["state"], rotated["changed"]) == ("delivered", True)
    assert held(direct.secret()) == TWO
    assert direct.row()["changed"] is False


def test_check_mode_and_diff(direct: Direct) -> None:
    checked = direct.run(check_mode=True, diff=True)
    assert checked["targets"][0]["actions"] == ["created record", "created secret"]
    assert direct.secret() is None
    assert direct.record() is None
    assert "registry.example.com" in str(checked["diff"])
    assert auth("one") not in json.dumps(checked)
    direct.run()
    direct.world.put_source(TWO)
    assert direct.run(check_mode=True)["targets"][0]["actions"] == ["updated secret", "updated record"]
    assert held(direct.secret()) == ONE


def _changed(direct: Direct) -> None:
    direct.api.merge(direct.space, "secrets", "pull-secret", {"data": {KEY: encoded(json.dumps(TWO))}})


def _deleted(direct: Direct) -> None:
    direct.api.delete(direct.space, "secrets", "pull-secret")


def _of_another_type(direct: Direct) -> None:
    labels = direct.secret()["metadata"]["labels"]
    _deleted(direct)
    metadata = {"name": "pull-secret", "labels": labels}
    direct.api.create(direct.space, "secrets", {"metadata": metadata, "data": {KEY: encoded("{}")}})


@pytest.mark.parametrize("tamper", [_changed, _deleted, _of_another_type])
def test_what_others_change_in_a_guest_is_repaired(direct: Direct, tamper: Callable[[Direct], None]) -> None:
    direct.run()
    tamper(direct)
    assert direct.row(check_mode=True)["state"] == "repaired"
    assert direct.row()["state"] == "repaired"
    assert (held(direct.secret()), direct.secret()["type"]) == (ONE, TYPE)
    assert direct.row()["state"] == "delivered"


def test_others_labels_and_their_namespaces_stay(direct: Direct) -> None:
    direct.run()
    direct.api.merge(direct.space, "secrets", "pull-secret", {"metadata": {"labels": {"team": "gold"}}})
    other = direct.api.namespace()
    direct.api.put_secret(other, "pull-secret", {KEY: encoded(json.dumps(TWO))}, TYPE)
    assert direct.row()["changed"] is True
    direct.world.put_source(TWO)
    assert direct.row()["state"] == "delivered"
    assert direct.secret()["metadata"]["labels"]["team"] == "gold"
    assert direct.api.secret(other, "pull-secret") is not None


def test_a_foreign_secret_is_refused_or_adopted(direct: Direct) -> None:
    direct.api.put_secret(direct.space, "pull-secret", {KEY: encoded(json.dumps(TWO))}, TYPE)
    refused = direct.row()
    assert refused["kind"] == "ownership"
    assert "has no label managed-by=hyperfleet" in refused["msg"]
    assert held(direct.secret()) == TWO
    direct.api.merge(direct.space, "secrets", "pull-secret", {"data": {"own": "e30="}})
    assert "also holds key own" in direct.row(adopt=True)["msg"]
    direct.api.merge(direct.space, "secrets", "pull-secret", {"data": {"own": None}})
    assert direct.row(adopt=True)["state"] == "delivered"
    assert held(direct.secret()) == ONE
    other = direct.row(set_name=f"{direct.world.set_name}-b")
    assert f"belongs to the delivery {direct.world.set_name}" in other["msg"]
    change = {"metadata": {"labels": {"cluster-id": "another"}}}
    direct.api.merge(direct.space, "secrets", "pull-secret", change)
    assert "belongs to cluster another; it was not changed; if the guest was restored" in direct.row()["msg"]


def test_namespaces_by_label_and_all_of_them(direct: Direct) -> None:
    label = direct.api.new_name("wanted")
    spaces = [direct.api.namespace() for _number in range(2)]

    def mark(space: str, value: str | None) -> None:
        body = {"metadata": {"labels": {label: value}}}
        direct.api.request("PATCH", f"/api/v1/namespaces/{space}", body)

    def having() -> list[bool]:
        return [direct.secret(space) is not None for space in (direct.space, *spaces)]

    mark(spaces[0], "true")
    direct.run(secret_namespace_selector=label)
    assert having() == [True, True, False]
    mark(spaces[1], "true")
    mark(spaces[0], None)
    moved = direct.row(secret_namespace_selector=label)
    assert moved["actions"] == ["updated record", "created secret", "deleted secret"]
    assert having() == [True, False, True]
    # A label that vanished by accident removes nothing.
    mark(spaces[1], None)
    kept = direct.row(secret_namespace_selector=label)
    assert "nothing is removed" in kept["warnings"][0]
    assert having() == [True, False, True]
    direct.run(all_secret_namespaces=True)
    assert having() == [True, True, True]
    assert direct.secret("kube-system") is not None
    direct.run()
    assert having() == [True, False, False]


def test_service_accounts_keep_their_lists(direct: Direct) -> None:
    account = {"metadata": {"name": "builder"}, "imagePullSecrets": [{"name": "own"}]}
    direct.api.create(direct.space, "serviceaccounts", account)

    def listed() -> list[str]:
        found = direct.api.get(direct.space, "serviceaccounts", "builder")
        return [entry["name"] for entry in found.get("imagePullSecrets") or ()]

    direct.run(service_accounts=["builder"])
    assert listed() == ["own", "pull-secret"]
    assert direct.row(service_accounts=["builder"])["changed"] is False
    renamed = direct.row(service_accounts=["builder"], secret_name="regcred")
    assert renamed["state"] == "delivered"
    assert listed() == ["own", "regcred"]
    direct.run(service_accounts=["builder"])
    assert listed() == ["own", "pull-secret"]
    missing = direct.row(service_accounts=["other"])
    assert f"there is no service account {direct.space}/other; " in missing["warnings"][0]
    assert listed() == ["own"]
    direct.run(service_accounts=["builder"])
    direct.world.select(direct.namespace, selected=False)
    # The record knows the accounts, and that the Secret was there.
    direct.api.delete(direct.space, "secrets", "pull-secret")
    direct.run(state="absent", source=None, namespace_selector=None)
    assert listed() == ["own"]


def test_a_guest_that_left_loses_it(direct: Direct) -> None:
    direct.world.guest()
    assert rows(direct.run())[direct.id] == "delivered"
    direct.world.select(direct.namespace, selected=False)
    gone = direct.row()
    assert (gone["state"], gone["reason"]) == ("pruned", "its namespace is not selected")
    assert (direct.secret(), direct.record()) == (None, None)


@pytest.mark.parametrize("leads", ["nowhere", "to a dead server"])
def test_a_guest_that_is_gone_leaves_no_record(direct: Direct, leads: str) -> None:
    direct.world.guest()
    direct.run()
    direct.world.api.delete(direct.namespace, "clusters", direct.name)
    if leads == "nowhere":
        direct.world.api.delete(direct.namespace, "secrets", f"{direct.name}-kubeconfig")
    else:
        direct.lead(_kubeconfig("http://127.0.0.1:1"))
    gone = direct.row(api_timeout=1)
    assert gone["state"] == "pruned"
    assert ["what it held was not removed" in text for text in gone["warnings"]] == [True] * (
        leads != "nowhere"
    )
    assert direct.record() is None


def test_a_guest_that_lives_is_not_forgotten(direct: Direct) -> None:
    direct.world.guest()
    direct.run()
    direct.world.api.delete(direct.namespace, "secrets", f"{direct.name}-kubeconfig")
    unreached = direct.row()
    assert (unreached["kind"], unreached["failed"]) == ("not_found", True)
    direct.world.select(direct.namespace, selected=False)
    assert direct.row()["kind"] == "not_found"
    assert direct.record() is not None
    assert direct.secret() is not None


def test_a_cluster_that_ends_and_left_is_not_waited_for(direct: Direct) -> None:
    direct.world.guest()
    direct.run()
    finalizers = {"metadata": {"finalizers": ["cluster.cluster.x-k8s.io"]}}
    direct.world.api.merge(direct.namespace, "clusters", direct.name, finalizers)
    direct.world.api.delete(direct.namespace, "clusters", direct.name)
    direct.world.select(direct.namespace, selected=False)
    direct.lead(_kubeconfig("http://127.0.0.1:1"))
    assert direct.row(api_timeout=1)["state"] == "pruned"
    # Let it go.
    direct.world.api.merge(direct.namespace, "clusters", direct.name, {"metadata": {"finalizers": None}})


def test_a_new_cluster_of_the_name_is_waited_for(direct: Direct) -> None:
    direct.run()
    direct.world.api.delete(direct.namespace, "clusters", direct.name)
    direct.world.guest(direct.namespace, direct.name)
    direct.lead(_kubeconfig("http://127.0.0.1:1"))
    assert direct.row(api_timeout=1)["state"] == "waiting"
    # A removal finds nothing in it either.
    gone = direct.row(api_timeout=1, state="absent", source=None, check_mode=True)
    assert (gone["state"], gone["actions"]) == ("pruned", ["deleted record"])
    direct.api.delete(direct.space, "secrets", "pull-secret")
    direct.world.reach(direct.namespace, direct.name, direct.api)
    # It never had one.
    assert direct.row()["state"] == "delivered"


def test_copies_of_the_pull_secret_stay(direct: Direct) -> None:
    """Programs and people copy Secrets to other namespaces, with all their labels."""
    direct.run()
    labels = direct.secret()["metadata"]["labels"]
    other = direct.api.namespace()
    direct.api.create(other, "secrets", {"metadata": {"name": "pull-secret", "labels": labels}, "data": {}})
    assert direct.row()["changed"] is False
    direct.run(state="absent", source=None, namespace_selector=None)
    assert direct.secret() is None
    assert direct.secret(other) is not None


def test_a_second_record_of_a_guest_takes_nothing_from_it(direct: Direct) -> None:
    """Two runs at once may have named it differently, while a second Cluster was made."""
    direct.run()
    record = direct.record()
    name = f"{record['metadata']['name']}-{direct.name}"
    metadata = {"name": name, "labels": record["metadata"]["labels"]}
    direct.world.api.create(direct.namespace, "configmaps", {"metadata": metadata})
    assert not direct.run().get("failed")
    assert held(direct.secret()) == ONE
    names = direct.world.api.names(direct.namespace, "configmaps")
    assert len([one for one in names if one in (name, direct.world.set_name)]) == 1


def test_where_a_delivery_failed_nothing_is_removed(direct: Direct) -> None:
    direct.run()
    other = direct.api.namespace()
    wrong = {"secret_namespaces": ["kube-sytem", "other", other]}
    checked = direct.run(**wrong, check_mode=True)
    assert "kube-sytem/secrets/pull-secret: the namespace does not exist" in checked["msg"]
    failed = direct.row(**wrong)
    assert "namespaces/kube-sytem" in failed["msg"]
    assert failed["warnings"][0].endswith(
        "namespaces/other/secrets/pull-secret: namespace other does not exist"
    )
    assert (held(direct.secret()), held(direct.secret(other))) == (ONE, ONE)
    assert direct.row()["state"] == "delivered"
    assert direct.secret(other) is None


def test_without_prune_everything_stays(direct: Direct) -> None:
    other = direct.api.namespace()
    direct.run(secret_namespaces=[direct.space, other])
    kept = direct.row(prune=False)
    assert kept["changed"] is False
    assert set(direct.record()["data"]) == {direct.space, other}
    direct.run()
    assert (direct.secret(other), set(direct.record()["data"])) == (None, {direct.space})


@pytest.mark.parametrize("how", ["missing", "ending"])
def test_a_selected_namespace_that_goes_meanwhile_is_left_alone(direct: Direct, how: str) -> None:
    label = direct.api.new_name("wanted")
    space = direct.api.namespace()
    path = f"/api/v1/namespaces/{space}"
    direct.api.request("PATCH", path, {"metadata": {"labels": {label: "true"}}})
    if how == "ending":
        pod = {"metadata": {"name": "last", "finalizers": ["example.com/wait"]}}
        direct.api.create(space, "configmaps", pod)
    direct.api.before("create", f"*{space}*", lambda: direct.api.request("DELETE", path))
    row = direct.row(secret_namespace_selector=label)
    assert (row.get("failed"), row["state"]) == (None, "delivered")
    assert direct.secret() is not None


def test_a_foreign_config_map_is_not_taken_for_the_record(direct: Direct) -> None:
    metadata = {"name": direct.world.set_name}
    direct.world.api.create(direct.namespace, "configmaps", {"metadata": metadata, "data": {"a": "b"}})
    refused = direct.row(adopt=True)
    assert "exists but is not the record of this delivery" in refused["msg"]
    assert direct.record()["data"] == {"a": "b"}
    assert direct.secret() is None


def test_waiting_and_unreachable_guests_stop_nobody(direct: Direct) -> None:
    world, dead = direct.world, "http://127.0.0.1:1"
    ready: dict[str, Any] = {"status": {"initialization": {"controlPlaneInitialized": True}}}
    without = "/".join(world.guest())
    names = {"new": world.guest(), "down": world.guest(**ready)}
    for namespace, name in names.values():
        config = json.dumps(_kubeconfig(dead))
        world.api.put_secret(namespace, f"{name}-kubeconfig", {"value": encoded(config)})
    result = direct.run(api_timeout=1, timeout=3)
    new, down = ("/".join(name) for name in names.values())
    assert rows(result) == {direct.id: "delivered", without: "waiting", new: "waiting", down: "failed"}
    found = {row["id"]: row for row in result["targets"]}
    assert found[down]["kind"] in ("timeout", "unavailable")
    assert "its control plane is not ready: " in found[new]["warnings"][0]
    assert "-kubeconfig: the kubeconfig of" in found[without]["warnings"][0]


def _kubeconfig(url: str) -> dict[str, Any]:
    return {
        "current-context": "guest",
        "clusters": [{"name": "guest", "cluster": {"server": url}}],
        "users": [{"name": "admin", "user": {"token": "example-token"}}],
        "contexts": [{"name": "guest", "context": {"cluster": "guest", "user": "admin"}}],
    }


def test_a_kubeconfig_that_leads_elsewhere_fails_its_guest(direct: Direct) -> None:
    user = {"user": {"exec": {"command": "example-program"}}}
    config = {**_kubeconfig(direct.api.url), "users": [{"name": "admin", **user}]}
    direct.lead(config)
    failed = direct.row()
    assert "the kubeconfig's user has exec, which is not allowed" in failed["msg"]


def test_the_other_delivery_has_to_be_removed_first(direct: Direct) -> None:
    world = direct.world
    by_sets = {"delivery": "cluster_resource_set", "label_clusters": True}
    direct.run(**by_sets)
    with pytest.raises(ConfigurationError, match="remove it first, with state: absent and delivery: cluster"):
        direct.run()
    direct.run(**by_sets, state="absent", source=None)
    assert world.api.get(direct.namespace, SETS, world.set_name) is None
    # A run was killed between both objects.
    direct.run(**by_sets)
    world.api.delete(direct.namespace, SETS, world.set_name)
    with pytest.raises(ConfigurationError, match="remove it first, with state: absent and delivery: cluster"):
        direct.run()
    direct.run(**by_sets, state="absent", source=None)
    direct.run()
    with pytest.raises(ConfigurationError, match="remove it first, with state: absent and delivery: direct"):
        direct.run(**by_sets)
    with pytest.raises(ConfigurationError, match="is a delivery with delivery: direct"):
        world.run(state="absent", source=None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"service_accounts": ["default"]}, "service_accounts needs delivery: direct"),
        ({"secret_namespace_selector": "a"}, "secret_namespace_selector needs delivery: direct"),
        ({"all_secret_namespaces": True}, "all_secret_namespaces needs delivery: direct"),
        ({"delivery": "direct", "label_clusters": True}, "label_clusters has no effect with"),
        ({"delivery": "direct", "secret_namespace_selector": "a&b"}, "must be a label selector"),
        (
            {"delivery": "direct", "secret_namespace_selector": "a", "all_secret_namespaces": True},
            "has no effect with all_secret_namespaces",
        ),
    ],
)
def test_options_that_have_no_effect_are_refused(world: World, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        world.run(**options)


@pytest.mark.parametrize("tamper", [_changed, _deleted])
def test_a_resource_sets_run_reports_what_differs_in_a_guest(
    direct: Direct, tamper: Callable[[Direct], None]
) -> None:
    world = direct.world
    by_sets = {"delivery": "cluster_resource_set", "label_clusters": True}
    direct.run(**by_sets)
    (manifest,) = world.manifests(direct.namespace)
    direct.api.create(direct.space, "secrets", manifest)
    world.apply(direct.namespace, direct.name)
    delivered = direct.row(**by_sets)
    assert (delivered["state"], delivered["warnings"]) == ("delivered", [])
    tamper(direct)
    drifted = direct.row(**by_sets)
    assert (drifted["state"], drifted["changed"]) == ("delivered", False)
    assert "is not as it was delivered, and Cluster API does not repair it" in drifted["warnings"][0]
    assert auth("two") not in json.dumps(drifted)
    direct.api.faults.add(path="*", status=503, times=99)
    assert direct.row(**by_sets, report_drift=False)["warnings"] == []
    unknown = direct.row(**by_sets)
    assert "the guest could not be looked at: " in unknown["warnings"][0]
    world.api.delete(direct.namespace, "secrets", f"{direct.name}-kubeconfig")
    assert direct.row(**by_sets)["warnings"] == []
