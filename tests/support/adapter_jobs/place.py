# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter's namespaces on a real cluster, with the rights that the page *Permissions* names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.lab.nodes.api import Object
from tests.lab.supervisor import wait_until
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.adapter_jobs import rights
from tests.support.docker_configs import KEY, TYPE, encoded

if TYPE_CHECKING:
    from tests.lab.nodes.cluster import ClusterLab

# The page's names.
CLUSTER = "cls-123"
SYSTEM, PLACE = "hyperfleet-system", f"clusters-{CLUSTER}"
_PULLER = ("job-puller", "example-puller-password")


@contextmanager
def adapter_namespaces(cluster: ClusterLab, manager: SecretManagerLab) -> Iterator[Object]:
    """Create the namespaces, and delete them when the block ends.

    Yield the ``spec.jobTemplate`` of Jobs that pull the job's image from the lab's registry and use this
    Secret Manager.
    """
    api, documented = cluster.api, rights.documented()
    paths = [f"/api/v1/namespaces/{name}" for name in (SYSTEM, PLACE)]
    cluster.registry.set_account(*_PULLER)
    login = {KEY: encoded(cluster.registry.docker_config(*_PULLER))}
    try:
        for name in (SYSTEM, PLACE):
            api.create("/api/v1/namespaces", {"metadata": {"name": name}})
        rights.give(api, documented)
        api.create(f"{paths[0]}/secrets", {"metadata": {"name": "registry"}, "type": TYPE, "data": login})
        yield {
            "image": cluster.push_job(),
            "imagePullSecrets": [{"name": "registry"}],
            "env": [{"name": "SECRET_MANAGER_EMULATOR_HOST", "value": manager.rest}],
        }
    finally:
        rights.take(api, documented)
        for path in paths:
            api.delete(path)
        wait_until(lambda: not any(map(api.find, paths)), "the adapter's namespaces are gone")
