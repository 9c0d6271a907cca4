# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Turns a list of hosted clusters into targets of ``hosted_cluster_pull_secret``, and its result into a
summary.

Pure functions. A cluster with a wrong description fails alone, before anything is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any

from ..module_utils.model.errors import ConfigurationError
from ..module_utils.model.shown import MISPLACED, shown_sentence
from ..module_utils.model.summary import not_run, state_of
from ..module_utils.runtime.secrecy import misplaced
from ..module_utils.tasks.fitting import fitted
from .clusters import PROBLEM, check_known, is_given
from .problems import Checked, ClusterError, has_name, listed, refuse_group, returned

__all__ = ["checked", "hosted_rows", "hosted_targets"]

# The module's defaults of its options.
_UNSAID = {"state": "present", "precedence": "additional"}


def hosted_targets(clusters: Any, defaults: Any = None) -> list[dict[str, Any]]:
    """Return the targets of ``hosted_cluster_pull_secret``, for the clusters without a problem.

    :param defaults: default options of the clusters.
    :raises ClusterError: there is no list of clusters, or the defaults are not a mapping.
    """
    return [
        one.cluster for one in checked(clusters, defaults) if one.cluster is not None and one.problem is None
    ]


def hosted_rows(clusters: Any, result: Mapping[str, Any], defaults: Any = None) -> list[dict[str, Any]]:
    """Return one row per cluster: the result for its additional secret, what was done, the progress of its
    nodes.

    :param result: the result of ``hosted_cluster_pull_secret``.
    :raises ClusterError: there is no list of clusters, or the defaults are not a mapping.
    """
    results = {target["id"]: target for target in returned("result", result, lists=("actions", "warnings"))}
    return [_row(one, results.get(one.name), result) for one in checked(clusters, defaults)]


def checked(clusters: Any, defaults: Any = None) -> list[Checked[dict[str, Any]]]:
    """Return every cluster of the list with the defaults, and what is wrong with it."""
    if is_given(defaults) and not isinstance(defaults, Mapping):
        raise ClusterError("the defaults of the hosted clusters must be a mapping")
    common = _given(defaults or {})
    found: list[Checked[dict[str, Any]]] = []
    names: dict[str, list[int]] = {}
    for index, given in enumerate(listed(clusters)):
        cluster = {**common, **_given(given)} if isinstance(given, Mapping) else {}
        identity = cluster.get("cluster_id")
        named = has_name(cluster)
        problem: str | None = None
        try:
            if not isinstance(given, Mapping):
                raise ConfigurationError("it must be a mapping")
            cluster, place = _fit(cluster)
            for name in (f"cluster_id {identity}", place):
                names.setdefault(name, []).append(index)
        except ConfigurationError as error:
            problem = str(error)
        found.append(Checked(str(identity) if named else f"cluster {index + 1}", cluster, problem))
    for name, group in names.items():
        positions = " and ".join(str(index + 1) for index in group[:5])
        refuse_group(found, group, f"clusters {positions} share {name}")
    return found


def _given(cluster: Mapping[str, Any]) -> dict[str, Any]:
    # Ansible's own mappings template a value at each access.
    return {str(key): value for key, value in cluster.items() if is_given(value)}


def _fit(cluster: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the cluster as the module receives it, and the full name of its secret.

    :raises ConfigurationError: what is wrong with it, independent of the others.
    """
    if PROBLEM in cluster:
        raise ConfigurationError(shown_sentence(str(cluster[PROBLEM])))
    task = _task()
    specs = task.target_options()
    check_known(cluster, specs)
    astray = misplaced(cluster)
    if astray:
        raise ConfigurationError(f"{', '.join(astray)}: {MISPLACED}")
    fit = {key: fitted(key, value, specs[key]) for key, value in cluster.items()}
    everything = {**dict.fromkeys(specs), **_UNSAID, **fit}
    return fit, str(task.full_place(task.build_target(everything)))


@lru_cache(maxsize=1)
def _task() -> ModuleType:
    # This imports the clients, which nothing else here needs.
    from ..module_utils.tasks import hosted_cluster_pull_secret

    return hosted_cluster_pull_secret


def _row(one: Checked[Any], target: Mapping[str, Any] | None, result: Mapping[str, Any]) -> dict[str, Any]:
    done = target or {}
    failed: Mapping[str, Any] | None = done if done.get("failed") else None
    if one.problem is not None:
        done, failed = {}, {"kind": "configuration", "msg": one.problem}
    elif target is None:
        failed = not_run(result.get("msg") or "the task ended early")
    nodes = done.get("rollout")
    return {
        "cluster": one.name,
        "additional": done.get("additional"),
        "global_secret": _state(done),
        "nodes": f"{nodes['in_sync']} of {nodes['nodes']}" if nodes else None,
        "changed": bool(done.get("changed")),
        "failed": failed is not None,
        "actions": list(done.get("actions") or ()),
        "kind": failed["kind"] if failed else None,
        "reason": failed["msg"] if failed else None,
        "warnings": list(done.get("warnings") or ()),
    }


def _state(done: Mapping[str, Any]) -> str:
    if done.get("failed"):
        return state_of(done)
    if done.get("skipped"):
        return "left alone"
    actions = list(done.get("actions") or ())
    # For a reader of the table, creating or removing all objects is one step.
    if len(actions) > 2:
        verbs = list(dict.fromkeys(action.partition(" ")[0] for action in actions))
        return f"{' and '.join(verbs[:2])} ({len(actions)} steps)"
    return state_of(done)
