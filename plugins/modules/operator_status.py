#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: operator_status
short_description: Write the status of a custom resource of the controller
version_added: 0.1.0
description:
  - Writes the conditions C(Ready) and C(Degraded) of a custom resource, and a row for each cluster, beside the
    conditions of the Ansible Operator. Clusters that failed are also reported in an Event.
  - Does not fail for a cluster that failed, since the operator would repeat the run at once, for all clusters.
  - Fails if a deleted custom resource must stay, because its secrets could not be deleted. After C(deletionTimeout)
    it lets the custom resource go, and an Event says what was left.
requirements:
  - kubernetes
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
  - hyperfleet.pull_secret.run
attributes:
  diff_mode:
    support: none
    details:
      - A status is no desired state.
options:
  object:
    description: The custom resource, as the operator passes it, with its keys as they are in the cluster.
    type: dict
    required: true
  rows:
    description:
      - The rows of M(hyperfleet.pull_secret.pull_secret_report), or the targets of a module, and what
        M(hyperfleet.pull_secret.operator_check) refused.
    type: list
    elements: dict
    default: []
  results:
    description: The targets of M(hyperfleet.pull_secret.k8s_pull_secret), whose digests become part of the status.
    type: list
    elements: dict
    default: []
  problem:
    description: The result of a task that failed as a whole.
    type: dict
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Write the status
  hyperfleet.pull_secret.operator_status:
    object: "{{ _pullsecret_hyperfleet_io_pullsecret }}"
    rows: "{{ checked.refused + provision_report.clusters }}"
"""

RETURN = r"""
status:
  description: The status, as it was written.
  returned: success
  type: dict
"""

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import operator_status
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_with


def main() -> None:
    """Run the module."""
    run_with(operator_status.target_options(), operator_status.run)


if __name__ == "__main__":
    main()
