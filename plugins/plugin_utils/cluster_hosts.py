# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Clusters of the HyperFleet API as hosts of an inventory: their names and variables. No I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ansible.utils.unsafe_proxy import wrap_var

from ..module_utils.model.cluster import CLUSTER_KEYS
from ..module_utils.model.cluster_document import read_spec
from ..module_utils.model.errors import PullSecretError
from ..module_utils.model.naming import check_name

try:
    from ansible.template import trust_as_template
except ImportError:  # ansible-core 2.18
    trust_as_template = None

__all__ = ["host_names", "host_variables", "inventory_value"]

_NOT_PLACED = "the placement adapter has not reported a management namespace for the cluster's generation"
_PROVIDERS = ("gcp", "aws", "azure")
# Neither a template nor an expression that calls something: a condition such as `when: "{{ variable }}"` evaluates
# the variable's value.
_PLAIN = re.compile(r"[\w .:/@+-]*")


def host_names(clusters: Sequence[Mapping[str, Any]], kind: str) -> list[str]:
    """Return the host's name of each cluster.

    :param kind: ``id`` or ``name``.
    :raises ValueError: two clusters have one name, or one has none.
    """
    names: dict[str, str] = {}
    for cluster in clusters:
        name = cluster[kind]
        if not name:
            raise ValueError(f"cluster {cluster['id']} has no name; use hostname: id")
        if names.setdefault(name, cluster["id"]) != cluster["id"]:
            raise ValueError(
                f"clusters {names[name]} and {cluster['id']} have the name {name}; use hostname: id"
            )
    return list(names)


def host_variables(cluster: Mapping[str, Any], namespace: str | None) -> dict[str, Any]:
    """Return the variables of a cluster's host.

    :param cluster: as ``hyperfleet_cluster_info`` returns it.
    :param namespace: of a cluster that placement has never reported; ``{id}`` and ``{name}`` are replaced.
    """
    spec, statuses = cluster["spec"], cluster["statuses"]
    is_placed = "placement" in statuses
    adapters = {name: status for name, status in statuses.items() if status["current"]}
    placement = adapters.get("placement", {}).get("data", {})
    provider = _text(spec.get("provider")) or next((name for name in _PROVIDERS if name in spec), "")
    own = spec.get(provider)
    region = _text(spec.get("region")) or _text(own.get("region") if isinstance(own, Mapping) else "")
    return {
        "hyperfleet_id": cluster["id"],
        "hyperfleet_name": cluster["name"],
        "hyperfleet_generation": cluster["generation"],
        "hyperfleet_labels": cluster["labels"],
        "hyperfleet_spec": spec,
        "hyperfleet_provider": provider,
        "hyperfleet_region": region,
        "hyperfleet_management_cluster": _text(placement.get("managementCluster")),
        "hyperfleet_conditions": _conditions(cluster),
        "hyperfleet_adapters": {name: _conditions(status) for name, status in adapters.items()},
        # A report of an earlier generation says that it is somewhere.
        "hyperfleet_cluster": _cluster(
            cluster, _text(placement.get("namespace")), None if is_placed else namespace
        ),
    }


def inventory_value(value: Any) -> Any:
    """Return a value that is never evaluated, and that AWX stores as it is.

    AWX stores a string that ansible-core 2.19 does not trust as a mapping, so a plain string is trusted.
    ansible-core 2.18 trusts all, so any other is marked as unsafe.
    """
    if isinstance(value, Mapping):
        return {inventory_value(name): inventory_value(part) for name, part in value.items()}
    if isinstance(value, list):
        return [inventory_value(part) for part in value]
    if not isinstance(value, str):
        return value
    if not _PLAIN.fullmatch(value):
        return wrap_var(value)
    return trust_as_template(value) if trust_as_template is not None else value


def _cluster(cluster: Mapping[str, Any], namespace: str, default: str | None) -> dict[str, Any]:
    """Return the cluster for the role ``provision``."""
    target = {"cluster_id": cluster["id"]}
    if not namespace and default:
        namespace = default.replace("{id}", cluster["id"]).replace("{name}", cluster["name"] or "")
    if not namespace:
        return {**target, "problem": _NOT_PLACED}
    try:
        check_name("namespace", namespace, "the management namespace")
        fields = read_spec(cluster).fields
    except PullSecretError as error:
        return {**target, "problem": error.message}
    options = {name: value for name, value in fields.items() if name in CLUSTER_KEYS}
    return {**target, **options, "management_namespace": namespace}


def _conditions(owner: Mapping[str, Any]) -> dict[str, str]:
    return {name: condition["status"] for name, condition in owner["conditions"].items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
