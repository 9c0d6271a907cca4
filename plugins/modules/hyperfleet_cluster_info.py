#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: hyperfleet_cluster_info
short_description: Read clusters and their adapters' statuses
version_added: 0.1.0
description:
  - Reads clusters from the HyperFleet API, and what each adapter said last of them.
  - Clusters are read a hundred at a time, statuses with one request for each cluster.
  - No pull secret is in the result. C(spec.pullSecret.data) is left out, and what else looks like a
    credential, or repeats a part of the pull secret, is masked.
requirements:
  - urllib3
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
  - hyperfleet.pull_secret.run
attributes:
  diff_mode:
    support: none
    details:
      - It changes nothing.
options:
  cluster_ids:
    description:
      - Ids of the clusters. Without it and O(search) all clusters are read.
      - O(cluster_ids) and O(search) exclude each other.
    type: list
    elements: str
  search:
    description: A search in the API's language (TSL), such as V(labels.env = 'production').
    type: str
  statuses:
    description:
      - Whether the adapters' statuses are read.
    type: bool
    default: true
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Read two clusters
  hyperfleet.pull_secret.hyperfleet_cluster_info:
    cluster_ids:
      - cls-123
      - cls-456
  register: read

- name: Show where the first one's secret goes
  ansible.builtin.debug:
    msg: "{{ read.clusters[0].statuses.placement.data.namespace }}"

- name: Read all clusters of an environment, without statuses
  hyperfleet.pull_secret.hyperfleet_cluster_info:
    search: labels.env = 'production'
    statuses: false
"""

RETURN = r"""
clusters:
  description: The clusters that are there, in the order of O(cluster_ids).
  returned: always
  type: list
  elements: dict
  contains:
    id:
      description: Id of the cluster.
      type: str
      returned: always
      sample: cls-123
    name:
      description: Name of the cluster.
      type: str
      returned: always
    generation:
      description: Number of the cluster's state. Each edit is a new one.
      type: int
      returned: always
      sample: 2
    deleted:
      description: Whether the cluster is being deleted. Its adapters are then to clean up.
      type: bool
      returned: always
    deleted_time:
      description: Since when, or null.
      type: str
      returned: always
    labels:
      description: Labels of the cluster.
      type: dict
      returned: always
    spec:
      description: The cluster's specification, without its pull secret.
      type: dict
      returned: always
    conditions:
      description: The cluster's conditions by type, each with C(status), C(reason) and C(message).
      type: dict
      returned: always
    statuses:
      description:
        - What each adapter said last, by the adapter's name. It has C(generation), C(current) (whether that
          is the cluster's), C(conditions) by type, C(data), C(metadata) and C(observed_time).
      type: dict
      returned: always
missing:
  description: Ids of clusters that are not there.
  returned: always
  type: list
  elements: str
failed_clusters:
  description: Clusters that could not be read, each with C(id), C(kind) and C(msg).
  returned: always
  type: list
  elements: dict
"""

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hyperfleet_cluster_info
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_with


def main() -> None:
    """Run the module."""
    run_with(hyperfleet_cluster_info.target_options(), hyperfleet_cluster_info.run)


if __name__ == "__main__":
    main()
