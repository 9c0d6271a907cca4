# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each example needs to be there, and what is there afterwards: a story for each plugin."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from tests.docs import hosted_steps as hosted
from tests.docs import hyperfleet_steps as hyperfleet
from tests.docs import node_steps as node
from tests.docs import workflow_steps as workflow
from tests.docs.world import World, auths, config
from tests.support.processes import Finished


class Step(NamedTuple):
    """``prepare`` makes the world fit, ``check`` asserts what the example did in it."""

    prepare: Callable[[World], None]
    check: Callable[[World, Finished], None]
    code: int = 0


PROD = ("customer-prod-12345", "cls-123")
DEV = ("customer-dev-67890", "cls-456")
PLATFORM = auths(quay_io="platform", registry_redhat_io="platform")
TEAM = auths(quay_io="team", registry_example_com="team")


def _nothing(_world: World) -> None:
    """What is there is enough."""


# dockerconfig_merge


def _files_to_merge(world: World) -> None:
    world.write("/etc/pull-secrets/platform.json", config(quay_io="platform", registry_redhat_io="platform"))
    world.ansible.env["TEAM_PULL_SECRET"] = config(quay_io="team", registry_example_com="team")
    world.path("/run/pull-secrets").mkdir(parents=True, exist_ok=True)


def _checked(world: World, done: Finished) -> None:
    assert not done.result["changed"]
    assert set(done.result["targets"][0]["registries"]) == set(PLATFORM)
    assert world.variables["checked"]["targets"][0]["warnings"] == []
    assert not list(world.path("/run/pull-secrets").iterdir())


def _merged(world: World, done: Finished) -> None:
    written = world.path("/run/pull-secrets/merged.json")
    assert written.stat().st_mode & 0o777 == 0o600
    assert json.loads(written.read_text())["auths"] == {**TEAM, **PLATFORM}
    assert done.result["targets"][0]["registries"]["quay.io"] == "original"


def _pulled(world: World, done: Finished) -> None:
    rows = world.variables["pulled"]["targets"][0]["images"]
    assert [row["image"] for row in rows] == ["quay.io/team/app:1.4", "registry.redhat.io/ubi9/ubi"]
    for row, registry in zip(rows, PLATFORM, strict=True):
        for reader in ("kubelet", "containers_image"):
            answer = {"found": True, "registry": registry, "rule": "host", "layer": "file", "others": []}
            assert row[reader] == answer


def _said(_world: World, done: Finished) -> None:
    assert done.result["msg"]["kubelet"]["registry"] == "quay.io"


def _refused(_world: World, done: Finished) -> None:
    assert done.result["evaluated_to"] is False
    assert "example-password" not in done.output


def _deleted(world: World, done: Finished) -> None:
    assert done.result["targets"][0]["actions"] == ["deleted"]
    assert not list(world.path("/run/pull-secrets").iterdir())


# gcp_pull_secret


def _cluster_in_the_api(world: World) -> None:
    spec = {"pullSecret": {"data": config(quay_io="hyperfleet")}}
    world.hyperfleet.store.seed([{"id": "cls-123", "name": "production-cluster", "spec": spec}])


def _stored(world: World, done: Finished) -> None:
    assert done.result["changed"]
    assert world.versions(*PROD) == [auths(quay_io="hyperfleet")]
    expected = {"managed-by": "hyperfleet", "cluster-id": "cls-123", "cluster-name": "production-cluster"}
    assert world.labels(*PROD).items() >= expected.items()


def _older_versions_and_sources(world: World) -> None:
    world.store(*PROD, *(config(quay_io=f"version-{number}") for number in (2, 3, 4)))
    world.namespace("hyperfleet-system")
    world.put_secret("hyperfleet-system", "cluster-cls-123-pullsecret-data", config(quay_io="kubernetes"))
    world.write("/etc/pull-secrets/cls-456.json", config(quay_io="file"))


def _stored_and_retained(world: World, done: Finished) -> None:
    assert done.result["summary"] == {"total": 2, "changed": 2, "failed": 0}
    assert world.versions(*PROD)[4:] == [auths(quay_io="kubernetes")]
    assert world.enabled(*PROD) == [3, 4, 5]
    assert world.versions(*DEV) == [auths(quay_io="file")]


def _restored(world: World, done: Finished) -> None:
    assert done.result["targets"][0]["version"] == "6"
    assert world.versions(*PROD)[5] == auths(quay_io="version-3")


def _removed(world: World, done: Finished) -> None:
    assert done.result["changed"]
    assert world.secret_manager.store.find(DEV[0], "hyperfleet-cls-456-pull-secret") is None
    assert len(world.versions(*PROD)) == 6


# k8s_pull_secret


def _secret_manager_holds_it(world: World) -> None:
    world.store(*PROD, config(quay_io="secret-manager"))
    world.namespace("clusters-cls-123")


def _placed(world: World, done: Finished) -> None:
    assert done.result["changed"]
    assert world.placed("clusters-cls-123", "cls-123-pull-secret") == auths(quay_io="secret-manager")
    secret = world.secret("clusters-cls-123", "cls-123-pull-secret")
    assert secret is not None
    assert secret["metadata"]["labels"]["cluster-name"] == "production-cluster"


def _second_management_cluster(world: World) -> None:
    world.namespace("clusters-cls-456", "mgmt-2")
    world.write("/etc/pull-secrets/cls-456.json", config(quay_io="file"))


def _placed_in_both(world: World, done: Finished) -> None:
    assert [target["changed"] for target in done.result["targets"]] == [False, True]
    assert world.placed("clusters-cls-456", "cls-456-pull-secret", "mgmt-2") == auths(quay_io="file")
    assert world.placed("clusters-cls-456", "cls-456-pull-secret", "mgmt-1") is None


def _team_namespace(world: World) -> None:
    world.namespace("team-a")
    _files_to_merge(world)


def _pods_can_pull(world: World, done: Finished) -> None:
    assert done.result["changed"]
    assert world.placed("team-a", "team-pull-secret") == {**PLATFORM, **TEAM}
    account = world.management["mgmt-1"].store.find("serviceaccounts", "team-a", "default")
    assert account is not None
    assert account["imagePullSecrets"] == [{"name": "team-pull-secret"}]


def _secret_removed(world: World, done: Finished) -> None:
    assert done.result["changed"]
    assert world.secret("clusters-cls-456", "cls-456-pull-secret", "mgmt-2") is None
    assert world.secret("clusters-cls-123", "cls-123-pull-secret") is not None


STORIES: dict[str, dict[str, Step]] = {
    "modules/check_variables": {
        "Check the variables of a playbook that runs the role provision": Step(
            workflow.given_variables, workflow.all_right
        ),
    },
    "modules/cloud_event": {
        "Have the adapters process two clusters": Step(hyperfleet.pubsub, hyperfleet.published),
        "Show what would be published to RabbitMQ": Step(
            hyperfleet.rabbitmq_address, hyperfleet.not_published
        ),
    },
    "modules/dockerconfig_merge": {
        "Check a docker config": Step(_files_to_merge, _checked),
        "Merge two docker configs, the team's wins but for quay.io": Step(_nothing, _merged),
        "Tell which credential would pull the images of a deployment, and fail if there is none": Step(
            _nothing, _pulled
        ),
        "Delete the file; anything but a docker config would be left alone": Step(_nothing, _deleted),
    },
    "modules/gcp_pull_secret": {
        "Store the pull secret of one cluster": Step(_cluster_in_the_api, _stored),
        "Store the pull secrets of many clusters, each in its customer's project": Step(
            _older_versions_and_sources, _stored_and_retained
        ),
        "Go back to version 3": Step(_nothing, _restored),
        "Remove the secret of a deleted cluster": Step(_nothing, _removed),
    },
    "modules/hosted_cluster_pull_secret": {
        "Keep the global pull secret of a hosted cluster": Step(hosted.one_hosted_cluster, hosted.kept),
        "Two hosted clusters in one task, the original winning in one of them": Step(
            hosted.second_hosted_cluster, hosted.both_kept
        ),
        "Name the secrets where there is no HostedControlPlane, and wait for the nodes": Step(
            hosted.no_hosted_control_plane, hosted.rolled_out
        ),
    },
    "modules/hosted_cluster_report": {
        "Report the result of every hosted cluster": Step(hosted.one_of_two_failed, hosted.reported),
        "End with one result for all clusters": Step(_nothing, hosted.ended, code=2),
    },
    "modules/hyperfleet_cluster_info": {
        "Read two clusters": Step(hyperfleet.two_clusters, hyperfleet.both_read),
        "Show where the first one's secret goes": Step(_nothing, hyperfleet.namespace_shown),
        "Read all clusters of an environment, without statuses": Step(_nothing, hyperfleet.one_found),
    },
    "modules/hyperfleet_adapter": {
        "Reconcile two clusters": Step(hyperfleet.two_that_are_ready, hyperfleet.jobs_made),
        "Reconcile the whole fleet without Jobs": Step(_nothing, hyperfleet.stored_without_jobs),
    },
    "modules/hyperfleet_status": {
        "Report that the pull secret is available": Step(hyperfleet.two_clusters, hyperfleet.heard),
    },
    "modules/k8s_pull_secret": {
        "Give the management cluster what Secret Manager holds": Step(_secret_manager_holds_it, _placed),
        "Two management clusters in one task": Step(_second_management_cluster, _placed_in_both),
        "Merge two docker configs for a namespace and let its pods pull with them": Step(
            _team_namespace, _pods_can_pull
        ),
        "Remove the Secret of a deleted cluster": Step(_nothing, _secret_removed),
    },
    "modules/kubelet_auth_sync": {
        "Update the file and restart kubelet": Step(node.a_node, node.in_step),
        "Write the file and let kubelet detect it within 5 minutes": Step(node.another_source, node.written),
        "Remove our entries again": Step(_nothing, node.taken_out),
        "Go back to the previous file": Step(node.rotated, node.went_back),
    },
    "modules/pull_secret_info": {
        "List what there is for the clusters of a list": Step(workflow.stored_clusters, workflow.looked_at),
        "Fail if a cluster has drifted": Step(_nothing, workflow.drift_told, code=2),
        "List every version of one cluster's secret with its digest, to choose one to restore": Step(
            _nothing, workflow.versions_told
        ),
        "Find the secrets of clusters that are no longer in the list": Step(
            workflow.one_left_the_list, workflow.found_unlisted
        ),
    },
    "modules/pull_secret_job": {
        "Provision the cluster that the environment describes": Step(
            workflow.job_environment, workflow.job_done
        ),
    },
    "modules/pull_secret_report": {
        "Report the result of every cluster": Step(workflow.one_of_two_failed, workflow.reported),
        "End with one result for all clusters": Step(_nothing, workflow.ended, code=2),
    },
    "lookup/given": {
        "Use given values, or a default": Step(workflow.given_variables, workflow.default_used),
    },
    "lookup/cluster_variables": {
        "Provision the cluster that the variables of this host describe": Step(
            workflow.cluster_by_variables, workflow.provisioned_by_variables
        ),
    },
    "lookup/cluster_files": {
        "Provision the clusters of a directory": Step(workflow.files_of_clusters, workflow.provisioned),
    },
    "filter/credential_for": {
        "Show the entry that kubelet would pull an image with": Step(_files_to_merge, _said),
        "Fail if CRI-O and Podman would pull an image without a credential": Step(_nothing, _refused, code=2),
    },
    "filter/gcp_targets": {
        "Store the pull secrets of all clusters": Step(workflow.clusters, workflow.all_stored),
    },
    "filter/hosted_targets": {
        "Keep the global pull secrets of all hosted clusters": Step(hosted.hosted_clusters, hosted.all_kept),
    },
    "filter/info_targets": {
        "List what is stored and placed for all clusters": Step(workflow.stored_clusters, workflow.looked_at),
    },
    "filter/kubernetes_targets": {
        "Give the management clusters what Secret Manager holds": Step(
            workflow.stored_clusters, workflow.all_placed
        ),
    },
}
