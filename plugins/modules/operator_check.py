#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: operator_check
short_description: Find out what a custom resource of the controller asks for
version_added: 0.1.0
description:
  - Returns what a C(PullSecret), C(PullSecretFleet), C(GlobalPullSecret) or C(GuestPullSecret) asks for, with the
    names of the role behind its kind. For the playbooks that the Ansible Operator runs.
  - Of two custom resources that want the same cluster or the same secret, the older one has it.
  - For a custom resource that is deleted, returns what finds the secrets, with the state V(absent), if its
    C(deletionPolicy) is C(Delete), and nothing otherwise.
requirements:
  - kubernetes
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
  - hyperfleet.pull_secret.run
attributes:
  diff_mode:
    support: none
    details:
      - It changes nothing.
options:
  object:
    description: The custom resource, as the operator passes it, with its keys as they are in the cluster.
    type: dict
    required: true
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Check the object
  hyperfleet.pull_secret.operator_check:
    object: "{{ _pullsecret_hyperfleet_io_pullsecret }}"
  register: checked
"""

RETURN = r"""
clusters:
  description: The clusters for the role.
  returned: success
  type: list
  elements: dict
refused:
  description: Those that an older custom resource has, and those that cannot exist, as rows of a report.
  returned: success
  type: list
  elements: dict
"""

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import operator_check
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_with


def main() -> None:
    """Run the module."""
    run_with(operator_check.target_options(), operator_check.run)


if __name__ == "__main__":
    main()
