#!/usr/bin/python
# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: check_variables
short_description: Refuse wrong and unknown variables before anything is read or written
version_added: 0.1.0
description:
  - Checks the variables of one of the collection's roles, or of one of its playbooks. The roles and playbooks
    run it first.
  - Refuses a variable that refers to something undefined, and a role's variable that has another type or
    value than the role describes.
  - For a role, refuses a variable, wherever it is set, whose name is nearly that of one of the role's
    variables, such as C(provision_retries), and names the variable that was probably meant. Where the role is
    imported or listed, it also refuses each variable that begins with O(prefix) and that the role does not
    have.
  - For a playbook, refuses each extra variable (C(-e)) whose name is nearly that of one of its variables, or
    that begins with O(prefix) and that neither the role nor the playbook has.
  - A variable that another variable's template reads is not refused for its name. Neither is one of
    another role in an inventory, such as C(node_exporter_version).
  - An error names variables and rules, and never quotes a value.
extends_documentation_fragment:
  - hyperfleet.pull_secret.attributes
attributes:
  action_group:
    support: none
    membership: []
    details:
      - It reaches no place, so it has none of the group's options.
  diff_mode:
    support: none
    details:
      - It changes nothing.
options:
  role:
    description: Name of the collection's role whose variables are checked, without the collection's name.
    type: str
  playbook:
    description: Names of the playbook's own variables. Says that it is a playbook that is checked.
    type: list
    elements: str
  prefix:
    description:
      - How the names of the role's or playbook's variables begin.
      - An unknown variable that begins so is refused.
      - By default it is the role's name and an underscore. Without O(role) there is no default.
    type: str
author:
  - HyperFleet contributors (@openshift-hyperfleet)
seealso:
  - plugin: hyperfleet.pull_secret.given
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: Check the variables of a playbook that runs the role provision
  hyperfleet.pull_secret.check_variables:
    role: provision
    playbook: [cluster_id, clusters]
"""

RETURN = r"""
msg:
  description: What is wrong with which variables.
  returned: failure
  type: str
  sample: "provision_retries: unknown variable; did you mean provision_retry?"
"""
