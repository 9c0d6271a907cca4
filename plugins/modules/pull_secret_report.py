#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: pull_secret_report
short_description: Report the result of every cluster
version_added: 0.1.0
description:
  - Prints a table of what M(hyperfleet.pull_secret.gcp_pull_secret) and
    M(hyperfleet.pull_secret.k8s_pull_secret) did for each cluster, with the reason of each failure.
  - Does not fail for a cluster that failed. A later task can fail if RV(summary) counts failed clusters, so
    that a workflow ends with one explicit result.
  - Fails if one of the three variables does not exist.
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
attributes:
  action_group:
    support: none
    membership: []
    details:
      - It connects to no service, so it has none of the group's options.
  diff_mode:
    support: none
    details:
      - It changes nothing.
options:
  clusters:
    description:
      - Name of the variable that holds the clusters of the workflow.
      - A name, not a template, as in the two other options. Copying a large fleet as an argument is slow.
    type: str
    required: true
  secret_manager:
    description:
      - Name of the variable with the registered result of M(hyperfleet.pull_secret.gcp_pull_secret).
    type: str
    required: true
  management:
    description:
      - Name of the variable with the registered result of M(hyperfleet.pull_secret.k8s_pull_secret).
    type: str
    required: true
  show:
    description: Whether the table is printed.
    type: bool
    default: true
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Report the result of every cluster
  hyperfleet.pull_secret.pull_secret_report:
    clusters: clusters
    secret_manager: stored
    management: placed
  register: report

- name: End with one result for all clusters
  ansible.builtin.fail:
    msg: "{{ report.msg }}"
  when: report.summary.failed > 0
"""

RETURN = r"""
clusters:
  description: One row for each cluster.
  returned: always
  type: list
  elements: dict
  contains:
    cluster:
      description: Id of the cluster.
      type: str
      returned: always
    version:
      description: Version in Secret Manager that the management cluster holds, or that was stored for it.
      type: str
      returned: always
    secret_manager:
      description: What was done in Secret Manager.
      type: str
      returned: always
    management_secret:
      description: What was done in the management cluster.
      type: str
      returned: always
    changed:
      description: Whether anything changed.
      type: bool
      returned: always
    failed:
      description: Whether the cluster failed.
      type: bool
      returned: always
    kind:
      description: Kind of the failure.
      type: str
      returned: always
    reason:
      description: What went wrong, where, and what to do.
      type: str
      returned: always
    actions:
      description: All that was done.
      type: list
      elements: str
      returned: always
    warnings:
      description: What was repaired or needs attention.
      type: list
      elements: str
      returned: always
msg:
  description: Number of failed clusters, and the first reasons.
  returned: when a cluster failed
  type: str
summary:
  description: Counts of all clusters, of changed clusters that did not fail, and of failed clusters.
  returned: always
  type: dict
  sample: {total: 1000, changed: 10, failed: 1}
"""
