# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rules that the page *Permissions* lists are those that a delivery needs."""

from __future__ import annotations

from tests.guests.integration.world import SETS, World
from tests.support import doc_tables
from tests.support.docker_configs import docker_config


def _documented() -> set[tuple[str, str]]:
    text = doc_tables.section(doc_tables.page("permissions"), "Kubernetes: guest clusters")
    rows = doc_tables.tables(text)[0][1:]
    return {
        (verb, kind)
        for kinds, verbs in rows
        for kind in doc_tables.literals(kinds)
        if "." not in kind
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
    used = set()
    for call in world.api.calls.matching():
        parts = call.path.strip("/").split("/")
        plurals = ("namespaces", "secrets", "clusters", "clusterresourcesets", "clusterresourcesetbindings")
        kind = next(part for part in reversed(parts) if part in plurals)
        if f"/namespaces/{world.source}/" not in call.path:
            used.add((call.verb, kind))
    assert used == {*_documented(), ("patch", "clusters")}
