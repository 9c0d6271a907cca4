# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Event source of ansible-rulebook: which clusters' Secrets changed."""

from __future__ import annotations

import asyncio
import logging
import resource
import sys
from pathlib import Path
from typing import Any

DOCUMENTATION = r"""
---
short_description: Watch Secrets in many Kubernetes clusters, and name the clusters whose Secrets changed
description:
  - One real watch a Secret, resumed where it was when a connection is lost, and listed again when the API
    server no longer knows what happened since.
  - Events name clusters, Secrets and resourceVersions. No value and no annotation of a Secret is in them,
    nor in this process - Secrets are asked for as tables without objects.
  - When it starts, every cluster is in an event once, so that nothing is lost while it was down. Changes
    are collected into few events, each with many clusters.
  - Needs C(get), C(list) and C(watch) of the Secrets; C(resourceNames) may limit them to those.
options:
  clusters:
    description:
      - A list, or the path of a JSON or YAML file that holds one (or has one under C(clusters)). A file is
        read again when it changes - watches of clusters that went are ended, those of new ones begun. An
        entry that cannot be used is logged and left out.
      - An entry is a hosted cluster as the module M(hyperfleet.pull_secret.hosted_cluster_pull_secret) takes
        it, so that one file says both what is watched and what is done. C(control_plane_namespace) is enough
        where a HostedControlPlane names the original pull secret and the kubeconfig. Its original and its
        additional pull secret are watched.
      - Or it has C(cluster_id), C(watches) (a list of C(namespace) and C(name)) and how to get there, as in
        O(kubernetes). A watch that has such options itself uses these alone.
      - One C(cluster_id) may have several entries.
    type: raw
    required: true
  kubernetes:
    description:
      - How to get to the API server of entries that do not say it - C(kubeconfig) and C(context), or C(host)
        with C(api_key_file) and C(ca_cert), and C(validate_certs). What is not said, the variables
        C(K8S_AUTH_HOST), C(K8S_AUTH_API_KEY) and the others of C(kubernetes.core) say, as for the modules.
        Without any, it is what kubectl would use, or the pod's own account.
    type: dict
  batch:
    description:
      - C(delay) is for how many seconds changes are collected before they are put as one event, 1 by
        default. C(max) is how many clusters there are in one event, 500 by default.
      - While an action of the rulebook runs, changes are collected for longer.
      - Clusters that changed, clusters that are only looked at again, and clusters whose API server does not
        answer (16 at most) are in events of their own, in this order; what changed is in every second event
        at the latest.
    type: dict
  resync:
    description:
      - Seconds after which all clusters are in an event again; C(0) is never. Until then, a cluster that
        changed is in one again after 15 s, and after pauses that double.
    type: float
    default: 3600
  silence:
    description:
      - Seconds after which an API server that says nothing is taken for lost. It is asked to end each watch
        after 240 to 300 seconds. That a machine or its network is gone is noticed within a minute.
    type: float
    default: 330
"""

EXAMPLES = r"""
- hyperfleet.pull_secret.kubernetes_secret:
    clusters: /etc/hyperfleet/clusters.yml
    kubernetes:
      kubeconfig: /etc/hyperfleet/management.kubeconfig
    batch:
      delay: 2
      max: 200

- hyperfleet.pull_secret.kubernetes_secret:
    clusters:
      - cluster_id: cls-1
        kubeconfig: /etc/hyperfleet/cls-1.kubeconfig
        watches:
          - namespace: kube-system
            name: additional-pull-secret
          - namespace: clusters-cls-1
            name: pull-secret
            kubeconfig: /etc/hyperfleet/management.kubeconfig
"""


def _find_collection() -> None:
    """Make the collection that this file is in importable.

    ansible-rulebook loads sources by their path and knows nothing of collections.
    """
    path = Path(__file__).absolute()
    if path.parts[-8:-5] != ("ansible_collections", "hyperfleet", "pull_secret"):
        return
    sys.path.append(str(path.parents[7]))
    import ansible_collections

    # The package `ansible` has a module of this name for its own collections only.
    if str(path.parents[6]) not in ansible_collections.__path__:
        ansible_collections.__path__.append(str(path.parents[6]))


_find_collection()

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.batches import (  # noqa: E402
    Batches,
    Queue,
    engine_is_busy,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.clusters import (  # noqa: E402
    check_clusters,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.fleet import Fleet  # noqa: E402
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.settings import (  # noqa: E402
    parse_settings,
)

_FILES = 65536
LOGGER = logging.getLogger("hyperfleet.pull_secret.kubernetes_secret")


def _allow_connections() -> None:
    """Raise the limit of open files: each watch is a connection, and the default is often 1024 files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def main(queue: Queue, args: dict[str, Any]) -> None:
    """Put events until it is cancelled.

    It never returns, which would end ansible-rulebook. It raises only errors of its arguments and missing
    packages, at once.
    """
    settings = parse_settings(args)
    if not isinstance(settings.clusters, str):
        check_clusters(settings.clusters)
    _allow_connections()
    batches = Batches(queue, settings.delay, settings.most, engine_is_busy)
    while True:
        fleet = Fleet(settings, batches)
        tasks = [asyncio.create_task(batches.run()), asyncio.create_task(fleet.run())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        # A defect of ours. Collected changes are kept, and all clusters are listed again.
        names = [type(one).__name__ for one in ended if not isinstance(one, asyncio.CancelledError)]
        LOGGER.error("internal error (%s): all watches start again; please report this", ", ".join(names))
        await asyncio.sleep(5.0)
