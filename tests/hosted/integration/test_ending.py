# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Control planes, namespaces and objects that are being deleted, and removal without an original."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.hosted.integration.test_edges import deployed
from tests.hosted.integration.world import ADDITIONAL, GLOBAL, OURS, World
from tests.support.docker_configs import docker_config, encoded
from tests.support.kubernetes.world import Api, path

_HOLD = ["example.com/hold"]
_MERGE = "application/merge-patch+json"


@contextmanager
def being_deleted(api: Api, at: str) -> Iterator[None]:
    """Delete the object at a path while a finalizer keeps it."""
    assert api.request("PATCH", at, {"metadata": {"finalizers": _HOLD}}, _MERGE)[0] == 200
    assert api.request("DELETE", at)[0] in (200, 202)
    try:
        yield
    finally:
        api.request("PATCH", at, {"metadata": {"finalizers": None}}, _MERGE)


@pytest.mark.parametrize("state", ["present", "absent"])
@pytest.mark.parametrize("direct", [False, True])
def test_a_hosted_control_plane_that_is_being_deleted_is_left_alone(
    world: World, state: str, direct: bool, tmp_path: Any
) -> None:
    deployed(world)
    world.additional(docker_config(registry_example_com="new"))
    options: dict[str, Any] = (
        {"hosted_kubeconfig": str(world.hosted.kubeconfig(tmp_path / "hosted"))} if direct else {}
    )
    with being_deleted(world.management, world.plane):
        world.reset()
        result = world.run(state=state, **options)
        assert (result.get("failed"), result["changed"], result["actions"]) == (None, False, [])
        assert result["skipped"].endswith(f"hostedcontrolplanes/{world.id} is being deleted")
        assert result["warnings"] == [f"left alone: {result['skipped']}"]
        assert world.writes() == []
    assert world.there() == {*OURS, "leases"}


def test_a_namespace_that_is_being_terminated_is_left_alone(world: World) -> None:
    world.additional(docker_config(registry_example_com="tenant"))
    # The namespace controller has not deleted the secret yet, and no object can be created.
    message = f"unable to create new content in namespace {world.namespace} because it is being terminated"
    world.hosted.faults.add(verb="create", status=403, reason="Forbidden", message=message, times=None)
    result = world.run()
    assert (result.get("failed"), result["changed"]) == (None, False)
    assert "is being terminated" in result["skipped"]
    assert world.there() == set()


def test_an_additional_secret_that_waits_for_a_finalizer_is_gone(world: World) -> None:
    """Its owner has deleted it: its entries must not stay as long as the owner keeps a finalizer on it."""
    deployed(world)
    with being_deleted(world.hosted, path(world.namespace, "secrets", ADDITIONAL)):
        result = world.run(rollout_timeout=0)
        assert (result.get("failed"), result["additional"]) == (None, "absent")
        assert world.there() == set()
        assert not world.run()["changed"]


def test_an_owned_secret_that_waits_for_a_finalizer_is_deleted_once(world: World) -> None:
    deployed(world)
    world.merge("secrets", GLOBAL, {"metadata": {"finalizers": _HOLD}})
    world.additional(None)
    try:
        assert "deleted secret" in world.run(rollout_timeout=0)["actions"]
        assert world.there() == {"secrets"}
        result = world.run(rollout_timeout=0)
        assert (result.get("failed"), result["actions"]) == (None, [])
    finally:
        world.merge("secrets", GLOBAL, {"metadata": {"finalizers": None}})


GONE: dict[str, Any] = {
    "deleted": None,
    "not valid": "{}",
    "without entries": '{"auths":{}}',
}


@pytest.mark.parametrize("document", GONE.values(), ids=GONE)
def test_absent_needs_no_original(world: World, document: str | None) -> None:
    names = deployed(world)
    if document is None:
        world.management.delete(world.control_plane, "secrets", "pull-secret")
    else:
        world.original(document)
    assert world.run(state="present")["failed"]
    result = world.run(state="absent", rollout_timeout=0.2)
    assert not result.get("failed"), result
    # The nodes lose the tenant's entries nevertheless.
    assert set(world.held()) == {"cloud.openshift.com", "quay.io"}
    assert any(
        text.startswith(
            "cannot read the original pull secret; the nodes keep the entries they already have from it"
        )
        for text in result["warnings"]
    )
    for name in names:
        world.report(name)
    world.run(state="absent", rollout_timeout=0.2)
    assert world.there() == set()


def test_absent_where_nothing_is_known_of_the_original(world: World) -> None:
    deployed(world)
    world.management.request("DELETE", world.plane)
    document = json.dumps(docker_config(registry_example_com="tenant"))
    world.merge("secrets", GLOBAL, {"data": {".dockerconfigjson": encoded(document)}})
    result = world.run(
        state="absent",
        control_plane_namespace=None,
        hosted_kubeconfig_secret={"namespace": world.control_plane, "name": "admin-kubeconfig"},
    )
    assert not result.get("failed"), result
    assert world.there() == set()
    assert any("the nodes keep their current file" in text for text in result["warnings"])


def test_absent_waits_for_a_management_cluster_that_does_not_answer(world: World) -> None:
    """The management cluster may have the original: the next run finds out."""
    deployed(world)
    world.management.faults.add(verb="get", path="*/pull-secret", status=503, times=None)
    result = world.run(state="absent", rollout_timeout=0)
    assert result["kind"] == "unavailable"
    assert world.there() == {*OURS, "leases"}
