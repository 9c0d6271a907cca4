# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the adapter's module, of its events and of the modules for the HyperFleet API."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from google.pubsub_v1 import types

from tests.docs.examples.documents import below
from tests.docs.examples.world import World, auths, config

CLUSTERS = [f"0198c0de-0000-7000-8000-00000000000{number}" for number in (1, 2)]
PROJECT = "customer-prod-12345"
CONFIG = """
apiVersion: hyperfleet.redhat.com/v1alpha1
kind: AdapterConfig
metadata: {name: pullsecret-adapter, namespace: hyperfleet-system}
spec:
  jobTemplate: {image: registry.example.com/pullsecret-job:1}
"""

pytestmark = pytest.mark.nightly


def report(world: World, cluster: str, adapter: str) -> None:
    """Another adapter has done its work for a cluster."""
    conditions = [
        {"type": kind, "status": "True", "reason": "Done"} for kind in ("Available", "Applied", "Health")
    ]
    data = {"namespace": f"clusters-{cluster}"}
    said = {"adapter": adapter, "observed_generation": 1, "conditions": conditions, "data": data}
    assert world.hyperfleet.ask("PUT", f"/clusters/{cluster}/statuses", said)[0] == 201


def ours(world: World, cluster: str) -> Any:
    """Our status of a cluster."""
    return {status.adapter: status for status in world.hyperfleet.store.statuses(cluster)}["pullsecret"]


def available(world: World, cluster: str) -> str:
    """The status of our condition Available."""
    return {one["type"]: str(one["status"]) for one in ours(world, cluster).conditions}["Available"]


def put_two_clusters(world: World) -> None:
    """One of them placed."""
    world.hyperfleet.store.seed([{"id": "cls-123", "labels": {"env": "production"}}, {"id": "cls-456"}])
    report(world, "cls-123", "placement")


def test_modules_hyperfleet_cluster_info(world: World) -> None:
    put_two_clusters(world)
    done = world.example("Read two clusters")
    assert [cluster["id"] for cluster in done.result["clusters"]] == ["cls-123", "cls-456"]

    done = world.example("Show where the first one's secret goes")
    assert done.result["msg"] == "clusters-cls-123"

    done = world.example("Read all clusters of an environment, without statuses")
    [cluster] = done.result["clusters"]
    assert (cluster["id"], cluster["statuses"]) == ("cls-123", {})


def test_inventory_hyperfleet_clusters(world: World) -> None:
    put_two_clusters(world)
    world.namespace("clusters-cls-123")
    source = world.ansible.directory / "hyperfleet_clusters.yml"
    graphs = []
    for example in (world.examples.pop(0), world.examples.pop(0)):
        example.pop("hyperfleet", None)
        source.write_text(json.dumps(below(world.root, example)))
        graph = world.ansible.start_command("ansible-inventory", "-i", source, "--graph").wait()
        assert graph.code == 0, graph.output
        graphs.append(graph.stdout)
    assert "cls-456" in graphs[0]
    assert "@env_production:" in graphs[1]
    assert "@waits_for_validation:" in graphs[1]
    assert "cls-456" not in graphs[1]

    plays: Any = world.examples.pop(0)
    done = world.ansible.playbook(plays, flags=["-i", str(source)])
    (row,) = done.of("pull_secret_report")[0]["clusters"]
    # The cluster has no project.
    assert "gcp_project_id" in row["reason"]


def test_modules_hyperfleet_status(world: World) -> None:
    put_two_clusters(world)
    done = world.example("Report that the pull secret is available")
    assert done.result["targets"][0]["accepted"]
    assert ours(world, "cls-123").data == {"secret_version": "3"}


def test_modules_hyperfleet_adapter(world: World) -> None:
    world.write("/etc/pullsecret-adapter/config.yaml", CONFIG)
    world.namespace("hyperfleet-system")
    data = config(quay_io="hyperfleet")
    spec = {"provider": "gcp", "gcp": {"projectId": PROJECT}, "pullSecret": {"data": data}}
    world.hyperfleet.store.seed([{"id": cluster, "name": "c", "spec": spec} for cluster in CLUSTERS])
    for cluster in CLUSTERS:
        world.namespace(f"clusters-{cluster}")
        for adapter in ("validation", "dns", "placement"):
            report(world, cluster, adapter)

    done = world.example("Reconcile two clusters")
    assert done.result["changed"]
    for cluster in CLUSTERS:
        assert world.clusters["mgmt-1"].store.find("jobs", "hyperfleet-system", f"pullsecret-{cluster}-gen1")
        assert available(world, cluster) == "False"

    done = world.example("Reconcile the whole fleet without Jobs")
    assert done.result["changed"]
    for cluster in CLUSTERS:
        assert world.versions(PROJECT, cluster) == [auths(quay_io="hyperfleet")]
        placed = world.placed(f"clusters-{cluster}", f"{cluster}-pull-secret")
        assert placed == auths(quay_io="hyperfleet")
        assert available(world, cluster) == "True"


def test_modules_cloud_event(world: World) -> None:
    """With a server that takes messages as Pub/Sub does, and keeps them."""
    events: list[dict[str, Any]] = []

    def publish(asked: Any, _context: Any) -> Any:
        assert asked.topic == "projects/hyperfleet-prod/topics/hyperfleet-clusters"
        events.extend(json.loads(message.data) for message in asked.messages)
        return types.PublishResponse.pb()(message_ids=[str(number) for number in range(len(asked.messages))])

    handler = grpc.unary_unary_rpc_method_handler(
        publish,
        request_deserializer=types.PublishRequest.pb().FromString,
        response_serializer=types.PublishResponse.pb().SerializeToString,
    )
    server = grpc.server(ThreadPoolExecutor(1))
    service = grpc.method_handlers_generic_handler("google.pubsub.v1.Publisher", {"Publish": handler})
    server.add_generic_rpc_handlers((service,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    world.ansible.env["PUBSUB_EMULATOR_HOST"] = f"127.0.0.1:{port}"
    done = world.example("Have the adapters process two clusters")
    server.stop(None)
    assert done.result["summary"] == {"total": 2, "changed": 2, "failed": 0}
    assert [event["data"]["id"] for event in events] == ["cls-123", "cls-456"]
    assert [event["id"] for event in events] == [row["event"] for row in done.result["targets"]]

    world.write("/etc/hyperfleet/broker-url", "amqp://hyperfleet:example-password@rabbitmq.example.com/")
    done = world.example("Show what would be published to RabbitMQ")
    [row] = done.result["targets"]
    assert (row["changed"], row["place"]) == (True, "rabbitmq:rabbitmq.example.com:5672/hyperfleet-clusters")
    assert "example-password" not in done.output
