# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds what is wrong with each cluster of a list, before anything is written.

A wrong cluster fails alone. Its description is checked with both modules' rules at once, because a problem of
the management cluster must not be found after Secret Manager was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from ..module_utils.model.cluster import Cluster
from ..module_utils.model.errors import ConfigurationError
from ..module_utils.model.naming import allows
from ..module_utils.model.shown import is_name, shown
from .clusters import PROBLEM, checked_cluster
from .plain_values import HAS_VAULTED_STRINGS, decrypted

__all__ = [
    "Checked",
    "ClusterError",
    "check_cluster_list",
    "check_list",
    "has_name",
    "listed",
    "refuse_group",
    "returned",
]

T = TypeVar("T")

_SHOWN = 5


class ClusterError(ValueError):
    """There is no list of clusters. The message names the type of the value, and never quotes it."""


@dataclass(frozen=True)
class Checked(Generic[T]):
    """A cluster of the list.

    :param name: its name in a report.
    :param cluster: the parsed cluster; None if it could not be parsed.
    :param problem: why it cannot be provisioned, or None.
    """

    name: str
    cluster: T | None
    problem: str | None


def listed(clusters: Any) -> Sequence[Any]:
    """:raises ClusterError: it is not a list."""
    check_list("the clusters", clusters)
    # A newer ansible-core templates a value at each access, and thousands of clusters take a tenth of a second.
    plain: Sequence[Any] = decrypted(clusters) if HAS_VAULTED_STRINGS else clusters
    return plain


def check_list(name: str, clusters: Any) -> None:
    """Check that it is a list. Its clusters are checked one by one later.

    :raises ClusterError: it is not; names the variable.
    """
    if not isinstance(clusters, (list, tuple)):
        hint = " (a file of variables is given as -e @FILE)" if clusters and isinstance(clusters, str) else ""
        raise ClusterError(f"{name} must be a list of mappings, not {_kind(clusters)}{hint}")


def returned(name: str, results: Any, *needed: str, lists: Iterable[str] = ()) -> Sequence[Mapping[str, Any]]:
    """Return a module's result for its targets; empty if it failed as a whole.

    :param name: the caller's name of the results, for the message.
    :param needed: keys whose value must be a string in each target, in addition to ``id``.
    :param lists: keys whose value must be a list of strings, if a target has them.
    :raises ClusterError: it is not the result of such a module.
    """
    targets = (results.get("targets") or ()) if isinstance(results, Mapping) else None
    if not isinstance(targets, (list, tuple)) or not all(
        _is_row(target, ("id", *needed), lists) for target in targets
    ):
        raise ClusterError(f"{name} must be the registered result of a module of hyperfleet.pull_secret")
    return targets


def _is_row(target: Any, needed: Iterable[str], lists: Iterable[str]) -> bool:
    return (
        isinstance(target, Mapping)
        and all(isinstance(target.get(name), str) for name in needed)
        and all(_are_texts(target.get(name, [])) for name in lists)
    )


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def check_cluster_list(clusters: Any) -> list[Checked[Cluster]]:
    """Return every cluster of the list, in order.

    :raises ClusterError: a problem of the list as a whole.
    """
    checked: list[Checked[Cluster]] = []
    identities: dict[str, list[int]] = {}
    secrets: dict[str, list[int]] = {}
    for index, given in enumerate(listed(clusters)):
        # Ansible's own mappings template a value at each access.
        cluster = dict(given.items()) if isinstance(given, Mapping) else {}
        identity = cluster.get("cluster_id")
        named = has_name(cluster)
        described = problem = None
        try:
            described, names = _read(given, cluster)
            for name in names:
                secrets.setdefault(name, []).append(index)
        except ConfigurationError as error:
            problem = str(error)
        if named and PROBLEM not in cluster:
            identities.setdefault(str(identity), []).append(index)
        called = str(identity) if named else f"cluster {index + 1}"
        checked.append(Checked(called, described, problem))
    for identity, group in identities.items():
        positions = [str(index + 1) for index in group]
        said = f"{identity} is the cluster_id of clusters {_enumerated(positions)}"
        refuse_group(checked, group, f"{said}; correct it, or remove all but one of them")
    for name, group in secrets.items():
        said = f"{_enumerated([checked[index].name for index in group])} share {name}"
        refuse_group(checked, group, f"{said}; give each cluster a secret of its own")
    return checked


def has_name(cluster: Mapping[str, Any]) -> bool:
    """Return whether a report may use its ``cluster_id``, which is a file's name if that file is unreadable."""
    identity = cluster.get("cluster_id")
    if not isinstance(identity, str):
        return False
    return is_name(identity) if PROBLEM in cluster else allows("cluster_id", identity)


def refuse_group(checked: list[Checked[T]], group: Sequence[int], problem: str) -> None:
    """Refuse all clusters of a group, because it is unknown which one is the right one."""
    for index in group if len(group) > 1 else ():
        if checked[index].problem is None:
            checked[index] = replace(checked[index], problem=problem)


def _read(given: Any, cluster: Mapping[str, Any]) -> tuple[Cluster, tuple[str, str]]:
    """Return the cluster, and the full names of its two secrets.

    :raises ConfigurationError: what is wrong with this cluster, independent of the others.
    """
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"it is {_kind(given)}, not a mapping")
    if PROBLEM in cluster:
        raise ConfigurationError(_told(cluster[PROBLEM]))
    return checked_cluster(cluster)


def _told(text: Any) -> str:
    return shown(text if isinstance(text, str) else "")


def _enumerated(texts: Iterable[str]) -> str:
    texts = list(texts)
    cut = texts if len(texts) <= _SHOWN + 1 else [*texts[:_SHOWN], f"{len(texts) - _SHOWN} more"]
    return f"{', '.join(cut[:-1])} and {cut[-1]}" if len(cut) > 1 else "".join(cut)


def _kind(value: Any) -> str:
    # ansible-core 2.18 turns null into an empty string.
    if value is None or value == "":
        return "null or an empty string"
    names: list[tuple[Any, str]] = [
        (Mapping, "a mapping"),
        ((list, tuple), "a list"),
        (str, "a string"),
        (bool, "true or false"),
        ((int, float), "a number"),
    ]
    return next((name for kind, name in names if isinstance(value, kind)), "something else")
