# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is wrong with a list of clusters, cluster by cluster, found before anything is written anywhere.

A wrong cluster fails alone.  Its description is held against both modules' own rules at once, since what
is wrong for the management cluster must not be found after Secret Manager has been written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Optional

from ..module_utils.model.errors import ConfigurationError, reworded
from ..module_utils.model.naming import allows
from ..module_utils.model.shown import MISPLACED, is_name, shown
from ..module_utils.runtime.secrecy import misplaced
from ..module_utils.tasks.fitting import fitted
from .clusters import CLUSTER_KEYS, GCP, KUBERNETES, PROBLEM, check_known, document, is_given, picked
from .plain_values import decrypted

__all__ = [
    "Checked",
    "ClusterError",
    "check",
    "has_name",
    "listed",
    "refuse",
    "returned",
]

_REQUIRED = ("cluster_id", "gcp_project_id", "management_namespace")
_SHOWN = 5
# What workflow 2 reads is not known before workflow 1 has ended.
_STORED = {"gcp": {"project": "any-project", "secret": "any-secret"}}


class ClusterError(ValueError):
    """There is no list of clusters; says what there is instead, never a value of it."""


class Checked(NamedTuple):
    """A cluster of the list: what it is called in a report, and why it cannot be provisioned, or None."""

    name: str
    cluster: Mapping[str, Any]
    problem: Optional[str]


def listed(clusters: Any) -> Sequence[Any]:
    """:raises ClusterError: it is no list."""
    if not isinstance(clusters, (list, tuple)):
        hint = " (a file of variables is given as -e @FILE)" if clusters and isinstance(clusters, str) else ""
        raise ClusterError(f"the clusters have to be a list of mappings, and are {_kind(clusters)}{hint}")
    plain: Sequence[Any] = decrypted(clusters)
    return plain


def returned(results: Any, *needed: str) -> Sequence[Mapping[str, Any]]:
    """What a module of this collection returned for its targets; nothing where it failed as a whole.

    :param needed: texts that each target has to have beside its ``id``.
    :raises ClusterError: it is no result of such a module.
    """
    targets = (results.get("targets") or ()) if isinstance(results, Mapping) else None
    if not isinstance(targets, (list, tuple)) or not all(_is_row(one, ("id", *needed)) for one in targets):
        raise ClusterError("this is not the registered result of a module of hyperfleet.pull_secret")
    return targets


def _is_row(target: Any, needed: Iterable[str]) -> bool:
    return (
        isinstance(target, Mapping)
        and all(isinstance(target.get(name), str) for name in needed)
        and all(_are_texts(target.get(name, [])) for name in ("actions", "warnings"))
    )


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def check(clusters: Any) -> list[Checked]:
    """Every cluster of the list, in its order.

    :raises ClusterError: what concerns the list as a whole.
    """
    checked: list[Checked] = []
    identities: dict[str, list[int]] = {}
    secrets: dict[str, list[int]] = {}
    for index, given in enumerate(listed(clusters)):
        # Ansible's own mappings template a value at each access.
        cluster = dict(given.items()) if isinstance(given, Mapping) else {}
        identity = cluster.get("cluster_id")
        named = has_name(cluster)
        problem = None
        try:
            if not isinstance(given, Mapping):
                raise ConfigurationError(f"it is {_kind(given)}, not a mapping")
            for secret in _secrets(cluster):
                secrets.setdefault(secret, []).append(index)
        except ConfigurationError as error:
            problem = str(error)
        if named and PROBLEM not in cluster:
            identities.setdefault(str(identity), []).append(index)
        checked.append(Checked(str(identity) if named else f"cluster {index + 1}", cluster, problem))
    for identity, group in identities.items():
        positions = [str(index + 1) for index in group]
        refuse(checked, group, f"{identity} is the cluster_id of clusters {_enumerated(positions)}")
    for name, group in secrets.items():
        refuse(checked, group, f"{_enumerated([checked[index].name for index in group])} share {name}")
    return checked


def has_name(cluster: Mapping[str, Any]) -> bool:
    """Whether a report may call it by its ``cluster_id``.  A file that could not be read goes by its name."""
    identity = cluster.get("cluster_id")
    if not isinstance(identity, str):
        return False
    return is_name(identity) if PROBLEM in cluster else allows("cluster_id", identity)


def refuse(checked: list[Checked], group: Sequence[int], problem: str) -> None:
    """All of a group, since nobody knows which of them is meant."""
    for index in group if len(group) > 1 else ():
        if checked[index].problem is None:
            checked[index] = checked[index]._replace(problem=problem)


def _secrets(cluster: Mapping[str, Any]) -> tuple[str, str]:
    """The full names of its two secrets.

    :raises ConfigurationError: what is wrong with this cluster, whatever the others are.
    """
    if PROBLEM in cluster:
        raise ConfigurationError(_told(cluster[PROBLEM]))
    check_known(cluster, CLUSTER_KEYS)
    rules = _rules()
    fit: dict[str, Any] = {}
    for key, value in cluster.items():
        if is_given(value):
            plain = key in rules.strings and isinstance(value, str)
            fit[key] = value if plain else fitted(key, value, rules.specs[key])
    if not isinstance(cluster.get("cluster_id") or "", str):
        raise ConfigurationError("cluster_id is not a string: a number has to be in quotes")
    for key in _REQUIRED:
        if key not in fit:
            raise ConfigurationError(f"{key} is missing")
    if "source" in fit and "layers" in fit:
        raise ConfigurationError("it has both source and layers")
    if fit.get("layers") == []:
        raise ConfigurationError("layers is empty")
    astray = misplaced(cluster)
    if astray:
        raise ConfigurationError(f"{', '.join(astray)}: {MISPLACED}")
    return _stored(fit, rules), _placed(fit, rules)


class _Rules(NamedTuple):
    """What the modules say of their options, by the clusters' keys; ``strings`` take any string."""

    specs: Mapping[str, Mapping[str, Any]]
    strings: frozenset[str]
    gcp: Any
    kubernetes: Any


@lru_cache(maxsize=1)
def _rules() -> _Rules:
    # Both bring what reaches their places along, which a report without failures does not need.
    from ..module_utils.workflows.provision import gcp_pull_secret, k8s_pull_secret

    gcp, kubernetes = gcp_pull_secret.target_options(), k8s_pull_secret.target_options()
    specs = {key: kubernetes[option] for key, option in KUBERNETES.items()}
    specs.update({key: gcp[option] for key, option in GCP.items()})
    specs.update({key: gcp[key] for key in CLUSTER_KEYS if key not in specs})
    strings = [
        key for key, spec in specs.items() if spec["type"] in ("str", "path") and "choices" not in spec
    ]
    return _Rules(specs, frozenset(strings), gcp_pull_secret.build_target, k8s_pull_secret.build_target)


def _stored(fit: Mapping[str, Any], rules: _Rules) -> str:
    try:
        target = rules.gcp({"state": "present", **picked(fit, GCP), **document(fit)})
    except ConfigurationError as error:
        raise reworded(error, {option: key for key, option in GCP.items()}) from None
    return f"Secret Manager's {target.name}"


def _placed(fit: Mapping[str, Any], rules: _Rules) -> str:
    try:
        target = rules.kubernetes({"state": "present", **picked(fit, KUBERNETES), "source": _STORED})
    except ConfigurationError as error:
        raise reworded(error, {option: key for key, option in KUBERNETES.items()}) from None
    where = [part for part in (target.kubeconfig, target.context) if part]
    within = f" of {' '.join(map(_told, where))}" if where else ""
    return f"the management cluster's namespaces/{target.namespace}/secrets/{target.name}{within}"


def _told(text: Any) -> str:
    return shown(text if isinstance(text, str) else "")


def _enumerated(texts: Iterable[str]) -> str:
    texts = list(texts)
    cut = texts if len(texts) <= _SHOWN + 1 else [*texts[:_SHOWN], f"{len(texts) - _SHOWN} more"]
    return f"{', '.join(cut[:-1])} and {cut[-1]}" if len(cut) > 1 else "".join(cut)


def _kind(value: Any) -> str:
    # ansible-core 2.18 makes an empty string of null.
    if value is None or value == "":
        return "empty"
    names: list[tuple[Any, str]] = [
        (Mapping, "a mapping"),
        ((list, tuple), "a list"),
        (str, "a string"),
        (bool, "true or false"),
        ((int, float), "a number"),
    ]
    return next((name for kind, name in names if isinstance(value, kind)), "something else")
