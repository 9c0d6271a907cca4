# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The names, labels and annotations of the job contract.

Secret Manager's labels are lower case, at most 63 characters of ``[a-z0-9_-]``. Kubernetes' may also have
upper case and dots, but begin and end with a letter or digit.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..dockerconfig.display import display
from ..dockerconfig.keys import registry_identity
from .cluster import Cluster
from .encoded import holds_secret
from .errors import ConfigurationError, WrongOption
from .shown import is_name, shown
from .stored_version import StoredVersion

__all__ = [
    "CREATED_AT",
    "KUBERNETES_ANNOTATIONS",
    "KUBERNETES_NAME",
    "KUBERNETES_NAMESPACE",
    "LABEL_SELECTOR",
    "LAST_APPLIED",
    "MANAGED_BY",
    "OURS",
    "STORED_VERSION",
    "allows",
    "check_cluster_id",
    "check_labels_not_kept",
    "check_name",
    "check_not_kept",
    "gcp_labels",
    "gcp_secret_id",
    "key_called",
    "kubernetes_annotations",
    "kubernetes_labels",
    "kubernetes_secret_address",
    "kubernetes_secret_name",
    "owner_problem",
    "registries",
    "shown_name",
    "texts",
    "with_secret_names",
]

MANAGED_BY = "hyperfleet"
CREATED_AT = "hyperfleet.io/created-at"
_CREATED_BY = "hyperfleet.io/created-by"
_STORED_AT = "hyperfleet.io/gcp-secret-path"
# The version by its number. The job contract's own annotation always ends in ``latest``.
STORED_VERSION = "hyperfleet.io/gcp-secret-version"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""Where ``kubectl apply`` keeps a copy of the object, with the credentials of then. Removed from our Secrets."""
# Annotations that only this collection writes or removes.
KUBERNETES_ANNOTATIONS = (CREATED_AT, _CREATED_BY, _STORED_AT, STORED_VERSION, LAST_APPLIED)
_ADAPTER = "pullsecret"
OURS = {"managed-by": MANAGED_BY, "adapter": _ADAPTER}
"""The labels that all pull secrets of this collection carry, in every place."""
_VERSION = "v1"
# The API server's own rules: otherwise it would refuse a name after other secrets were written.
LABEL_SELECTOR = re.compile(r"[A-Za-z0-9._/=!, ()-]{1,1000}\Z")
"""As ``kubectl -l`` has it: keys, values and the operators = == != in notin, without anything that ends a query."""
KUBERNETES_NAME = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*\Z"
)
"""A DNS subdomain, the form of names of Secrets and service accounts."""
KUBERNETES_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
"""A DNS label."""
_CLUSTER_ID = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")
# The id of a project, with its domain if it has one, or its number.
_PROJECT = re.compile(r"([a-z0-9-]+(\.[a-z0-9-]+)+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]\Z|[0-9]{1,20}\Z")
_SECRET_ID = re.compile(r"[A-Za-z0-9_-]{1,255}\Z")
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]{0,252}\Z")


class _Rule(NamedTuple):
    """The rule for a name in an option. A value that breaks the rule may be anything, and is never quoted."""

    shape: re.Pattern[str]
    words: str


_ENDS = ", with a letter or digit at both ends"
_RULES = {
    "project": _Rule(_PROJECT, "the id or number of a Google Cloud project"),
    "secret": _Rule(_SECRET_ID, "1-255 letters, digits, dashes and underscores"),
    "location": _Rule(
        re.compile(r"[a-z][a-z0-9-]{0,62}\Z"),
        "at most 63 lower case letters, digits and dashes, beginning with a letter",
    ),
    "cluster_id": _Rule(_CLUSTER_ID, f"at most 63 lower case letters, digits and dashes{_ENDS}"),
    "namespace": _Rule(KUBERNETES_NAMESPACE, f"at most 63 lower case letters, digits and dashes{_ENDS}"),
    "name": _Rule(KUBERNETES_NAME, f"lower case letters, digits, dashes and dots{_ENDS} of each part"),
    # A secret in Secret Manager also has aliases of versions.
    "version": _Rule(re.compile(r"[A-Za-z0-9_-]{1,63}\Z"), "the number of a version, or latest"),
    # In the data of a Kubernetes Secret.
    "key": _Rule(re.compile(r"[A-Za-z0-9._-]{1,253}\Z"), "letters, digits, dashes, dots and underscores"),
}


def allows(kind: str, text: str) -> bool:
    """Return whether a text can be a name of this kind, and is not an encoded credential.

    :param kind: ``project``, ``secret``, ``version``, ``location``, ``cluster_id``, ``namespace``, ``name``
        (of a Secret or service account), or ``key`` (in a Secret's data).
    """
    return bool(_RULES[kind].shape.match(text)) and not holds_secret(text)


def check_name(kind: str, text: str, option: str = "") -> str:
    """Return the name if it is valid.

    :param option: its option, if it is not named as its kind.
    :raises WrongOption: it is invalid. Quotes nothing of the text.
    """
    if not text:
        raise WrongOption(option or kind, "is empty")
    if not allows(kind, text):
        raise WrongOption(option or kind, f"must be {_RULES[kind].words}")
    return text


def shown_name(kind: str, text: str | None) -> str:
    """Return the name for a message, if it is valid."""
    return text if text and allows(kind, text) else "(not shown)"


def key_called(kind: str, key: str, position: int, *, is_right: bool = True) -> str:
    """Return ``label 'env'``, or ``label 2`` if the key itself is invalid.

    :param position: from 0.
    """
    can_be_shown = is_right and _KEY.match(key) and is_name(key)
    return f"{kind} '{key}'" if can_be_shown else f"{kind} {position + 1}"


def check_cluster_id(cluster_id: str) -> str:
    """Return the id, if it can be a label's value and a part of both secrets' names."""
    return check_name("cluster_id", cluster_id)


def gcp_secret_id(cluster_id: str) -> str:
    """``hyperfleet-{cluster-id}-pull-secret``."""
    return f"hyperfleet-{check_cluster_id(cluster_id)}-pull-secret"


def kubernetes_secret_name(cluster_id: str) -> str:
    """``{cluster-id}-pull-secret``."""
    return f"{check_cluster_id(cluster_id)}-pull-secret"


def kubernetes_secret_address(namespace: str, name: str) -> str:
    """Return the name of a Secret in messages and results, without the cluster; checks nothing."""
    return f"namespaces/{namespace}/secrets/{name}"


def with_secret_names(cluster: Cluster) -> Cluster:
    """Return the cluster with the names of both secrets, by default derived from its id.

    :raises WrongOption: the id cannot be a part of a name.
    """
    return dataclasses.replace(
        cluster,
        secret_name=cluster.secret_name or gcp_secret_id(cluster.cluster_id),
        k8s_secret_name=cluster.k8s_secret_name or kubernetes_secret_name(cluster.cluster_id),
    )


def gcp_labels(cluster_id: str | None, cluster_name: str | None) -> dict[str, str]:
    """Return the labels of the secret in Secret Manager."""
    labels = {
        "managed-by": MANAGED_BY,
        "adapter": _ADAPTER,
        "resource-type": "pull-secret",
        "hyperfleet-version": _VERSION,
    }
    if cluster_id:
        labels["cluster-id"] = check_cluster_id(cluster_id)
    if cluster_name:
        labels["cluster-name"] = _gcp_label_value(cluster_name)
    return labels


def kubernetes_labels(cluster_id: str | None, cluster_name: str | None) -> dict[str, str]:
    """Return the labels of the secret in the management cluster."""
    labels = {"managed-by": MANAGED_BY, "adapter": _ADAPTER, "hyperfleet-version": _VERSION}
    if cluster_id:
        labels["cluster-id"] = check_cluster_id(cluster_id)
    if cluster_name:
        labels["cluster-name"] = _kubernetes_label_value(cluster_name)
    return {key: value for key, value in labels.items() if value}


def kubernetes_annotations(
    gcp_secret_path: str | None, version: StoredVersion | None = None
) -> dict[str, str]:
    """Return the annotations that are kept right; ``created-at`` is only set at creation.

    :param version: the version that the secret holds; None if it is not from Secret Manager.
    """
    annotations = {_CREATED_BY: "pullsecret-adapter"}
    if gcp_secret_path:
        annotations[_STORED_AT] = gcp_secret_path
    if version is not None:
        annotations[STORED_VERSION] = str(version)
    return annotations


def check_not_kept(annotations: Iterable[str], kept: Iterable[str]) -> None:
    """Refuse a user's annotation that the collection itself uses or would overwrite.

    :param annotations: their keys.
    :param kept: the keys that only the collection writes there.
    :raises ConfigurationError: names the first one.
    """
    ours = frozenset(kept)
    for key in annotations:
        if key in ours:
            raise ConfigurationError(f"annotation '{key}' is reserved for this collection")


def texts(option: str, given: Mapping[Any, Any] | None) -> dict[str, str]:
    """Return a user's labels, annotations or headers as text; YAML's numbers and booleans as YAML writes
    them.

    :param option: the name of the mapping, such as ``annotations``.
    :raises WrongOption: a key or value has no single text.
    """
    made: dict[str, str] = {}
    for key, value in (given or {}).items():
        if isinstance(key, bool) or not isinstance(key, (str, int, float)):
            raise WrongOption(option, "has a key that is neither a string nor a number")
        path = f"{option}.{shown(str(key))}"
        if value is None:
            raise WrongOption(path, "has no value")
        if not isinstance(value, (str, int, float)):
            raise WrongOption(path, "must be a string, a number or a boolean")
        if str(key) in made:
            raise WrongOption(path, "is given twice")
        made[str(key)] = str(value).lower() if isinstance(value, bool) else str(value)
    return made


def registries(given: Mapping[Any, Any] | None) -> dict[str, Any]:
    """Return the option ``policy`` by registries' names; YAML's numbers become text, as in JSON.

    :raises ConfigurationError: a key is not a name, or two keys of one registry have different layers.
    """
    made: dict[str, Any] = {}
    layers: dict[str, Any] = {}
    for position, (registry, layer) in enumerate((given or {}).items()):
        if isinstance(registry, bool) or not isinstance(registry, (str, int, float)) or registry == "":
            raise ConfigurationError("policy has a key that is not the name of a registry")
        if str(registry) in made:
            raise ConfigurationError(f"policy: {display(str(registry), position)} is given twice")
        if layers.setdefault(registry_identity(str(registry)), layer) != layer:
            called = display(str(registry), position)
            raise ConfigurationError(
                f"policy: {called} is given twice, in different spellings and with different layers; keep one"
            )
        made[str(registry)] = layer
    return made


def check_labels_not_kept(labels: Mapping[str, str], ours: Mapping[str, str]) -> None:
    """Refuse a user's label that would be overwritten; ``cluster-id`` always, because it names the owner.

    :param labels: the user's.
    :param ours: the labels that the collection writes there. The same value is accepted.
    :raises ConfigurationError: names the first one.
    """
    for key, value in labels.items():
        if (key in ours or key == "cluster-id") and ours.get(key) != value:
            raise ConfigurationError(f"label '{key}' is reserved for this collection")


def owner_problem(labels: Mapping[str, str], cluster_id: str | None) -> str | None:
    """Return why an existing object is not ours, or None if it is.

    The rule is the job contract's for a secret of another owner.
    """
    owner = labels.get("managed-by")
    if owner != MANAGED_BY:
        return f"is managed by {shown(owner)}" if owner else f"has no label managed-by={MANAGED_BY}"
    if cluster_id and labels.get("cluster-id") != cluster_id:
        other = labels.get("cluster-id")
        return f"belongs to cluster {shown(other)}" if other else "has no label cluster-id"
    return None


def _gcp_label_value(text: str) -> str:
    return re.sub(r"[^a-z0-9_-]", "-", text.lower())[:63]


def _kubernetes_label_value(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "-", text)[:63].strip("-_.")
