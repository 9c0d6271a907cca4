# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: cluster_files
short_description: Read clusters from their files
version_added: 0.1.0
description:
  - Reads files that hold one cluster each, as the HyperFleet API returns it, JSON or YAML, and gives
    the clusters of the role
    P(hyperfleet.pull_secret.provision#role).
  - The pull secrets stay in the files. Each cluster refers to its own.
options:
  _terms:
    description: Paths of files or of directories, of which the C(.json), C(.yaml) and C(.yml) files are read.
    type: list
    elements: str
    required: true
  namespace:
    description: Namespace of a cluster that has not been placed yet, C({id}) being its id.
    type: str
    default: clusters-{id}
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Provision what lies in a directory
  ansible.builtin.include_role:
    name: hyperfleet.pull_secret.provision
  vars:
    provision_clusters: "{{ lookup('hyperfleet.pull_secret.cluster_files', 'fleet/', wantlist=True) }}"
"""

RETURN = r"""
_list:
  description: Clusters for the role P(hyperfleet.pull_secret.provision#role), in the order of the files'
    names.
  type: list
  elements: dict
"""

import json
import os
import re
from typing import Any

import yaml
from ansible.errors import AnsibleLookupError
from ansible.plugins.lookup import LookupBase

_ENDINGS = (".json", ".yaml", ".yml")


class LookupModule(LookupBase):
    """Reads everything of a cluster but its pull secret."""

    def run(self, terms: Any, variables: Any = None, **kwargs: Any) -> list[dict[str, Any]]:
        """One cluster a file."""
        self.set_options(var_options=variables, direct=kwargs)
        namespace = self.get_option("namespace")
        return [_cluster(path, namespace) for term in terms for path in _files(str(term))]


def _files(term: str) -> list[str]:
    path = os.path.abspath(os.path.expanduser(term))
    if os.path.isdir(path):
        return [os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(_ENDINGS)]
    if not os.path.isfile(path):
        raise AnsibleLookupError(f"{term} is neither a file nor a directory")
    return [path]


def _cluster(path: str, namespace: str) -> dict[str, Any]:
    document = _document(path)
    spec = _mapping(document.get("spec"))
    gcp = _mapping(spec.get("gcp"))
    # A file without an id still is a cluster that has to be told about: it goes by the file's name.
    name = re.sub(r"[^a-z0-9-]", "-", os.path.splitext(os.path.basename(path))[0].lower()).strip("-")
    identity = str(document.get("id") or name)
    placed = _mapping(_mapping(_mapping(document.get("status")).get("placement")).get("data"))
    field = "spec.pull_secret.data" if "pull_secret" in spec else "spec.pullSecret.data"
    cluster = {
        "cluster_id": identity,
        "cluster_name": str(document.get("name") or identity),
        "gcp_project_id": gcp.get("projectId") or gcp.get("project_id"),
        "management_namespace": placed.get("namespace") or namespace.replace("{id}", identity),
        "source": {"file": path, "field": field},
    }
    return {key: value for key, value in cluster.items() if value is not None}


def _document(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as stream:
            data = stream.read()
        return _mapping(json.loads(data) if path.endswith(".json") else yaml.safe_load(data))
    except OSError as error:
        raise AnsibleLookupError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, yaml.YAMLError, RecursionError):
        # Left to the module, which reports it as this one cluster's failure.
        return {}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
