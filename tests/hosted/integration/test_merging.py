# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The first run deploys the syncer, later runs merge a changed additional secret, repeated runs do nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.naming import LAST_APPLIED
from tests.hosted.integration.world import ADDITIONAL, GLOBAL, IMAGE, OURS, STATUS, SYNCER, World
from tests.support.docker_configs import TYPE, docker_config, encoded


def test_without_an_additional_secret_nothing_is_written(world: World) -> None:
    result = world.run()
    assert (result["changed"], result["additional"]) == (False, "absent")
    assert world.writes() == []
    assert world.there() == set()


def test_an_additional_secret_is_merged_and_the_syncer_deployed(world: World) -> None:
    world.additional(docker_config(quay_io="tenant", registry_example_com="tenant"))
    world.add_nodes(3)
    result = world.run()
    assert not result.get("failed"), result
    assert result["changed"]
    assert result["additional"] == "merged"
    assert world.held() == {
        "cloud.openshift.com": "cloud",
        "quay.io": "tenant",
        "registry.example.com": "tenant",
    }
    assert result["registries"] == {
        "cloud.openshift.com": "original",
        "quay.io": "additional",
        "registry.example.com": "additional",
    }
    assert result["conflicts"] == [{"registry": "quay.io", "winner": "additional", "losers": ["original"]}]
    assert world.there() == {*OURS, "leases"}
    assert world.leases() == [f"{SYNCER}-restart-0"]
    assert result["rollout"]["nodes"] == 3
    assert result["rollout"]["pending"] == 3
    secret = world.get("secrets", GLOBAL)
    assert secret["type"] == TYPE
    assert secret["metadata"]["labels"]["managed-by"] == "hyperfleet"
    assert secret["metadata"]["labels"]["cluster-id"] == world.id


def test_secrets_of_the_legacy_type_are_merged(world: World) -> None:
    original, tenants = (
        {".dockercfg": encoded(json.dumps(config["auths"]))}
        for config in (
            docker_config(quay_io="original"),
            docker_config(registry_example_com="tenant", localhost="tenant"),
        )
    )
    world.management.delete(world.control_plane, "secrets", "pull-secret")
    world.management.put_secret(world.control_plane, "pull-secret", original, "kubernetes.io/dockercfg")
    world.hosted.put_secret(world.namespace, ADDITIONAL, tenants, "kubernetes.io/dockercfg")
    assert world.run()["additional"] == "merged"
    assert world.held() == {
        "quay.io": "original",
        "registry.example.com": "tenant",
        "localhost": "tenant",
    }


def test_the_second_run_writes_nothing(world: World) -> None:
    world.additional(docker_config(registry_example_com="tenant"))
    options: dict[str, Any] = {
        "syncer_tolerations": [{"key": "example.com/a", "operator": "Exists"}],
        "syncer_resources": {"requests": {"cpu": "1000m", "memory": "0.5Gi"}},
        "syncer_image_pull_secrets": ["pull"],
        "syncer_priority_class": "system-node-critical",
        "syncer_selinux_type": "spc_t",
        "max_restarting": "3",
        "healthz": "",
    }
    assert world.run(**options)["changed"]
    world.reset()
    result = world.run(**options)
    assert not result.get("failed"), result
    assert not result["changed"], result["actions"]
    assert world.writes() == []


def test_the_pods_have_no_more_than_they_need(world: World) -> None:
    world.additional(docker_config(registry_example_com="tenant"))
    world.run(restart="never", health_window=5)
    pod = world.get("daemonsets", SYNCER)["spec"]["template"]
    assert pod["metadata"]["labels"] == {"name": SYNCER}
    spec = pod["spec"]
    assert (spec["hostNetwork"], spec.get("hostPID"), spec.get("priorityClassName")) == (True, None, None)
    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert spec["nodeSelector"] == world.select
    container = spec["containers"][0]
    assert container["image"] == IMAGE
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert spec["securityContext"] == {"runAsUser": 0, "seccompProfile": {"type": "RuntimeDefault"}}
    assert container["volumeMounts"] == [
        {"name": "kubelet", "mountPath": "/var/lib/kubelet"},
        {"name": "dbus", "mountPath": "/run/dbus", "readOnly": True},
    ]
    environment = {entry["name"]: entry.get("value") for entry in container["env"]}
    assert environment == {
        "NODE_NAME": None,
        "SYNCER_NAMESPACE": world.namespace,
        "SYNCER_SECRET": GLOBAL,
        "SYNCER_STATUS": STATUS,
        "SYNCER_LEASES": f"{SYNCER}-restart-0",
        "SYNCER_RESTART": "never",
        "SYNCER_KUBELET_DIR": "/var/lib/kubelet",
        "SYNCER_UNIT": "kubelet.service",
        "SYNCER_HEALTHZ": "http://127.0.0.1:10248/healthz",
        "SYNCER_HEALTH_WINDOW": "5",
    }
    assert world.get("roles", SYNCER)["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["secrets"],
            "resourceNames": [GLOBAL],
            "verbs": ["get", "list", "watch"],
        },
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": [STATUS],
            "verbs": ["get", "patch"],
        },
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "resourceNames": [f"{SYNCER}-restart-0"],
            "verbs": ["get", "update"],
        },
    ]


def test_both_secrets_rotate(world: World) -> None:
    world.additional(docker_config(registry_example_com="one"))
    world.run()
    world.additional(docker_config(registry_example_com="two", other_example_com="two"))
    world.original(docker_config(cloud_openshift_com="new", quay_io="new"))
    result = world.run()
    assert result["actions"] == ["updated secret"]
    assert world.held() == {
        "cloud.openshift.com": "new",
        "quay.io": "new",
        "registry.example.com": "two",
        "other.example.com": "two",
    }


def test_another_spelling_of_the_same_is_no_change(world: World) -> None:
    document = docker_config(registry_example_com="one", other_example_com="two")
    world.additional(document)
    world.run()
    world.additional(json.dumps(document, indent=3, sort_keys=True) + "\n\n")
    world.reset()
    assert not world.run()["changed"]
    assert world.writes() == []


@pytest.mark.parametrize(
    ("options", "password"),
    [
        ({}, "tenant"),
        ({"precedence": "original"}, "original"),
        ({"policy": {"quay.io": "original"}}, "original"),
        ({"precedence": "original", "policy": {"https://quay.io/v1/": "additional"}}, "tenant"),
    ],
    ids=["additional", "original", "policy", "policy against precedence"],
)
def test_precedence_is_an_option(world: World, options: dict[str, Any], password: str) -> None:
    world.additional(docker_config(quay_io="tenant"))
    result = world.run(**options)
    assert world.held()["quay.io"] == password
    assert not result.get("failed"), result["msg"]
    assert result["conflicts"][0]["registry"] == "quay.io"


def test_the_entry_that_reports_home_is_lost_only_if_it_is_dropped(world: World) -> None:
    world.additional(docker_config(registry_example_com="tenant"))
    world.run()
    assert "cloud.openshift.com" in world.held()
    world.run(drop=["cloud.openshift.com"])
    assert "cloud.openshift.com" not in world.held()


def test_the_slots_follow_the_number_of_nodes(world: World) -> None:
    world.additional(docker_config(registry_example_com="tenant"))
    world.add_nodes(5)
    world.run(max_restarting="80%")
    assert world.leases() == [f"{SYNCER}-restart-{number}" for number in range(4)]
    result = world.run(max_restarting="1")
    assert world.leases() == [f"{SYNCER}-restart-0"]
    assert set(result["actions"]) == {"updated role", "updated daemonset", "deleted leases"}
    environment = world.get("daemonsets", SYNCER)["spec"]["template"]["spec"]["containers"][0]["env"]
    assert {"name": "SYNCER_LEASES", "value": f"{SYNCER}-restart-0"} in environment


def test_nodes_that_come_and_go_roll_no_pods(world: World) -> None:
    """The pod template changes only when the slots fall below a quarter of the share."""

    def template() -> Any:
        return world.get("daemonsets", SYNCER)["spec"]["template"]

    world.additional(docker_config(registry_example_com="tenant"))
    names = world.add_nodes(5)
    world.run(max_restarting="80%")
    before = template()
    names += world.add_nodes(6)
    assert not world.run(max_restarting="80%")["changed"]
    world.hosted.request("DELETE", f"/api/v1/nodes/{names[0]}")
    assert not world.run(max_restarting="80%")["changed"]
    assert template() == before
    # With fewer nodes the slots exceed the share: one update, and none when the nodes are back.
    for name in names[1:8]:
        world.hosted.request("DELETE", f"/api/v1/nodes/{name}")
    assert "updated daemonset" in world.run(max_restarting="80%")["actions"]
    assert len(world.leases()) == 2
    world.add_nodes(3)
    assert not world.run(max_restarting="80%")["changed"]


def test_what_the_syncers_write_stays(world: World) -> None:
    world.additional(docker_config(registry_example_com="tenant"))
    node = world.add_nodes(1)[0]
    world.run()
    world.report(node)
    lease = {"spec": {"holderIdentity": node, "leaseDurationSeconds": 60}}
    world.merge("leases", f"{SYNCER}-restart-0", lease)
    world.reset()
    result = world.run()
    assert (result["changed"], result["rollout"]["in_sync"]) == (False, 1)
    assert world.get("leases", f"{SYNCER}-restart-0")["spec"] == lease["spec"]


def test_a_cluster_without_changes_takes_few_requests(world: World) -> None:
    """Most hosted clusters have no additional secret."""

    def asked() -> tuple[int, int]:
        world.reset()
        assert not world.run()["changed"]
        return len(world.management.calls.matching()), len(world.hosted.calls.matching())

    assert asked() == (2, 4)
    world.additional(docker_config(registry_example_com="tenant"))
    world.add_nodes(3)
    world.run()
    assert asked() == (3, 9)


def test_the_tenants_secret_is_left_as_it_is(world: World) -> None:
    world.additional(docker_config(registry_example_com="tenant"))
    before = world.get("secrets", ADDITIONAL)
    world.run()
    assert world.get("secrets", ADDITIONAL) == before


@pytest.mark.parametrize(("replaced", "word"), [(False, "updated"), (True, "replaced")])
def test_the_copy_of_kubectl_apply_goes_from_ours_and_stays_at_the_tenants(
    world: World, replaced: bool, word: str
) -> None:
    world.additional(docker_config(registry_example_com="tenant"))
    world.run()
    copy = {"metadata": {"annotations": {LAST_APPLIED: "{}"}}}
    world.merge("secrets", ADDITIONAL, copy)
    world.merge("secrets", GLOBAL, {**copy, "immutable": replaced})
    if replaced:
        world.additional(docker_config(registry_example_com="changed"))
    predicted = world.run(check_mode=True)
    result = world.run()
    assert (
        predicted["actions"]
        == result["actions"]
        == ["annotation last-applied-configuration removed", f"{word} secret"]
    )
    assert LAST_APPLIED not in world.get("secrets", GLOBAL)["metadata"]["annotations"]
    assert world.get("secrets", ADDITIONAL)["metadata"]["annotations"] == {LAST_APPLIED: "{}"}
    assert not world.run()["changed"]
