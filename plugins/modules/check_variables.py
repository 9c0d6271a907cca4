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
  - For a role, refuses a variable that is given where the role is imported or listed if it begins with
    O(prefix) and the role does not have it. For a playbook, refuses such an extra variable (C(-e)).
  - Refuses a variable that is given with the role or as an extra variable if its name is nearly that
    of one of the variables checked, such as C(manegment_contxt), and names the variable that was meant.
  - Refuses a variable that is set elsewhere, as in an inventory or a play, only if its name differs in one
    letter, an underscore or a plural, such as C(provision_retries), and the name meant has several words.
  - Does not refuse for its name a variable that another variable's template reads, that a task registered,
    or that another role or playbook of the collection has. One file of variables can so serve several
    playbooks.
  - Null and an empty string say nothing, so the role's default holds.
  - Refuses a date or an infinite number, with its path, and a vaulted value that cannot be decrypted.
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
  of_play:
    description:
      - Those of O(playbook) that the play's own keywords use, such as C(hosts). Ansible evaluates these
        without the variables of hosts, so one that only an inventory sets is refused.
    type: list
    elements: str
    default: []
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
