# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rules that the page *Permissions* lists are those that a delivery needs."""

from __future__ import annotations

from typing import Any

from tests.guests.integration.world import SETS, World
from tests.support import doc_tables
from tests.support.docker_configs import docker_config
from tests.support.kubernetes.world import Api


def _documented(table: int) -> set[tuple[str, str]]:
    text = doc_tables.section(doc_tables.page("permissions"), "Kubernetes: guest clusters")
    rows = doc_tables.tables(text)[table][1:]
    return {
        (verb, kind)
        for kinds, verbs in rows
        for kind in doc_tables.literals(kinds)
        if "." not in kind and "-" not in kind
        for verb in doc_tables.literals(verbs)
    }


def test_the_documented_rights_are_those_that_are_used(world: World) -> None:
    namespace, _name = world.guest(labels={})
    world.guest()
    world.run(label_clusters=True)
    world.put_source(docker_config(registry_example_com="two"))
    world.run()
    # Somebody else has changed the set.
    world.api.merge(namespace, SETS, world.set_name, {"spec": {"resources": []}})
    world.run()
    world.select(namespace, selected=False)
    world.run()
    world.run(state="absent", source=None)
    # A kubeconfig that may be read is one of the Secrets.
    assert _used(world) == {*_documented(0), ("patch", "clusters")}


def test_the_documented_rights_are_those_of_a_direct_delivery(world: World, guest: Api) -> None:
    namespace, _name = world.reach(*world.guest(), guest)
    world.guest()
    options: dict[str, Any] = {"delivery": "direct", "secret_namespaces": [guest.namespace()]}
    world.run(**options)
    guest.delete(options["secret_namespaces"][0], "secrets", "pull-secret")
    world.run(**options)
    world.select(namespace, selected=False)
    world.run(**options)
    assert _used(world) == _documented(1)


def _used(world: World) -> set[tuple[str, str]]:
    plurals = (
        *("namespaces", "secrets", "clusters", "configmaps"),
        *("clusterresourcesets", "clusterresourcesetbindings"),
    )
    used = set()
    for call in world.api.calls.matching():
        parts = call.path.strip("/").split("/")
        kind = next(part for part in reversed(parts) if part in plurals)
        if f"/namespaces/{world.source}/" not in call.path:
            used.add((call.verb, kind))
    return used
