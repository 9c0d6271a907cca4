# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the modules that connect the Ansible Operator with the roles."""

from __future__ import annotations

from typing import Any

import pytest

from tests.docs.examples.world import World
from tests.stand_ins.kubernetes.resources import RESOURCES

pytestmark = pytest.mark.nightly


def _put(world: World) -> Any:
    world.namespace("hyperfleet-system")
    spec = {
        "clusterId": "cls-123",
        "gcpProjectId": "customer-prod-12345",
        "managementNamespace": "clusters-cls-123",
    }
    metadata = {"name": "cls-123", "namespace": "hyperfleet-system"}
    entry = world.clusters["mgmt-1"].store.create(
        RESOURCES["pullsecrets"], {"metadata": metadata, "spec": spec}
    )
    content = {"apiVersion": "pullsecret.hyperfleet.io/v1alpha1", "kind": "PullSecret", **entry.obj}
    world.variables["_pullsecret_hyperfleet_io_pullsecret"] = content
    return content


def test_modules_operator_check(world: World) -> None:
    _put(world)
    done = world.example("Check the object")
    (cluster,) = done.result["clusters"]
    assert (cluster["cluster_id"], cluster["management_namespace"]) == ("cls-123", "clusters-cls-123")
    assert done.result["refused"] == []


def test_modules_operator_status(world: World) -> None:
    _put(world)
    world.variables["checked"] = {"refused": []}
    row = {"cluster": "cls-123", "version": "4", "changed": True, "failed": False}
    world.variables["provision_report"] = {"clusters": [row]}
    done = world.example("Write the status")
    assert done.result["status"]["conditions"][0]["status"] == "True"
    item = world.clusters["mgmt-1"].store.find("pullsecrets", "hyperfleet-system", "cls-123")
    assert item is not None
    assert item["status"]["targets"] == [{"id": "cls-123", "state": "current", "version": "4"}]
