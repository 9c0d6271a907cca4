# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: hyperfleet_clusters
short_description: Clusters of the HyperFleet API as hosts
version_added: 0.1.0
description:
  - Each cluster is a host of the group C(hyperfleet_clusters). Clusters that are being deleted are left out.
  - The configuration is a YAML file whose name ends with C(hyperfleet_clusters.yml) or C(hyperfleet_clusters.yaml).
  - If the API cannot list all clusters or read all statuses, the plugin fails. An incomplete inventory would take
    clusters for gone. Ansible itself only warns of that, unless E(ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED) or, as
    in AWX, E(ANSIBLE_INVENTORY_UNPARSED_FAILED) is true.
  - No variable holds a pull secret. It stays in the API, where the role P(hyperfleet.pull_secret.provision#role)
    reads it. Other values that look like a credential are masked.
  - No connection to a host is possible. Plays over these hosts run on the controller, as in the example.
notes:
  - |-
    Variables of a host:
    C(hyperfleet_id), C(hyperfleet_name), C(hyperfleet_generation), C(hyperfleet_labels);
    C(hyperfleet_provider) and C(hyperfleet_region), empty if the spec does not name them;
    C(hyperfleet_management_cluster), empty until the cluster is placed;
    C(hyperfleet_conditions), the status of each condition, by type;
    C(hyperfleet_adapters), the same for each adapter by its name, for the cluster's current generation;
    C(hyperfleet_spec), without the pull secret;
    C(hyperfleet_cluster), the cluster for the role P(hyperfleet.pull_secret.provision#role). If it has the key
    C(problem), such as that the cluster is not placed yet, the role reports this as the failure of this cluster.
requirements:
  - urllib3
extends_documentation_fragment:
  - ansible.builtin.constructed
  - ansible.builtin.inventory_cache
  - hyperfleet.pull_secret.run.hyperfleet
options:
  plugin:
    description: Name of the plugin.
    type: str
    required: true
    choices: [hyperfleet.pull_secret.hyperfleet_clusters]
  search:
    description: A search in the API's language (TSL), such as V(labels.env = 'production'). The API evaluates it.
    type: str
  statuses:
    description:
      - Whether the adapters' statuses are read, with one request for each cluster. Without them, no cluster has a
        management cluster or adapters' conditions, and O(namespace) is necessary.
    type: bool
    default: true
  namespace:
    description:
      - Management namespace of a cluster that placement has never reported, such as V(clusters-{id}). C({id}) and
        C({name}) are replaced.
      - Without it, such a cluster has a C(problem).
    type: str
  allow_empty:
    description: Whether the inventory may have no host. Otherwise this is an error.
    type: bool
    default: false
  hostname:
    description: Whether a host has the cluster's id or its name.
    type: str
    choices: [id, name]
    default: id
  filters:
    description:
      - Jinja2 expressions of a host's variables. Only hosts for which all are true are in the inventory.
      - An expression that is neither true nor false, or refers to something undefined, is an error. Write
        C(hyperfleet_labels.env | default('') == 'production') for a label that not every cluster has.
    type: list
    elements: str
    default: []
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
# All clusters. The API's address is in the environment as HYPERFLEET_API_URL, and the path of a file with a bearer
# token as HYPERFLEET_TOKEN_FILE.
plugin: hyperfleet.pull_secret.hyperfleet_clusters
---
# Clusters with a label, in groups such as provider_gcp, region_us_east1, env_production and waits_for_validation
plugin: hyperfleet.pull_secret.hyperfleet_clusters
hyperfleet:
  url: https://hyperfleet.example.com
  token_file: /var/run/secrets/hyperfleet/token
hostname: name
filters:
  - hyperfleet_labels.env is defined
keyed_groups:
  - key: hyperfleet_provider
    prefix: provider
  - key: hyperfleet_region
    prefix: region
  - key: hyperfleet_management_cluster
    prefix: management
  - key: hyperfleet_labels.env
    prefix: env
groups:
  waits_for_validation: hyperfleet_adapters.validation.Available | default('False') != 'True'
  not_reconciled: hyperfleet_conditions.Reconciled | default('False') != 'True'
compose:
  team: hyperfleet_labels.team | default('nobody')
cache: true
cache_plugin: ansible.builtin.jsonfile
cache_connection: /var/cache/hyperfleet
cache_timeout: 300

---
# A play that provisions these clusters in one batch
- name: Provision all clusters of the inventory
  hosts: hyperfleet_clusters
  gather_facts: false
  vars:
    ansible_python_interpreter: "{{ ansible_playbook_python }}"
  tasks:
    - name: Provision
      run_once: true
      delegate_to: localhost
      ansible.builtin.import_role:
        name: hyperfleet.pull_secret.provision
      vars:
        provision_clusters: "{{ ansible_play_hosts_all | map('extract', hostvars, 'hyperfleet_cluster') | list }}"
"""

import contextlib
import hashlib
import json
import os
import threading
from typing import Any

from ansible.errors import AnsibleError, AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin, Cacheable, Constructable

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import hyperfleet_cluster_info
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_here, safely
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.cluster_hosts import (
    host_names,
    host_variables,
    inventory_value,
)

_GROUP = "hyperfleet_clusters"
_READER_OPTIONS = ("search", "statuses", "hyperfleet", "concurrency", "timeout", "api_timeout", "retry")


class InventoryModule(BaseInventoryPlugin, Constructable, Cacheable):
    """Adds a host for each cluster."""

    NAME = "hyperfleet.pull_secret.hyperfleet_clusters"

    def verify_file(self, path: str) -> bool:
        """Return whether the file may be a configuration of this plugin."""
        return super().verify_file(path) and path.endswith((f"{_GROUP}.yml", f"{_GROUP}.yaml"))

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        """Add the clusters' hosts, groups and variables."""
        super().parse(inventory, loader, path, cache)
        self._read_config_data(path)
        clusters = [cluster for cluster in self._clusters(path, cache) if not cluster["deleted"]]
        try:
            names = host_names(clusters, self.get_option("hostname"))
        except ValueError as error:
            raise AnsibleParserError(f"{path}: {error}") from None
        namespace = self.get_option("namespace")
        hosts = [
            (name, inventory_value(host_variables(cluster, namespace)))
            for name, cluster in zip(names, clusters)
        ]
        # All of them before the first is added: an error leaves no part of the inventory.
        hosts = [(name, variables) for name, variables in hosts if self._is_wanted(variables)]
        if not hosts and not self.get_option("allow_empty"):
            raise AnsibleParserError(
                f"{path}: no cluster is left; check the address, headers, search and filters, or set allow_empty"
            )
        self.inventory.add_group(_GROUP)
        for name, variables in hosts:
            self._add(name, variables)

    def _clusters(self, path: str, may_be_cached: bool) -> list[dict[str, Any]]:
        """Return the clusters as M(hyperfleet.pull_secret.hyperfleet_cluster_info) does."""
        key, is_cached = self._cache_key(path), self.get_option("cache")
        if is_cached and may_be_cached:
            with contextlib.suppress(KeyError):
                return list(self._cache[key])
        clusters = self._read(path)
        if is_cached:
            self._cache[key] = clusters
        return clusters

    def _cache_key(self, path: str) -> str:
        """Return Ansible's key, and what selects the clusters: the address may come from the environment."""
        url = (self.get_option("hyperfleet") or {}).get("url") or os.environ.get("HYPERFLEET_API_URL")
        selection = json.dumps([url, self.get_option("search"), self.get_option("statuses")])
        return f"{self.get_cache_key(path)}_{hashlib.sha256(selection.encode()).hexdigest()[:8]}"

    def _read(self, path: str) -> list[dict[str, Any]]:
        options = {name: self.get_option(name) for name in _READER_OPTIONS}
        arguments = {name: value for name, value in options.items() if value is not None}
        result = safely(
            lambda: run_here(
                hyperfleet_cluster_info.target_options,
                hyperfleet_cluster_info.run,
                arguments,
                check_mode=False,
                diff=False,
                stop=threading.Event(),
            )
        )
        if result.get("failed"):
            raise AnsibleParserError(f"{path}: {result['msg']}")
        return list(result["clusters"])

    def _compose(self, template: str, variables: dict[str, Any], *options: Any) -> Any:
        """Return the value of an expression, which AWX has to store, too."""
        return inventory_value(super()._compose(template, variables, *options))

    def _is_wanted(self, variables: dict[str, Any]) -> bool:
        for expression in self.get_option("filters"):
            try:
                value = self._compose(expression, variables)
            except AnsibleError as error:
                raise AnsibleParserError(f"filters: {expression}: {error}") from None
            if not isinstance(value, bool):
                raise AnsibleParserError(f"filters: {expression}: must be true or false")
            if not value:
                return False
        return True

    def _add(self, name: str, variables: dict[str, Any]) -> None:
        self.inventory.add_host(name, group=_GROUP)
        for variable, value in variables.items():
            self.inventory.set_variable(name, variable, value)
        strict = self.get_option("strict")
        self._set_composite_vars(self.get_option("compose"), variables, name, strict=strict)
        self._add_host_to_composed_groups(self.get_option("groups"), variables, name, strict=strict)
        self._add_host_to_keyed_groups(self.get_option("keyed_groups"), variables, name, strict=strict)
