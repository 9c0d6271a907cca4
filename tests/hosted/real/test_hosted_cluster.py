# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Add and remove the tenant's secret; nodes can pull private images while it exists.

The test starts no playbook and touches no node.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster.names import (
    PROBLEM,
)
from tests.lab.nodes.cluster import ClusterLab
from tests.support.tenant import Tenant, document, forms_of, rulebook

pytestmark = pytest.mark.real("nodes", "go", "java")

# Seconds until the nodes have a change. On an idle machine it takes 3.
SOON = 30.0
# Seconds for the first change: ansible-rulebook, its JVM and the syncer's image come first. Idle: 8.
FIRST = 120.0
# The nodes restore the original and restart their kubelets, one after the other; then all objects are deleted.
# If one run does not see the end, a retry 15 s after the change or a later one does.
REMOVED = 180.0
# Both readers take a password of two lines as it is; the tenant is warned of it.
TWO_LINES, ROTATED = "example-tenant-1\nexample-line-2", "example-tenant-2"
WARNED = re.compile(r"merged, with warnings: .*registry\.lab\.test:5000: .* \[control-character\]")


def test_from_the_tenants_secret_to_a_running_pod_and_back(
    cluster: ClusterLab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant = Tenant(cluster, tmp_path)
    seconds: dict[str, float] = {}
    # Nodes usually start with a file: an older original and entries of the node itself.
    theirs = document(registry_example_com="of-the-node")
    made = cluster.nodes[0]
    tenant.begins_with(made, document(registry_example_com="of-the-node", quay_io="older"))
    pod = tenant.pod()
    tenant.until(lambda: tenant.is_refused(pod), "the registry refuses the pod's node")

    with rulebook(tmp_path, tenant.file) as output:
        tenant.additional(TWO_LINES)
        first = cluster.registry.docker_config("tenant", TWO_LINES)
        seconds["the secret is new, on all nodes"] = tenant.until(
            lambda: tenant.everywhere(first), "nodes have it", FIRST
        )
        seconds["the pod runs"] = tenant.until(lambda: tenant.runs(pod), "the pod runs")
        tenant.until(lambda: WARNED.fullmatch(problem(tenant)), "the tenant is warned", SOON)
        tenant.until(lambda: in_sync(tenant), "all nodes report")

        # Rotation: the registry refuses the old password.
        tenant.additional(ROTATED)
        second = cluster.registry.docker_config("tenant", ROTATED)
        seconds["rotated, on all nodes"] = tenant.until(
            lambda: tenant.everywhere(second), "nodes have the new one", SOON
        )
        assert tenant.traces(ROTATED)
        tenant.until(lambda: in_sync(tenant), "all nodes report")
        tenant.until(lambda: not problem(tenant), "the warning is taken back", SOON)
        pods = [tenant.pod(node=node.name) for node in cluster.nodes]
        tenant.until(lambda: all(map(tenant.runs, pods)), "a new image is pulled on each node")

        # The owner rotates the original.
        rotated = document(cloud_openshift_com="cloud", quay_io="rotated")
        tenant.original(rotated)
        seconds["the original rotated, on all nodes"] = tenant.until(
            lambda: tenant.everywhere(rotated) and tenant.everywhere(second),
            "nodes have the original's new one",
            SOON,
        )

        tenant.additional(None)
        seconds["deleted, everything removed"] = tenant.until(
            lambda: not tenant.objects(), "all is removed", REMOVED
        )
        for password in (TWO_LINES, ROTATED):
            assert tenant.traces(password) == []
        kept = tenant.on_node(made)
        assert (
            kept["auths"].pop("registry.example.com") == json.loads(theirs)["auths"]["registry.example.com"]
        )
        held = [kept, *(tenant.on_node(node) for node in cluster.nodes[1:])]
        assert [sorted(found["auths"]) for found in held] == [["cloud.openshift.com", "quay.io"]] * 3
        assert tenant.everywhere(rotated)
        pod = tenant.pod()
        tenant.until(lambda: tenant.is_refused(pod), "the registry refuses again")
    text = output.read_text()
    assert len(text) > 1000
    for password in (TWO_LINES, ROTATED):
        assert [form for form in forms_of(password) if form in text] == []
    with capsys.disabled():
        print()
        for what, took in seconds.items():
            print(f"{what}: {took:.2f} s")


def in_sync(tenant: Tenant) -> bool:
    """Whether each node reports the current version of the global secret."""
    secret = tenant.cluster.api.find("/api/v1/namespaces/kube-system/secrets/global-pull-secret")
    return secret is not None and tenant.reported(secret["metadata"]["resourceVersion"])


def problem(tenant: Tenant) -> str:
    """What the annotation of the tenant's secret says is wrong with it."""
    metadata = tenant.hosted.secret("kube-system", "additional-pull-secret")["metadata"]
    return str((metadata.get("annotations") or {}).get(PROBLEM, ""))
