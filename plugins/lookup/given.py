# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: given
short_description: Tell which variables are given, and their values
version_added: 0.1.0
description:
  - Reads variables that a user may give or leave out. The result is a mapping of those that are given.
  - A variable that does not exist, is null or is an empty string is not given. A survey leaves such ones.
  - A variable that exists is evaluated with everything in it. It is an error if it refers to something
    undefined. With C(default) or C(is defined) such a variable would count as not given.
  - It is an error, too, if a value has a date or an infinite number. YAML makes a date of C(2026-01-02)
    without quotes.
  - An error names the variables and never quotes a value.
  - Do not put C(default) after this lookup, since C(default) can hide its errors. Use the mapping's C(get).
options:
  _terms:
    description: Names of variables, or lists of them.
    type: list
    elements: raw
    required: true
  values:
    description:
      - Whether the values are wanted. Without them each name that is given has V(true).
      - A list or a mapping is then not evaluated, which takes long for thousands of clusters.
    type: bool
    default: true
author:
  - HyperFleet contributors (@openshift-hyperfleet)
seealso:
  - module: hyperfleet.pull_secret.check_variables
"""

EXAMPLES = r"""
- name: Use what is given, and a value of one's own where nothing is
  ansible.builtin.debug:
    msg: "{{ options.get('state', 'present') }}"
  vars:
    options: "{{ lookup('hyperfleet.pull_secret.given', 'state', 'labels') }}"
"""

RETURN = r"""
_raw:
  description: One mapping, from the name of each variable that is given to its value.
  type: list
  elements: dict
"""

from collections.abc import Iterator
from typing import Any

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.variables import given, named


class LookupModule(LookupBase):
    """Reads the raw variables that Ansible hands to every lookup."""

    def run(self, terms: Any, variables: Any = None, **kwargs: Any) -> list[dict[str, Any]]:
        """The mapping, as the only item of a list."""
        try:
            self.set_options(var_options=variables, direct=kwargs)
        except TypeError:
            # ansible-core 2.18 cannot compare a list or a mapping with the words for true.
            raise AnsibleLookupError("given: values must be true or false") from None
        tell = given if self.get_option("values") else named
        return [tell(_names(terms), variables or {}, self._templar)]


def _names(terms: Any) -> Iterator[str]:
    for term in terms:
        if isinstance(term, str):
            yield str(term)
        elif isinstance(term, (list, tuple)):
            yield from _names(term)
        else:
            raise AnsibleLookupError("given: a variable's name is not a string; put it in quotes")
