# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: cluster_variables
short_description: Name the variables that describe one cluster
version_added: 0.1.0
description:
  - Returns the keys that a cluster may have in the list of the role
    P(hyperfleet.pull_secret.provision#role).
  - The playbook C(hyperfleet.pull_secret.provision) reads variables of these names for one cluster. Your own
    playbook can do the same.
options:
  _terms:
    description: The lookup has no terms.
    required: false
author:
  - HyperFleet contributors (@openshift-hyperfleet)
seealso:
  - plugin: hyperfleet.pull_secret.given
    plugin_type: lookup
"""

EXAMPLES = r"""
- name: Provision the cluster that the variables of this host describe
  ansible.builtin.include_role:
    name: hyperfleet.pull_secret.provision
  vars:
    names: "{{ query('hyperfleet.pull_secret.cluster_variables') }}"
    provision_clusters:
      - "{{ lookup('hyperfleet.pull_secret.given', names) }}"
"""

RETURN = r"""
_list:
  description: The names.
  type: list
  elements: str
"""

from typing import Any

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster import OPTIONS


class LookupModule(LookupBase):
    """Returns the names of the variables that describe one cluster."""

    def run(self, terms: Any, variables: Any = None, **kwargs: Any) -> list[str]:
        """Return the names; read no variable."""
        if terms or kwargs:
            raise AnsibleLookupError("cluster_variables: it takes no terms and no options")
        return [name for name, option in OPTIONS.items() if option.is_key]
