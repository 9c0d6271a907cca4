# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: given
short_description: Return the given variables with their values
version_added: 0.1.0
description:
  - Reads optional variables, and returns a mapping of those that are given.
  - A variable that is missing, null or an empty string counts as not given. A survey sets empty strings for empty
    fields.
  - Every other variable is evaluated completely. A reference to something undefined is an error. With C(default) or
    C(is defined), such a variable would count as not given.
  - A date or an infinite number in a value is an error, too. YAML reads an unquoted C(2026-01-02) as a date.
  - Error messages name the variables and never quote a value.
  - Do not use C(default) on the result of this lookup, because C(default) can hide its errors. Use the mapping's
    C(get).
options:
  _terms:
    description: Names of variables, or lists of names.
    type: list
    elements: raw
    required: true
  values:
    description:
      - Whether to return the values. With V(false), each given name has V(true).
      - With V(false), lists and mappings are not evaluated, because that is slow for thousands of clusters.
    type: bool
    default: true
author:
  - HyperFleet contributors (@openshift-hyperfleet)
seealso:
  - module: hyperfleet.pull_secret.check_variables
"""

EXAMPLES = r"""
- name: Use given values, or a default
  ansible.builtin.debug:
    msg: "{{ options.get('state', 'present') }}"
  vars:
    options: "{{ lookup('hyperfleet.pull_secret.given', 'state', 'labels') }}"
"""

RETURN = r"""
_raw:
  description: One mapping, from the name of each given variable to its value.
  type: list
  elements: dict
"""

from collections.abc import Iterator
from typing import Any

from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.variables import given, named


class LookupModule(LookupBase):
    """Reads the raw variables that Ansible passes to every lookup."""

    def run(self, terms: Any, variables: Any = None, **kwargs: Any) -> list[dict[str, Any]]:
        """Return the mapping as the only item of a list."""
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
