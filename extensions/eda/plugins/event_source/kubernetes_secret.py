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
short_description: Watch Secrets in many Kubernetes clusters, and emit the clusters whose Secrets changed
description:
  - Keeps one Kubernetes watch for each Secret. After a lost connection, the watch continues from the last
    resourceVersion. If the API server no longer has that version, the source lists the Secret again.
  - Events contain names of clusters, names of Secrets, and resourceVersions. The source never receives a value
    or an annotation of a Secret, because it requests Tables without objects.
  - At its start, the source emits every cluster once, so that no change is lost while it was down. It collects
    changes, and emits one event for many clusters.
  - The user needs the permissions C(get), C(list) and C(watch) for the Secrets. The permissions can be
    restricted with C(resourceNames).
  - It also watches Clusters of Cluster API and namespaces that come and go, for the rulebook C(guest_cluster).
options:
  clusters:
    description:
      - A list, or the path of a JSON or YAML file. The file contains the list itself, or a mapping with the list
        in C(clusters). When the file changes, the source reads it again, and starts and stops watches.
      - An entry is a hosted cluster, with the options of the module
        M(hyperfleet.pull_secret.hosted_cluster_pull_secret). The source and the playbook can therefore read the
        same file. The source watches the original and the additional pull secret of the cluster.
        C(control_plane_namespace) is enough if a HostedControlPlane names the original pull secret and the
        kubeconfig.
      - Alternatively, an entry has C(cluster_id), C(watches) (a list of mappings with C(namespace) and C(name)),
        and the options of O(kubernetes). A watch with options of O(kubernetes) does not use those of its entry.
      - A watch with C(kind) in the place of C(namespace) and C(name) is for all objects of that kind that come or
        go. C(kind) is C(clusters) (those of Cluster API) or C(namespaces). C(label_selector) chooses some of them.
        The user needs C(list) and C(watch) for them.
      - Each C(cluster_id) must be unique.
      - An invalid entry of a file is logged and ignored. An invalid entry of a list is an error.
    type: raw
    required: true
  kubernetes:
    description:
      - The connection for entries without their own. Use C(kubeconfig) and C(context), or C(host) with
        C(api_key_file) and C(ca_cert). C(validate_certs) applies to both.
      - The variables C(K8S_AUTH_HOST), C(K8S_AUTH_API_KEY), and so on, are the defaults, as in the modules.
        Without options and variables, the source uses the default kubeconfig of kubectl, or the pod's service
        account.
    type: dict
  batch:
    description:
      - C(delay) is the number of seconds for which changes are collected before the source emits an event. The
        default is 1.
      - C(max) is the maximum number of clusters in one event. The default is 500.
      - While the rulebook runs an action, the source collects changes for up to 300 seconds.
      - Three kinds of clusters have separate events, in this order. First, clusters that changed. Second,
        clusters to check again. Third, clusters whose Secrets cannot be watched now, at most 16 in one event. At
        least every second event is for changed clusters, if there are any.
    type: dict
  resync:
    description:
      - Seconds between two emissions of all clusters. C(0) disables all repetitions.
      - A changed cluster is emitted again after 15 seconds, and then after intervals that double until they
        reach this value.
    type: float
    default: 3600
  silence:
    description:
      - Seconds without data after which a watch's connection counts as lost. The source asks the API server to
        end each watch after 240 to 300 seconds, so the value should be greater than that.
      - TCP keep-alive detects an unreachable machine or network within a minute.
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

- hyperfleet.pull_secret.kubernetes_secret:
    clusters:
      - cluster_id: host
        watches:
          - namespace: kube-system
            name: source-pull-secret
          - kind: clusters
          - kind: namespaces
            label_selector: capi-pull-secret=true
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
