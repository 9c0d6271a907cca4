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
  - Checks the variables of one of the collection's roles or playbooks. The roles and playbooks run it first.
  - Refuses a variable that refers to something undefined. Refuses a role's variable whose type or value does
    not match the role's argument specification, or that exceeds a limit of the module's option that it sets,
    such as C(provision_retry.tries).
  - Refuses unknown variables that begin with O(prefix). For a role, these are variables given where the role
    is imported or listed. For a playbook, these are extra variables (C(-e)).
  - Refuses a variable given with the role or as an extra variable if its name resembles a known one, such as
    C(manegment_contxt). The error names the variable that was meant.
  - Is less strict with variables set elsewhere, as in an inventory or a play. It refuses such a variable only
    if the name meant has several words and differs in one letter, an underscore or a plural, such as
    C(provision_retries).
  - Accepts the name of a variable that another variable's template reads, that a task registered, or that
    another role or playbook of the collection has. So one file of variables can serve several playbooks.
  - For null and an empty string, the role's default is used.
  - Refuses a list of clusters that is not a list, and a directory of clusters that does not exist. For an
    empty list it warns that nothing is done.
  - Refuses a list of clusters beside a directory, variables of one cluster beside either, and a run without
    any of them.
  - Refuses a date or an infinite number, with its path, and a vaulted value that cannot be decrypted.
  - An error names variables and rules, and never quotes a value.
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
  role:
    description: Name of the collection's role whose variables are checked, without the collection's name.
    type: str
  playbook:
    description: Names of the playbook's own variables. Required to check a playbook.
    type: list
    elements: str
  of_role:
    description:
      - Whether to check all variables of the role, for a playbook that runs the role's tasks without the role's own
        check.
    type: bool
    default: false
  prefix:
    description:
      - Prefix of the names of the role's or playbook's variables.
      - An unknown variable with this prefix is refused.
      - The default is the role's name and an underscore. Without O(role) there is no default.
    type: str
  of_play:
    description:
      - Variables of O(playbook) that the play's keywords use, such as C(hosts). Ansible evaluates keywords
        without the variables of hosts. A variable that only an inventory sets is therefore refused.
    type: list
    elements: str
    default: []
  clusters:
    description: Name of the variable with the list of clusters.
    type: str
  clusters_dir:
    description: Name of the variable with the path of the clusters' files.
    type: str
  of_cluster:
    description:
      - Variables of O(playbook) that describe one cluster. They are refused beside a list or a directory of
        clusters, on which they would have no effect.
    type: list
    elements: str
    default: []
  empty_with:
    description:
      - Name of a variable that gives the run something to do without clusters. If it is true, an empty list
        in O(clusters) is normal.
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
  description: Which variables are wrong, and why.
  returned: failure
  type: str
  sample: "provision_retries: unknown variable; did you mean provision_retry?"
"""
