# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Functions without I/O: comparing objects, quantities, nodes, and the login in a kubeconfig."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.embedded import (
    Embedded,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    InvalidDocument,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes_secret.compare import (
    ExactMapping,
    Quantity,
    differences,
    merge_patch,
    parse_quantity,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hosted_cluster_pull_secret
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    hosted_cluster_pull_secret as hosted_task,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster import (
    decision,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster.from_options import (
    build_cluster,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster.names import (
    slot_name,
    slot_number,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster.rollout import (
    expected_nodes,
    rollout_of,
    slot_count,
    tolerates_all,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.targets import Wanted
from tests.stand_ins.certificate import write_certificate
from tests.stand_ins.kubernetes.writes import merge
from tests.support.docker_configs import docker_config

BASE = {
    "cluster_id": "cls-1",
    "state": "present",
    "precedence": "additional",
    "control_plane_namespace": "clusters-1",
    "syncer_image": "registry.example.com/syncer:1",
}
WRONG: dict[str, tuple[str, Any]] = {
    "no cluster": ("cluster_id", None),
    "cluster": ("cluster_id", "Cls_1"),
    "namespace": ("control_plane_namespace", "a/b"),
    "no namespace": ("control_plane_namespace", None),
    "no image": ("syncer_image", ""),
    "image": ("syncer_image", "a b"),
    "share": ("max_restarting", "0"),
    "large share": ("max_restarting", "101%"),
    "unit": ("kubelet_unit", "kubelet"),
    "address": ("healthz", "http://example.com:10248/healthz"),
    "file": ("healthz", "file:///etc/shadow"),
    "health that cannot be asked for": ("syncer_host_network", False),
    "root": ("kubelet_dir", "/"),
    "relative": ("kubelet_dir", "var"),
    "upwards": ("kubelet_dir", "/var/lib/../etc"),
    "colon": ("kubelet_dir", "/a:b"),
    "other volume": ("kubelet_dir", "/run/dbus/"),
    "window": ("health_window", -1.0),
    "too long a window": ("health_window", 86401.0),
    "no port": ("healthz", "http://127.0.0.1:65536/healthz"),
    "port of other digits": ("healthz", "http://127.0.0.1:\u0661\u0660/healthz"),
    "too many slots": ("max_restarting", "1025"),
    "endless": ("rollout_timeout", float("inf")),
    "policy": ("policy", {"quay.io": "tenant"}),
    "policy of nothing": ("policy", {None: "original"}),
    "policy of no text": ("policy", {True: "original"}),
    "policy of an empty text": ("policy", {"": "original"}),
    "resources": ("syncer_resources", {"requests": {"memory": "much"}}),
    "other resources": ("syncer_resources", {"memory": "35Mi"}),
    "limit below request": ("syncer_resources", {"requests": {"cpu": "1"}, "limits": {"cpu": "999m"}}),
    "negative": ("syncer_resources", {"limits": {"memory": "-1"}}),
    "unknown resource": ("syncer_resources", {"limits": {"memry": "1Gi"}}),
    "no limit": ("syncer_resources", {"requests": {"example.com/device": "1"}}),
    "label": ("syncer_node_selector", {"bad key!": "a"}),
    "label's prefix": ("syncer_node_selector", {"Example.com/a": "a"}),
    "label without a name": ("syncer_node_selector", {"example.com/": "a"}),
    "label's value": ("syncer_node_selector", {"a": "-"}),
    "long value": ("syncer_node_selector", {"a": "a" * 64}),
    "label of null": ("syncer_node_selector", {"a": None}),
    "value of what exists": ("syncer_tolerations", [{"key": "a", "operator": "Exists", "value": "b"}]),
    "taint": ("syncer_tolerations", [{"key": "bad key!"}]),
    "taint's value": ("syncer_tolerations", [{"key": "a", "value": "b c"}]),
    "no key": ("syncer_tolerations", [{"operator": "Equal"}]),
    "seconds": ("syncer_tolerations", [{"key": "a", "effect": "NoSchedule", "toleration_seconds": 5}]),
    "pull secret": ("syncer_image_pull_secrets", ["A"]),
    "key": ("original", {"name": "a", "key": "a/b"}),
}


@pytest.mark.parametrize(("option", "value"), WRONG.values(), ids=WRONG)
def test_a_wrong_option_is_named(option: str, value: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        hosted_cluster_pull_secret.build_target({**BASE, option: value})
    assert option in str(caught.value)


def test_pods_outside_of_the_nodes_network_ask_for_no_health() -> None:
    syncer = build_cluster({**BASE, "syncer_host_network": False, "healthz": "none"}).syncer
    assert syncer is not None
    assert (syncer.host_network, syncer.healthz) == (False, "")


def test_an_absent_cluster_needs_no_valid_deployment_options() -> None:
    assert not build_cluster({**BASE, "state": "absent", "syncer_host_network": False}).present


def test_what_the_api_server_takes_is_taken() -> None:
    selector = {"kubernetes.io/os": "linux", "a_B.c": "", "pool": 7, "x": True}
    tolerations = [
        {"operator": "Exists", "key": None, "value": None, "effect": None, "toleration_seconds": None},
        {"key": "example.com/a", "value": "b", "effect": "NoExecute", "toleration_seconds": 0},
    ]
    resources = {
        "requests": {"cpu": "1000m", "memory": "24Mi", "example.com/device": 1},
        "limits": {"cpu": 1, "hugepages-2Mi": "4Mi", "example.com/device": "1"},
    }
    options = {
        "syncer_node_selector": selector,
        "syncer_tolerations": tolerations,
        "syncer_resources": resources,
        "kubelet_dir": "/var/lib/..kubelet..d/",
    }
    syncer = build_cluster({**BASE, **options}).syncer
    assert syncer is not None
    assert syncer.node_selector == {"kubernetes.io/os": "linux", "a_B.c": "", "pool": "7", "x": "true"}
    assert syncer.tolerations == (
        {"operator": "Exists"},
        {"key": "example.com/a", "value": "b", "effect": "NoExecute", "tolerationSeconds": 0},
    )
    assert syncer.resources["limits"] == {"cpu": "1", "hugepages-2Mi": "4Mi", "example.com/device": "1"}
    assert syncer.kubelet_dir == "/var/lib/..kubelet..d"


def test_a_registry_may_look_like_a_number() -> None:
    """YAML reads it as a number and JSON as a string: both must give the same policy."""
    assert build_cluster({**BASE, "policy": {5000: "original"}}).policy == {"5000": "original"}


def test_only_one_way_to_the_hosted_cluster_is_allowed() -> None:
    with pytest.raises(ConfigurationError, match="cannot be combined with"):
        build_cluster({**BASE, "hosted_context": "a", "hosted_kubeconfig_secret": {"name": "b"}})


def test_absent_needs_no_image() -> None:
    assert build_cluster({**BASE, "state": "absent", "syncer_image": None}).syncer is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("35Mi", 35 * 1024**2),
        ("1", 1),
        ("1000m", 1),
        ("0.5", "0.5"),
        ("1e3", 1000),
        ("1E", 10**18),
        ("5m", "0.005"),
    ],
)
def test_a_quantity(text: str, number: Any) -> None:
    assert parse_quantity(text) == Decimal(number)


@pytest.mark.parametrize("text", ["", "Mi", "much", "1 Gi", "nan", "infinity", "--1"])
def test_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="not a number"):
        parse_quantity(text)


CASES: list[tuple[Any, Any, list[str]]] = [
    ({"a": 1}, {"a": 1, "theirs": 2}, []),
    ({"a": 1}, {"a": 2}, ["a"]),
    ({"a": True}, {"a": 1}, ["a"]),
    ({"a": False}, {}, ["a"]),
    ({"a": None}, {}, []),
    ({"a": None}, {"a": []}, []),
    ({"a": None}, {"a": "b"}, ["a"]),
    ({"a": ""}, {}, []),
    ({"a": {"b": None}}, {}, []),
    ({"a": {"b": 1}}, {"a": "text"}, ["a"]),
    ({"a": {"b.c/d": "e"}}, {"a": {}}, ["a[b.c/d]"]),
    (ExactMapping({"a": 1}), {"a": 1, "more": 2}, ["more"]),
    ({"a": [1, 2]}, {"a": [1, 2, 3]}, ["a"]),
    ({"a": [{"b": 1}]}, {"a": [{"b": 2, "default": 3}]}, ["a[0].b"]),
    ({"a": [{"b": 1}]}, {"a": [{"b": 1, "default": 3}]}, []),
    ({"a": Quantity("1000m")}, {"a": "1"}, []),
    ({"a": Quantity("1000m")}, {"a": "2"}, ["a"]),
]


@pytest.mark.parametrize(("wanted", "there", "paths"), CASES)
def test_differences_and_the_patch_that_ends_them(wanted: Any, there: Any, paths: list[str]) -> None:
    assert differences(wanted, there) == paths
    patch = merge_patch(wanted, there)
    assert bool(patch) == bool(paths)
    after = merge(there, json.loads(json.dumps(patch)))
    assert differences(wanted, after) == []
    # Entries of other writers stay, except in a mapping that has to match exactly.
    if not isinstance(wanted, ExactMapping):
        assert set(there) - set(wanted) <= set(after)


def test_the_share_of_nodes_that_may_restart() -> None:
    assert [slot_count("10%", nodes) for nodes in (0, 1, 9, 10, 19, 20, 49, 500)] == [1, 1, 1, 1, 1, 2, 4, 32]
    assert (slot_count("100%", 7), slot_count("3", 1), slot_count("3", 1, 2)) == (4, 3, 3)
    assert (slot_count("100%", 5000), slot_count("100%", 5000, 2048)) == (1024, 1024)


@pytest.mark.parametrize("share", ["1%", "10%", "50%", "100%"])
def test_nodes_that_come_and_go_change_the_number_of_slots_once(share: str) -> None:
    """For each boundary and each initial number of slots."""
    for nodes in range(600):
        most = max(1, nodes * int(share[:-1]) // 100)
        for begin in (0, 1, 2, 3, 7, 32, 600):
            present, changes = begin, 0
            for dummy in range(4):
                for there in (nodes, nodes + 1):
                    now = slot_count(share, there, present)
                    assert 1 <= now <= max(1, there * int(share[:-1]) // 100)
                    assert now * 4 >= most
                    changes, present = changes + (now != present), now
            # One change to a number that fits, and one when only the larger cluster fits the old number.
            assert changes <= 2, (nodes, begin)


def test_a_slots_number() -> None:
    assert slot_number(slot_name(12)) == 12
    assert [
        slot_number(name)
        for name in ("", "global-pull-secret-syncer", slot_name(0) + "1x", slot_name(0)[:-1])
    ] == [None] * 4
    assert slot_number("global-pull-secret-syncer-restart-01") is None


def node(name: str, labels: dict[str, str] | None = None, *taints: dict[str, str]) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels or {}}, "spec": {"taints": list(taints)}}


def test_the_nodes_that_get_a_pod() -> None:
    taint = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
    nodes = [
        node("a", {"x": "y"}),
        node("b", {"x": "z"}),
        node("c", {"x": "y"}, taint),
        node("d", {"x": "y"}, {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}),
        node("e", {"x": "y"}, {"key": "dedicated", "effect": "PreferNoSchedule"}),
    ]
    everything = [{"operator": "Exists"}]
    assert expected_nodes(nodes, {}, everything) == ["a", "b", "c", "d", "e"]
    assert expected_nodes(nodes, {"x": "y"}, []) == ["a", "d", "e"]
    assert expected_nodes(nodes, {"x": "y"}, [{"key": "dedicated", "value": "gpu"}]) == ["a", "c", "d", "e"]
    assert expected_nodes(nodes, {"x": "y"}, [{"key": "dedicated", "value": "cpu"}]) == ["a", "d", "e"]
    assert "c" not in expected_nodes(nodes, {}, [{"operator": "Exists", "effect": "NoExecute"}])
    assert tolerates_all([{"key": "dedicated"}, *everything])
    for some in ([], [{"operator": "Exists", "effect": "NoExecute"}], [{"operator": "Exists", "key": "a"}]):
        assert not tolerates_all(some)


@pytest.mark.parametrize(
    "entry", ["", "{", "[]", "null", "{}", '{"state":"in-sync"}', '{"resourceVersion":"7"}']
)
def test_an_empty_report_is_pending(entry: str) -> None:
    assert rollout_of(["n"], {"n": entry}, "7").pending == ["n"]


def test_only_the_version_that_is_there_counts() -> None:
    data = {
        "a": '{"resourceVersion":"7","state":"in-sync"}',
        "b": '{"resourceVersion":"6","state":"in-sync"}',
        "c": '{"resourceVersion":"7","state":"pending"}',
        "d": '{"resourceVersion":"7","state":"failed","message":"timed out"}',
    }
    found = rollout_of(["a", "b", "c", "d", "e"], data, "7")
    assert (found.in_sync, found.pending, found.failed) == (1, ["b", "c", "e"], {"d": "failed: timed out"})
    assert (found.done, found.settled) == (False, False)


@pytest.mark.parametrize("message", ["one\ntwo", "\x1b[31mred", "word " * 101, '{"auth": "x"}', "\u202eleft"])
def test_a_message_that_is_no_sentence_is_not_shown(message: str) -> None:
    data = {"n": json.dumps({"resourceVersion": "7", "state": "failed", "message": message})}
    assert rollout_of(["n"], data, "7").failed == {"n": "failed: (not shown)"}


def test_what_was_brought_before_does_not_keep_what_is_the_originals() -> None:
    def decide(
        additional: bytes, current: Any = None, registries: Any = (), **original: str
    ) -> decision.MergeDecision:
        return decision.decide_merge(
            json.dumps(docker_config(**original)).encode(),
            decision.AdditionalSecret(additional),
            where="here",
            current=current,
            current_registries=registries,
        )

    tenants = json.dumps({**docker_config(b_example="tenant"), "credHelpers": {"h.example": "x"}})
    first = decide(tenants.encode(), a_example="one", c_example="one")
    assert first.additional_registries == ["b.example"]
    kept = decide(b"{", first.config, first.additional_registries, a_example="two")
    assert kept.state == "kept"
    assert kept.config.registries == ("a.example", "b.example")
    assert kept.config.auths["a.example"] != first.config.auths["a.example"]
    assert dict(kept.config.extra["credHelpers"]) == {"h.example": "x"}
    # Decide again, with the kept document as the current one.
    again = decide(b"[]", kept.config, kept.additional_registries, a_example="two")
    assert again.config == kept.config


def test_an_original_without_entries_is_nothing_to_give_to_nodes() -> None:
    for data in (b"", b"{}", b'{"auths":null}', b'{"auths":{}}'):
        with pytest.raises(InvalidDocument, match="here: the original"):
            decision.decide_merge(data, None, where="here")


def test_a_client_certificate_is_used_from_memory(tmp_path: Path) -> None:
    path, key = write_certificate(tmp_path)
    certificate = path.read_bytes()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, key)
    context.load_verify_locations(path)
    context.verify_mode = ssl.CERT_REQUIRED
    embedded = Embedded("cls-1", "here", "https://localhost", certificate, certificate, key.read_bytes())
    path.unlink()
    key.unlink()
    seen: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with context.wrap_socket(server.accept()[0], server_side=True) as front:
                seen.append(front.getpeercert())
                front.send(b"x")

        thread = threading.Thread(target=serve)
        thread.start()
        with (
            socket.create_connection(server.getsockname()) as plain,
            embedded.trust().wrap_socket(plain, server_hostname="localhost") as back,
        ):
            assert back.recv(1) == b"x"
        thread.join()
    assert seen[0]["subject"] == ((("commonName", "localhost"),),)
    assert "BEGIN" not in repr(embedded)


def test_a_result_is_not_called_by_a_name_that_breaks_its_rule() -> None:
    canary = {"cluster_id": "CanaryPassw0rd78", "hosted_namespace": "robot:CanaryPassw0rd78"}
    place = hosted_task._place(Wanted(canary))
    assert place == "(not shown):namespaces/(not shown)/secrets/global-pull-secret"
    assert (
        hosted_task._place(Wanted({"cluster_id": "cls-1"}))
        == "cls-1:namespaces/kube-system/secrets/global-pull-secret"
    )
