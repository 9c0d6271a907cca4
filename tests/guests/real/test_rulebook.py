# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rulebook in ansible-rulebook itself: a change of the source, a Cluster or a namespace is delivered."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.guests.integration.world import World
from tests.lab.session import STAND_IN, kubernetes
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.support.docker_configs import docker_config
from tests.support.kubernetes.world import Api
from tests.support.rulebook import prepare
from tests.support.waiting import until

pytestmark = [pytest.mark.real("java"), pytest.mark.alone]


def test_a_change_is_delivered_without_anybody_starting_anything(tmp_path: Path) -> None:
    with kubernetes(STAND_IN) as env, Api(env) as api:
        world = World(api)
        namespace, _name = world.guest()
        # Not through the proxy of ``api``, which passes a watch on at its end.
        kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", [Cluster("host", env.url, env.token)])
        variables: dict[str, Any] = {
            "guest_cluster_source": {"kubernetes": {"namespace": world.source, "name": "source-pull-secret"}},
            "guest_cluster_namespace_selector": f"delivery={world.label}",
            "guest_cluster_kubernetes": {"kubeconfig": str(kubeconfig)},
            "watch_resync": 0,
        }

        async def delivered(space: str, word: str) -> None:
            document = docker_config(registry_example_com=word)

            def is_delivered() -> bool:
                return world.api.secret(space, "crs-pull-secret") is not None and (
                    world.delivered(space, "crs-pull-secret") == document
                )

            await until(is_delivered, seconds=120)

        async def scenario() -> None:
            with prepare(tmp_path, "guest_cluster", **variables).running() as running:
                await delivered(namespace, "one")
                world.put_source(docker_config(registry_example_com="two"))
                await delivered(namespace, "two")
                # A Cluster in a selected namespace, then a namespace that is selected later.
                await delivered(world.guest()[0], "two")
                later, _name = world.guest(world.namespace(labelled=False))
                world.select(later, selected=True)
                await delivered(later, "two")
                assert "example-password" not in running.text
                assert json.dumps(docker_config(registry_example_com="two")) not in running.text

        asyncio.run(scenario())
