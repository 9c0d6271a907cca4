# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a cluster's own description says, whichever way its spec is spelled.  Pure.

The one reading of the API's document, for the adapter and for files of clusters.  What is missing is None;
what is there in a shape that nobody documents is an error with its path, and never taken for missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..dockerconfig.encoded import holds_secret
from .cluster import OPTIONS, Cluster
from .cluster_keys import DATA, GCP, PROJECT, PULL_SECRET, REPLICATION, Key, check_keys
from .errors import ConfigurationError, InvalidDocument
from .naming import with_secret_names
from .replication import parse_replication
from .shown import MISPLACED

__all__ = ["PULL_SECRET_NAMES", "ClusterSpec", "project_of", "pull_secret_of", "read_spec"]

PULL_SECRET_NAMES = PULL_SECRET.names
"""How the part of the spec that holds the pull secret is called."""
_LONGEST_NAME = 253


# Without a policy. The result reports a secret that is replicated otherwise.
_AUTOMATIC = {"replication_text": "automatic", "replication_policy": "automatic"}
# By field: what a cluster's document says of it.
_KEYS = {name: option.document for name, option in OPTIONS.items() if option.document is not None}


@dataclass(frozen=True)
class ClusterSpec:
    """What a cluster's document says, by the fields of :class:`Cluster`. What it does not say is not there.

    The name is the cluster's own, or its id. The project is not checked to be the name of one.
    """

    fields: Mapping[str, Any]

    @property
    def project(self) -> str | None:
        """The id or number of the project in Google Cloud."""
        return self.fields.get("gcp_project_id")

    def cluster(self, cluster_id: str, *, management_namespace: str) -> Cluster:
        """The cluster that is to be stored and placed, with the names of both secrets.

        :raises WrongOption: the id cannot be a part of a name.
        """
        said = {**_AUTOMATIC, **self.fields}
        return with_secret_names(Cluster(cluster_id, management_namespace=management_namespace, **said))


def read_spec(cluster: Mapping[str, Any]) -> ClusterSpec:
    """A cluster as the API answers it.

    :raises ConfigurationError: naming the path of the first value that is not what it should be.
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
    """``spec.gcp.projectId``, the id or number of a project.

    :raises ConfigurationError: it must be a string or a whole number.
    """
    return _text(cluster, PROJECT)


def pull_secret_of(cluster: Mapping[str, Any]) -> tuple[str, Any] | None:
    """The path of the pull secret and what is there: ``("spec.pullSecret.data", …)``; None without one.

    :raises InvalidDocument: it, or the spec, must be a mapping; both spellings are there and differ; or a key
        was meant to be it.
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
    """The value and its path. An empty string is what a program writes for a field that nobody filled in."""
    part, path = cluster, ""
    for name in key.level.split("."):
        path = f"{path}.{name}" if path else name
        part = _mapping(part.get(name), path)
    found = {f"{key.level}.{name}": part[name] for name in key.names if part.get(name) not in (None, "")}
    values = list(found.values())
    if any(value != values[0] for value in values):
        raise ConfigurationError(f"{' and '.join(found)} are both set and differ; set only one of them")
    return next(iter(found.items()), None)
