# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which guests get the pull secret, under which names, and which are pruned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.client import (
    KubernetesClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    NotFound,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.guest_cluster import (
    GuestCluster,
    GuestPullSecret,
    HostNamespace,
    ObjectAddress,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.guest_cluster.host import (
    read_host,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.guest_cluster.plan import (
    GuestPlan,
    Host,
    plan_guests,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.guest_cluster.recorded import (
    Recorded,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.guest_table import guest_table

WANTED = GuestPullSecret("crs", "pull-secret", ("kube-system",), "guests=true", None)


def owned(namespace: str, name: str, cluster: str) -> dict[str, Any]:
    return {"metadata": {"namespace": namespace, "name": name, "labels": {"cluster-id": cluster}}}


def host(guests: list[str], recorded: list[tuple[str, str, str]], *namespaces: HostNamespace) -> Host:
    """``guests``: ``namespace/name``; ``recorded``: namespace, name and Cluster of ClusterResourceSets."""
    places = [guest.partition("/") for guest in guests]
    clusters = [GuestCluster(namespace, name, labels={}) for namespace, _slash, name in places]
    spaces = namespaces or tuple(
        HostNamespace(name) for name in sorted({cluster.namespace for cluster in clusters})
    )
    return Host(spaces, clusters, [owned(*record) for record in recorded], [])


def names(plan: GuestPlan) -> dict[str, str]:
    return {delivery.id: delivery.set_name for delivery in plan.deliveries}


def reasons(plan: GuestPlan) -> dict[str, str]:
    return {f"{removal.namespace}/{removal.set_name}": removal.reason for removal in plan.removals}


@pytest.mark.parametrize(
    ("guests", "recorded", "expected"),
    [
        (["a/one"], [], {"a/one": "crs"}),
        (["a/one", "a/two"], [], {"a/one": "crs-one", "a/two": "crs-two"}),
        # An existing name stays, whatever the number of Clusters is.
        (["a/one", "a/two"], [("a", "crs", "one")], {"a/one": "crs", "a/two": "crs-two"}),
        (["a/one"], [("a", "crs-one", "one")], {"a/one": "crs-one"}),
        # The Cluster of before has left.
        (["a/two"], [("a", "crs", "one")], {"a/two": "crs-two"}),
        (["a/one", "b/one"], [("a", "crs", "one")], {"a/one": "crs", "b/one": "crs"}),
    ],
)
def test_names(guests: list[str], recorded: list[tuple[str, str, str]], expected: dict[str, str]) -> None:
    assert names(plan_guests(WANTED, host(guests, recorded))) == expected


def test_a_secret_without_its_set_keeps_its_name() -> None:
    """A run was killed between the two, and a second Cluster came."""
    listed = replace(host(["a/one", "a/two"], []), secrets=[owned("a", "crs", "one")])
    plan = plan_guests(WANTED, listed)
    assert names(plan) == {"a/one": "crs", "a/two": "crs-two"}
    assert plan.removals == []


def test_reasons_of_removals() -> None:
    recorded = [("a", "crs", "one"), ("a", "crs-gone", "gone"), ("z", "crs", "far"), ("a", "crs-one", "one")]
    plan = plan_guests(replace(WANTED, prune_percent=100), host(["a/one"], recorded))
    assert reasons(plan) == {
        "a/crs": "another record is its Cluster's",
        "a/crs-gone": "its Cluster is gone",
        "z/crs": "its namespace is not selected",
    }
    assert names(plan) == {"a/one": "crs-one"}


@pytest.mark.parametrize(
    ("percent", "recorded", "leaving", "refused"),
    [(10, 3, 1, False), (10, 20, 2, False), (10, 20, 3, True), (29, 100, 29, False), (0, 9, 2, True)],
)
def test_the_limit(percent: int, recorded: int, leaving: int, refused: bool) -> None:
    guests = [f"n{number}/c" for number in range(leaving, recorded)]
    listed = host(guests, [(f"n{number}", "crs", "c") for number in range(recorded)])
    plan = plan_guests(replace(WANTED, prune_percent=percent), listed)
    assert bool(plan.refused) == refused
    assert len(plan.removals) == (0 if refused else leaving)


def test_a_removal_that_began_goes_on() -> None:
    listed = host(
        ["a/one"], [("a", "crs", "one"), ("x", "crs", "left"), ("y", "crs", "far"), ("z", "crs", "off")]
    )
    ending = {"hyperfleet.io/objects": "v1 ConfigMap team about !"}
    listed.sets[1]["metadata"]["annotations"] = ending
    plan = plan_guests(replace(WANTED, is_direct=True), listed)
    assert "2 of 4 guests" in str(plan.refused)
    assert reasons(plan) == {"x/crs": "its namespace is not selected"}


@pytest.mark.parametrize(
    ("recorded", "manifests", "expected"),
    [
        ("abc", "abc", "abc"),
        ("abc", "ab", "abc"),
        ("b", "ab", "ab"),
        ("abc", "cb", "acb"),
        ("ac", "abd", "acbd"),
        ("abcd", "ca", "cabd"),
    ],
)
def test_the_order_of_manifests_is_kept(recorded: str, manifests: str, expected: str) -> None:
    addresses = {name: ObjectAddress("v1", "ConfigMap", "team", name) for name in "abcd"}
    before = Recorded(objects={addresses[name]: "1" for name in recorded})
    ordered = before.in_order([addresses[name] for name in manifests])
    assert "".join(address.name for address in ordered) == expected


@pytest.mark.parametrize(
    ("recorded", "deleted"),
    [
        ("driver pod claim volume", "pod claim volume driver"),
        ("driver claim volume pod", "pod claim volume driver"),
        ("volume driver claim pod", "pod claim driver volume"),
        ("driver secret pod claim", "pod claim secret driver"),
        ("driver custom claim claim-2", "custom claim-2 claim driver"),
        ("volume driver", "driver volume"),
    ],
)
def test_volumes_are_deleted_after_the_pods_that_use_them(recorded: str, deleted: str) -> None:
    addresses = {
        "driver": ObjectAddress("apps/v1", "DaemonSet", "storage", "driver"),
        "secret": ObjectAddress("v1", "Secret", "team", "secret"),
        "pod": ObjectAddress("v1", "Pod", "team", "pod"),
        "custom": ObjectAddress("kubevirt.io/v1", "VirtualMachine", "team", "custom"),
        "claim": ObjectAddress("v1", "PersistentVolumeClaim", "team", "claim"),
        "claim-2": ObjectAddress("v1", "PersistentVolumeClaim", "team", "claim-2"),
        "volume": ObjectAddress("v1", "PersistentVolume", "", "volume"),
    }
    before = Recorded(objects={addresses[name]: "1" for name in recorded.split()})
    assert [address.name for address in before.to_delete([])] == deleted.split()


def test_nothing_is_removed_without_a_guest() -> None:
    recorded = [("a", "crs", "one")]
    nothing = plan_guests(replace(WANTED, prune_percent=100), Host([], [], host([], recorded).sets, []))
    assert "no namespace is selected" in str(nothing.refused)
    empty = plan_guests(replace(WANTED, prune_percent=100), host([], recorded, HostNamespace("a")))
    assert "the selected namespaces have no Cluster" in str(empty.refused)
    assert nothing.removals == empty.removals == []


def test_prune_false_and_absent() -> None:
    listed = host(["a/one"], [("a", "crs", "one"), ("z", "crs", "far")])
    assert plan_guests(replace(WANTED, prune=False), listed).removals == []
    absent = replace(WANTED, present=False, prune=False)
    # With a selection, only from the selected namespaces.
    assert reasons(plan_guests(absent, listed)) == {"a/crs": "state is absent"}
    everywhere = plan_guests(replace(absent, label_selector=None), listed)
    assert sorted(reasons(everywhere)) == ["a/crs", "z/crs"]


def test_a_terminating_namespace_is_left_alone() -> None:
    listed = host(
        ["a/one", "b/two"], [("b", "crs", "two")], HostNamespace("a"), HostNamespace("b", is_terminating=True)
    )
    plan = plan_guests(WANTED, listed)
    assert names(plan) == {"a/one": "crs"}
    assert (plan.removals, plan.notes) == ([], ["namespace b is selected and is being deleted: skipped"])


class _OldHost:
    """An API server that serves some versions of Cluster API."""

    def __init__(self, *versions: str) -> None:
        self.versions = versions
        self.lists: list[str] = []

    def list_all(self, kind: str, *_arguments: Any) -> list[Any]:
        if "." in kind and kind.split(".")[1] not in self.versions:
            raise NotFound(kind)
        self.lists.append(kind)
        return []

    def place(self, *names: str) -> str:
        return "/".join(names)


def test_v1beta1_is_used_where_there_is_no_v1beta2() -> None:
    old = _OldHost("v1beta1")
    kinds, _host = read_host(cast(KubernetesClient, old), WANTED, Deadline(60))
    assert kinds.version == "v1beta1"
    # What may be removed is read before the Clusters, which another run may add meanwhile.
    assert [kind.partition(".")[0] for kind in old.lists] == [
        "configmaps",
        "clusterresourcesets",
        "secrets",
        "clusters",
        "namespaces",
    ]
    with pytest.raises(ConfigurationError, match="knows no such objects of Cluster API"):
        read_host(cast(KubernetesClient, _OldHost()), WANTED, Deadline(60))


def test_the_table_of_a_large_fleet_has_every_warning() -> None:
    rows: list[dict[str, Any]] = [
        {"id": f"n/{number}", "state": "delivered", "changed": False, "warnings": []} for number in range(50)
    ]
    rows[7]["warnings"] = ["is not as it was delivered"]
    lines = guest_table({"targets": rows}, check_mode=False)
    assert "n/7 warning: is not as it was delivered" in lines
    assert not any(line.startswith("n/8 ") for line in lines)
    for row in rows:
        row["warnings"] = ["keeps its objects"]
    rows[45].update(failed=True, msg="no answer")
    assert "n/45 failed: no answer" in guest_table({"targets": rows}, check_mode=False)
