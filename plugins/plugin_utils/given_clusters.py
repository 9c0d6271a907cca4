# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks the variables that give a run its clusters: a list, or the directory of their files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from ansible.errors import AnsibleError

from ..module_utils.model.errors import ConfigurationError
from ..module_utils.tasks.fitting import fitted
from .cluster_paths import cluster_files_of
from .clusters import is_given
from .problems import ClusterError, check_list
from .templates import used

__all__ = ["Read", "nothing_to_do", "wrong_choice", "wrong_clusters", "wrong_directory"]

Read = Callable[[str], Any]
"""A variable's name to its evaluated value; raises VariableError."""

# What a cluster of a list cannot be without.
_NEEDED = {"cluster_id": "ID", "gcp_project_id": "PROJECT", "management_namespace": "NAMESPACE"}
# The list of the collection's playbooks.
_CLUSTERS = "clusters"


def wrong_clusters(name: str, read: Read) -> Iterator[str]:
    """Return why a variable is no list of clusters."""
    try:
        value = read(name)
        if is_given(value):
            check_list(name, value)
    except AnsibleError as error:
        yield str(error.message)
    except ClusterError as error:
        yield str(error)


def wrong_directory(name: str, read: Read) -> Iterator[str]:
    """Return why a variable names no file and no directory with files of clusters."""
    try:
        value = read(name)
    except AnsibleError as error:
        yield str(error.message)
        return
    try:
        if is_given(value):
            cluster_files_of(fitted(name, value, {"type": "path"}))
    except ConfigurationError as error:
        yield str(error)
    except AnsibleError as error:
        yield f"{name}: {error.message}"


def wrong_choice(of_cluster: Collection[str], lists: Collection[str], read: Read) -> Iterator[str]:
    """Return why the variables do not say which clusters are meant: those of one cluster, or one of the lists.

    :param of_cluster: the variables that describe one cluster.
    :param lists: the variable with the list of clusters, and the one with their directory, if there is one.
    :raises VariableError: a variable cannot be evaluated.
    """
    given = [name for name in lists if is_given(read(name))]
    of_one = [name for name in of_cluster if is_given(read(name))]
    if len(given) > 1:
        yield f"{' and '.join(given)} are both given; give only one of them"
    elif given and of_one:
        yield (
            f"{', '.join(of_one)}: a variable of one cluster has no effect on a list of clusters; set it in each "
            f"cluster, or unset it with an empty string, such as -e {of_one[0]}="
        )
    elif not given and "cluster_id" not in of_one and _NEEDED.keys() <= set(of_cluster):
        described = " ".join(f"-e {name}={value}" for name, value in _NEEDED.items())
        yield (
            f"no cluster is given; describe one with {described}, give a list of clusters with -e @clusters.yml, "
            "or a directory of their files with -e clusters_dir=DIRECTORY"
        )


def nothing_to_do(
    name: str, empty_with: str | None, variables: Mapping[str, Any], read: Read
) -> Iterator[str]:
    """Return a warning if the list of clusters is empty.

    A role's list that is made of the playbook's gets the playbook's warning, which Ansible prints once.

    :param empty_with: the variable with which the list may be empty, if it is true.
    """
    value = read(name)
    is_empty = isinstance(value, (list, tuple)) and not value
    if is_empty and not (empty_with and _is_true(read(empty_with))):
        given = _CLUSTERS if _CLUSTERS in used(variables.get(name)) else name
        yield (
            f"{given}: the list is empty, so nothing is done; add clusters to it "
            "(to remove a cluster's secrets, list it with state: absent)"
        )


def _is_true(value: Any) -> bool:
    """Return whether the module takes it for true. It refuses what is neither true nor false."""
    try:
        return is_given(value) and fitted("", value, {"type": "bool"}) is True
    except ConfigurationError:
        return False
