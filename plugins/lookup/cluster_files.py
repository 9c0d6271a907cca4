# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: cluster_files
short_description: Read clusters from their files
version_added: 0.1.0
description:
  - Reads files that each hold one cluster as the HyperFleet API returns it, in JSON or YAML. Returns the
    clusters for the role P(hyperfleet.pull_secret.provision#role).
  - The pull secrets stay in the files. Each returned cluster refers to its file.
  - If a file is unreadable, holds no cluster with a unique C(id), or holds a cluster that is being deleted,
    the returned cluster has the key C(problem). The role reports it as the failure of this cluster and
    provisions the others.
  - A file may have 100,000 values and 100 levels. The aliases of YAML count as often as they are used.
  - The management namespace of a cluster that has been placed is C(status.adapters.placement.data.namespace).
  - C(spec.gcp.replicationPolicy) is C(automatic) or C(user-managed:LOCATION,LOCATION), as for the adapter. An
    invalid value is a problem of the file.
  - A misspelt or misplaced field, such as C(spec.replicationPolicy) or C(spec.gcp.projectID), is a problem,
    too. Other unknown fields are ignored.
options:
  _terms:
    description:
      - Paths of files or directories. In a directory, the C(.json), C(.yaml) and C(.yml) files are read,
        except hidden ones.
      - A directory without such files is an error.
    type: list
    elements: str
    required: true
  namespace:
    description: Namespace of a cluster that has not been placed yet. C({id}) is replaced by its id.
    type: str
    default: clusters-{id}
author:
  - HyperFleet contributors (@openshift-hyperfleet)
"""

EXAMPLES = r"""
- name: Provision the clusters of a directory
  ansible.builtin.include_role:
    name: hyperfleet.pull_secret.provision
  vars:
    provision_clusters: "{{ lookup('hyperfleet.pull_secret.cluster_files', 'fleet/', wantlist=True) }}"
"""

RETURN = r"""
_list:
  description:
    - Clusters for the role P(hyperfleet.pull_secret.provision#role), in the order of the files' names.
    - A file with a problem is returned as C({cluster_id, problem}), with the file's name and what is wrong.
  type: list
  elements: dict
"""

import os
from typing import Any, NamedTuple

from ansible.plugins.lookup import LookupBase

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster import CLUSTER_KEYS
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster_document import (
    pull_secret_of,
    read_spec,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster_keys import DATA
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.naming import check_name
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import MISPLACED, is_name
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.atomic_file import read_regular
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.secrecy import misplaced
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.yaml_text import (
    NotYAML,
    load_json,
    load_yaml,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.cluster_paths import (
    ClusterFile,
    cluster_files_of,
    is_short_name,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.clusters import is_given

_NAMESPACE = "status.adapters.placement.data.namespace"


class LookupModule(LookupBase):
    """Reads everything of a cluster but its pull secret."""

    def run(self, terms: Any, variables: Any = None, **kwargs: Any) -> list[dict[str, Any]]:
        """One cluster a file."""
        self.set_options(var_options=variables, direct=kwargs)
        namespace = self.get_option("namespace")
        files = [file for term in terms for file in cluster_files_of(str(term))]
        read = [_read(file) for file in files]
        by_id: dict[str, list[ClusterFile]] = {}
        for file, content in zip(files, read):
            if content.problem is None:
                by_id.setdefault(content.document["id"], []).append(file)
        clusters = []
        for file, content in zip(files, read):
            problem = content.problem
            if problem is None:
                identity = content.document["id"]
                problem = _twice(by_id[identity], identity)
            cluster: dict[str, Any] = {}
            if problem is None:
                try:
                    cluster = _cluster(file.path, content.document, namespace)
                except PullSecretError as error:
                    problem = f"{file.shown}: {error.message}"
            astray = misplaced(cluster)
            if astray:
                problem = f"{file.shown}: {', '.join(astray)}: {MISPLACED}"
            if problem is not None:
                cluster = {"cluster_id": os.path.basename(file.path), "problem": problem}
            clusters.append(cluster)
        return clusters


class _Content(NamedTuple):
    document: dict[str, Any]
    problem: str | None = None


def _read(file: ClusterFile) -> _Content:
    """What the file holds, or what is wrong with it; the problem names the file and quotes nothing of it."""
    is_json = file.path.endswith(".json")
    try:
        file.path.encode("utf-8")
        data, _mode = read_regular(file.path)
        document = load_json(data) if is_json else load_yaml(data)
    except UnicodeEncodeError:
        return _Content({}, f"{file.shown}: its name is not UTF-8")
    except OSError as error:
        return _Content({}, f"{file.shown} cannot be read: {error.strerror}")
    except NotYAML as error:
        return _Content({}, f"{file.shown} {error}")
    if not isinstance(document, dict):
        return _Content({}, f"{file.shown} must be a mapping (one cluster)")
    if not isinstance(document.get("id"), str) or not document["id"]:
        return _Content({}, f"{file.shown} must be a cluster with an id, which is a string and not empty")
    if not is_name(document["id"]):
        return _Content({}, f"{file.shown}: its id is not a valid name")
    if document.get("deleted_time"):
        return _Content({}, f"{file.shown}: the cluster is being deleted")
    return _Content(document)


def _twice(files: list[ClusterFile], identity: str) -> str | None:
    """Nobody knows which of them is meant."""
    if len(files) == 1:
        return None
    if len({file.path for file in files}) == 1:
        return f"{files[0].shown} is given {len(files)} times"
    more = f" (and {len(files) - 2} more)" if len(files) > 2 else ""
    return f"{files[0].shown} and {files[1].shown}{more} have the same id" + (
        f", {identity}" if is_short_name(identity) else ""
    )


def _cluster(path: str, document: dict[str, Any], namespace: str) -> dict[str, Any]:
    """:raises PullSecretError: the cluster's description is wrong."""
    identity, spec, held = document["id"], read_spec(document), pull_secret_of(document)
    # The job contract's rule for the namespace.
    given: Any = document
    for name in _NAMESPACE.split("."):
        given = given.get(name) if isinstance(given, dict) else None
    if is_given(given):
        check_name("namespace", given if isinstance(given, str) else " ", _NAMESPACE)
    return {
        "cluster_id": identity,
        **{name: value for name, value in spec.fields.items() if name in CLUSTER_KEYS},
        "management_namespace": given or namespace.replace("{id}", identity),
        "source": {"file": path, "field": held[0] if held is not None else DATA.path},
    }
