# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the examples of the adapter, of its events and of the modules for the HyperFleet API."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from google.pubsub_v1 import types

from tests.docs.world import World, auths, config
from tests.support.processes import Finished

CLUSTERS = [f"0198c0de-0000-7000-8000-00000000000{number}" for number in (1, 2)]
PROJECT = "customer-prod-12345"
CONFIG = """
apiVersion: hyperfleet.redhat.com/v1alpha1
kind: AdapterConfig
metadata: {name: pullsecret-adapter, namespace: hyperfleet-system}
spec:
  jobTemplate: {image: registry.example.com/pullsecret-job:1}
"""
_published: list[dict[str, Any]] = []
_server: list[grpc.Server] = []


def two_clusters(world: World) -> None:
    """One of them placed."""
    world.hyperfleet.store.seed([{"id": "cls-123", "labels": {"env": "production"}}, {"id": "cls-456"}])
    _report(world, "cls-123", "placement", "Placed")


def both_read(world: World, done: Finished) -> None:
    assert [cluster["id"] for cluster in done.result["clusters"]] == ["cls-123", "cls-456"]


def namespace_shown(world: World, done: Finished) -> None:
    assert done.result["msg"] == "clusters-cls-123"


def one_found(world: World, done: Finished) -> None:
    assert [cluster["id"] for cluster in done.result["clusters"]] == ["cls-123"]
    assert done.result["clusters"][0]["statuses"] == {}


def heard(world: World, done: Finished) -> None:
    assert done.result["targets"][0]["accepted"]
    assert _ours(world, "cls-123").data == {"secret_version": "3"}


def two_that_are_ready(world: World) -> None:
    """Placed, and with a pull secret each."""
    world.write("/etc/pullsecret-adapter/config.yaml", CONFIG)
    world.namespace("hyperfleet-system")
    data = config(quay_io="hyperfleet")
    spec = {"provider": "gcp", "gcp": {"projectId": PROJECT}, "pullSecret": {"data": data}}
    world.hyperfleet.store.seed([{"id": cluster, "name": "c", "spec": spec} for cluster in CLUSTERS])
    for cluster in CLUSTERS:
        world.namespace(f"clusters-{cluster}")
        for adapter in ("validation", "dns", "placement"):
            _report(world, cluster, adapter, "Done")


def jobs_made(world: World, done: Finished) -> None:
    assert done.result["changed"]
    jobs = world.management["mgmt-1"].store
    for cluster in CLUSTERS:
        assert jobs.find("jobs", "hyperfleet-system", f"pullsecret-{cluster}-gen1")
        assert _said(world, cluster)["Available"] == "False"


def stored_without_jobs(world: World, done: Finished) -> None:
    assert done.result["changed"]
    for cluster in CLUSTERS:
        assert world.versions(PROJECT, cluster) == [auths(quay_io="hyperfleet")]
        placed = world.placed(f"clusters-{cluster}", f"{cluster}-pull-secret")
        assert placed == auths(quay_io="hyperfleet")
        assert _said(world, cluster)["Available"] == "True"


def pubsub(world: World) -> None:
    """What takes messages as Pub/Sub does, and keeps them."""
    request, response = types.PublishRequest.pb(), types.PublishResponse.pb()

    def publish(asked: Any, _context: Any) -> Any:
        assert asked.topic == "projects/hyperfleet-prod/topics/hyperfleet-clusters"
        _published.extend(json.loads(message.data) for message in asked.messages)
        return response(message_ids=[str(number) for number in range(len(asked.messages))])

    handler = grpc.unary_unary_rpc_method_handler(
        publish,
        request_deserializer=request.FromString,
        response_serializer=response.SerializeToString,
    )
    server = grpc.server(ThreadPoolExecutor(1))
    service = grpc.method_handlers_generic_handler("google.pubsub.v1.Publisher", {"Publish": handler})
    server.add_generic_rpc_handlers((service,))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    _server.append(server)
    world.ansible.env["PUBSUB_EMULATOR_HOST"] = f"127.0.0.1:{port}"


def published(_world: World, done: Finished) -> None:
    _server.pop().stop(None)
    assert done.result["summary"] == {"total": 2, "changed": 2, "failed": 0}
    assert [event["data"]["id"] for event in _published] == ["cls-123", "cls-456"]
    assert [event["id"] for event in _published] == [row["event"] for row in done.result["targets"]]
    _published.clear()


def rabbitmq_address(world: World) -> None:
    world.write("/etc/hyperfleet/broker-url", "amqp://hyperfleet:example-password@rabbitmq.example.com/")


def not_published(_world: World, done: Finished) -> None:
    [row] = done.result["targets"]
    assert (row["changed"], row["place"]) == (True, "rabbitmq:rabbitmq.example.com:5672/hyperfleet-clusters")
    assert "example-password" not in done.output


def _report(world: World, cluster: str, adapter: str, reason: str) -> None:
    """Another adapter has done its work for a cluster."""
    kinds = ("Available", "Applied", "Health")
    conditions = [{"type": kind, "status": "True", "reason": reason} for kind in kinds]
    report: dict[str, Any] = {"adapter": adapter, "observed_generation": 1, "conditions": conditions}
    report["data"] = {"namespace": f"clusters-{cluster}"}
    assert world.hyperfleet.ask("PUT", f"/clusters/{cluster}/statuses", report)[0] == 201


def _ours(world: World, cluster: str) -> Any:
    """Our status of a cluster."""
    return {report.adapter: report for report in world.hyperfleet.store.statuses(cluster)}["pullsecret"]


def _said(world: World, cluster: str) -> dict[str, str]:
    """Our conditions of a cluster."""
    return {one["type"]: one["status"] for one in _ours(world, cluster).conditions}
