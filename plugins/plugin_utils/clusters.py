# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads a cluster from a list: a mapping, with the keys of ``model/cluster``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

from ..module_utils.model.cluster import CLUSTER_KEYS, OPTIONS, Cluster, words_of
from ..module_utils.model.errors import ConfigurationError
from ..module_utils.model.misspelt import meant_or_cut
from ..module_utils.model.naming import kubernetes_secret_address
from ..module_utils.model.shown import MISPLACED, quoted, shown
from ..module_utils.runtime.secrecy import misplaced
from ..module_utils.tasks.fitting import fitted
from .plain_values import plain

__all__ = ["OTHER_WORDS", "PROBLEM", "check_known", "checked_cluster", "is_given", "read_cluster"]

# The key of a list's entry that says why the cluster cannot be provisioned, for example an unreadable file.
PROBLEM = "problem"
_WORDS = words_of("name")
# The modules' names of the keys. "name" may also mean a cluster's name.
OTHER_WORDS = {option: key for option, key in _WORDS.items() if option != "name"}
_REQUIRED = ("cluster_id", "gcp_project_id", "management_namespace")


def read_cluster(given: Mapping[str, Any]) -> Cluster:
    """Return the cluster that a mapping describes. Unknown keys are left out.

    :raises ConfigurationError: a value has the wrong type, or there is no ``cluster_id``.
    """
    specs, texts = _specs()
    said: dict[str, Any] = {}
    for key, value in given.items():
        if key in specs and is_given(value):
            is_text = key in texts and isinstance(value, str)
            said[key] = plain(value if is_text else fitted(key, value, specs[key], with_defaults=False))
    if not isinstance(given.get("cluster_id") or "", str):
        raise ConfigurationError("cluster_id must be a string; put a number in quotes")
    if "cluster_id" not in said:
        raise ConfigurationError("cluster_id is missing")
    return Cluster(**said)


def checked_cluster(given: Mapping[str, Any]) -> tuple[Cluster, tuple[str, str]]:
    """Return the cluster that a mapping describes, and the full names of its two secrets, for messages.

    :raises ConfigurationError: what is wrong with it, in the terms of a list of clusters.
    """
    # This imports the clients, which a report without failures does not need.
    from ..module_utils.workflows.provision.checking import check_cluster

    check_known(given, CLUSTER_KEYS)
    cluster = read_cluster(given)
    for key in _REQUIRED:
        if getattr(cluster, key) is None:
            raise ConfigurationError(f"{key} is missing")
    if cluster.source is not None and cluster.layers is not None:
        raise ConfigurationError("it has both source and layers")
    if cluster.layers is not None and not cluster.layers:
        raise ConfigurationError("layers is empty")
    astray = misplaced(given)
    if astray:
        raise ConfigurationError(f"{', '.join(astray)}: {MISPLACED}")
    stored, placed = check_cluster(cluster, _WORDS)
    named = {"kubeconfig": placed.kubeconfig, "context": placed.context}
    where = [f"{option} {shown(value)}" for option, value in named.items() if value]
    within = f" ({', '.join(where)})" if where else ""
    address = kubernetes_secret_address(placed.namespace, placed.name)
    in_cluster = f"the management cluster's {address}{within}"
    return cluster, (f"Secret Manager's {stored.name}", in_cluster)


@lru_cache(maxsize=1)
def _specs() -> tuple[Mapping[str, Mapping[str, Any]], frozenset[str]]:
    """Return the argument spec of each key, and the keys that accept any text."""
    from ..module_utils.workflows.options import document_options

    document = document_options()
    specs = {key: OPTIONS[key].spec or document[key] for key in CLUSTER_KEYS}
    texts = [key for key, spec in specs.items() if spec["type"] in ("str", "path") and "choices" not in spec]
    return specs, frozenset(texts)


def check_known(cluster: Mapping[str, Any], known: Collection[str]) -> None:
    """:raises ConfigurationError: names every unknown key, and the one that was meant."""
    unknown = sorted(str(key) for key in cluster if key not in known)
    if unknown:
        near = {key: meant_or_cut(key, known, OTHER_WORDS) for key in unknown}
        keys = ", ".join(
            quoted(key) + (f" (did you mean {near[key]}?)" if near[key] else "") for key in unknown
        )
        there_are = "" if all(near.values()) else f"; the keys are {', '.join(sorted(known))}"
        raise ConfigurationError(f"unknown key {keys}{there_are}")


def is_given(value: Any) -> bool:
    """Return whether a value is given. An empty string, for example of a survey, is not."""
    # Comparing Ansible's own mappings would template everything in them.
    return value is not None and not (isinstance(value, str) and value == "")
