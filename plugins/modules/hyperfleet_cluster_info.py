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
  - Reads clusters and the latest status of each adapter from the HyperFleet API.
  - Clusters are read a hundred at a time, statuses with one request for each cluster.
  - The result holds no pull secret. C(spec.pullSecret.data) is left out. Other values that look like a
    credential, or repeat a part of the pull secret, are masked.
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
  description: The clusters that exist, in the order of O(cluster_ids).
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
      description: Generation of the cluster. Each edit increases it.
      type: int
      returned: always
      sample: 2
    deleted:
      description: Whether the cluster is being deleted. Its adapters must then clean up.
      type: bool
      returned: always
    deleted_time:
      description: Time of the deletion request, or null.
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
        - Latest status of each adapter, by the adapter's name. It has C(generation), C(current),
          C(conditions) by type, C(data), C(metadata) and C(observed_time).
        - C(current) is true if the status is about the cluster's current generation.
      type: dict
      returned: always
missing:
  description: Ids of clusters that do not exist.
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
