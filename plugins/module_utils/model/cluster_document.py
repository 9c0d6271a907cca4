# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads a cluster's own document, with either spelling of its spec. Pure.

It is the only reader of the API's document, for the adapter and for files of clusters. A missing value is
None. A value of an undocumented shape is an error with its path, and never counts as missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .cluster import OPTIONS, Cluster
from .cluster_keys import DATA, GCP, PROJECT, PULL_SECRET, REPLICATION, Key, check_keys
from .encoded import holds_secret
from .errors import ConfigurationError, InvalidDocument
from .naming import with_secret_names
from .replication import parse_replication
from .shown import MISPLACED

__all__ = ["PULL_SECRET_NAMES", "ClusterSpec", "project_of", "pull_secret_of", "read_spec"]

PULL_SECRET_NAMES = PULL_SECRET.names
"""The name of the spec's part with the pull secret."""
_LONGEST_NAME = 253


# The default without a policy. The result reports a secret with another replication.
_AUTOMATIC = {"replication_text": "automatic", "replication_policy": "automatic"}
# By field: where a cluster's document has it.
_KEYS = {name: option.document for name, option in OPTIONS.items() if option.document is not None}


@dataclass(frozen=True)
class ClusterSpec:
    """The values of a cluster's document, by the fields of :class:`Cluster`; missing ones are left out.

    The name is the cluster's own, or its id. The project is not checked.
    """

    fields: Mapping[str, Any]

    @property
    def project(self) -> str | None:
        """The id or number of the Google Cloud project."""
        return self.fields.get("gcp_project_id")

    def cluster(self, cluster_id: str, *, management_namespace: str) -> Cluster:
        """The cluster to store and place, with the names of both secrets.

        :raises WrongOption: the id cannot be a part of a name.
        """
        said = {**_AUTOMATIC, **self.fields}
        return with_secret_names(Cluster(cluster_id, management_namespace=management_namespace, **said))


def read_spec(cluster: Mapping[str, Any]) -> ClusterSpec:
    """Read a cluster as the API returns it.

    :raises ConfigurationError: names the path of the first invalid value.
    """
    name = cluster.get("name") or cluster.get("id")
    if not isinstance(name, str) or len(name) > _LONGEST_NAME or not name.isprintable():
        raise ConfigurationError(
            f"the cluster's name must be a string of at most {_LONGEST_NAME} printable characters"
        )
    if holds_secret(name):
        raise ConfigurationError(f"the cluster's name: {MISPLACED}")
    check_keys(cluster, GCP, *_KEYS.values())
    fields: dict[str, Any] = {"cluster_name": name}
    policy = _value(cluster, REPLICATION)
    if policy is not None:
        kind, locations = parse_replication(policy[1], policy[0])
        fields["replication_policy"] = kind
        if locations:
            fields["replication_locations"] = list(locations)
    texts = {field: _text(cluster, key) for field, key in _KEYS.items()}
    fields.update((field, text) for field, text in texts.items() if text is not None)
    return ClusterSpec(fields)


def project_of(cluster: Mapping[str, Any]) -> str | None:
    """Return ``spec.gcp.projectId``, the id or number of a project.

    :raises ConfigurationError: it must be a string or a whole number.
    """
    return _text(cluster, PROJECT)


def pull_secret_of(cluster: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Return the path and the value of the pull secret: ``("spec.pullSecret.data", …)``; None without one.

    :raises InvalidDocument: it, or the spec, must be a mapping; both spellings exist and differ; or a key is
        misspelt.
    """
    try:
        check_keys(cluster, PULL_SECRET, DATA)
        spec = _mapping(cluster.get("spec"), "spec")
        parts = {
            name: _mapping(spec[name], f"spec.{name}")
            for name in PULL_SECRET_NAMES
            if spec.get(name) not in (None, "")
        }
    except ConfigurationError as error:
        raise InvalidDocument(error.message) from None
    found = {
        f"spec.{name}.data": part["data"]
        for name, part in parts.items()
        if part.get("data") not in (None, "", {})
    }
    values = list(found.values())
    if any(value != values[0] for value in values):
        raise InvalidDocument(f"{' and '.join(found)} are both set and differ; set only one of them")
    return next(iter(found.items()), None)


def _text(cluster: Mapping[str, Any], key: Key) -> str | None:
    found = _value(cluster, key)
    if found is None:
        return None
    path, value = found
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise ConfigurationError(f"{path} must be a string or a whole number")
    return str(value)


def _mapping(value: Any, path: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"{path} must be a mapping")
    return value


def _value(cluster: Mapping[str, Any], key: Key) -> tuple[str, Any] | None:
    """Return the value and its path. Programs write an empty string for a field without a value."""
    part, path = cluster, ""
    for name in key.level.split("."):
        path = f"{path}.{name}" if path else name
        part = _mapping(part.get(name), path)
    found = {f"{key.level}.{name}": part[name] for name in key.names if part.get(name) not in (None, "")}
    values = list(found.values())
    if any(value != values[0] for value in values):
        raise ConfigurationError(f"{' and '.join(found)} are both set and differ; set only one of them")
    return next(iter(found.items()), None)
