# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is said of one cluster, whichever way it comes in.  Pure.

Each field of :class:`Cluster` is one line. Its name is the key in a list of clusters, and its metadata are its
names elsewhere. The modules' argument specs, the Job's variables, a Job's environment, the digest of its
content and what is read of the API's document are made from these lines, and so is the list of variables that
an AdapterConfig may not set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from .cluster_keys import PROJECT, REPLICATION, Key

__all__ = [
    "CLUSTER_KEYS",
    "OPTIONS",
    "Cluster",
    "Option",
    "document_of",
    "options_of",
    "specs_of",
    "words_of",
]

_RETENTION: dict[str, Any] = {
    "keep": {"type": "int", "required": True},
    "disable": {"type": "bool", "default": True},
    "destroy_after": {"type": "float"},
}


class Option(NamedTuple):
    """What a field is called elsewhere, and what it takes.

    :param store: the option of ``gcp_pull_secret``, or None; :param place: that of ``k8s_pull_secret``.
    :param variable: the Job's environment variable, or None. Its value is text.
    :param document: where the API's document of a cluster has its text, or None.
    :param is_key: whether a list of clusters may have it.
    :param is_shown: whether the Job's log may show it.
    :param in_digest: whether another value makes another Job.
    :param spec: the argument spec of the options; None where the sources have it (``places/reader``).
    """

    store: str | None
    place: str | None
    variable: str | None
    document: Key | None
    is_key: bool
    is_shown: bool
    in_digest: bool
    spec: Mapping[str, Any] | None


def _option(
    both: str | None = None,
    *,
    store: str | None = None,
    place: str | None = None,
    variable: str | None = None,
    document: Key | None = None,
    is_key: bool = True,
    in_digest: bool = True,
    **spec: Any,
) -> dict[str, Option]:
    """Of a field that may be left out. Its type is a string, if the spec does not say another."""
    spec = {"type": "str", **spec}
    return {"option": Option(store or both, place or both, variable, document, is_key, True, in_digest, spec)}


def _document(*, variable: str | None = None) -> dict[str, Option]:
    """Of a field that says where the docker config is, or holds it. Its content is in a digest, not its place."""
    return {"option": Option(None, None, variable, None, True, False, False, None)}


@dataclass(frozen=True)
class Cluster:
    """One cluster. What is None is not said: the default of the module applies.

    Each step demands what it needs: storing demands a project, placing a namespace. A way in has converted the
    values. The rules are the store's for the first step and ``workflows/provision/place``'s for the second, since
    only a place knows its names and sizes.

    :param replication_text: the policy as its owner wrote it. ``replication_policy`` and
        ``replication_locations`` are what it means.
    :param source: a reference as the modules take it; so are those of ``layers``.
    """

    # The order of a Job's environment. It is a part of the Job's hash, so a new variable comes after these.
    cluster_id: str = field(
        metadata={
            "option": Option(
                "cluster_id", "cluster_id", "CLUSTER_ID", None, True, True, True, {"type": "str"}
            )
        }
    )
    cluster_name: str | None = field(default=None, metadata=_option("cluster_name", variable="CLUSTER_NAME"))
    gcp_project_id: str | None = field(
        default=None, metadata=_option(store="project", variable="GCP_PROJECT_ID", document=PROJECT)
    )
    secret_name: str | None = field(
        default=None, metadata=_option(store="secret", variable="SECRET_NAME", no_log=False)
    )
    management_namespace: str | None = field(
        default=None, metadata=_option(place="namespace", variable="MANAGEMENT_NAMESPACE")
    )
    k8s_secret_name: str | None = field(
        default=None, metadata=_option(place="name", variable="K8S_SECRET_NAME")
    )
    replication_text: str | None = field(
        default=None, metadata=_option(variable="REPLICATION_POLICY", document=REPLICATION, is_key=False)
    )

    state: str | None = field(default=None, metadata=_option("state", choices=["present", "absent"]))
    labels: Mapping[str, Any] | None = field(default=None, metadata=_option("labels", type="dict"))
    adopt: bool | None = field(default=None, metadata=_option("adopt", type="bool"))

    # What is stored, in Secret Manager.
    annotations: Mapping[str, Any] | None = field(
        default=None, metadata=_option(store="annotations", type="dict")
    )
    replication_policy: str | None = field(
        default=None,
        metadata=_option(store="replication", in_digest=False, choices=["automatic", "user_managed"]),
    )
    replication_locations: Sequence[str] | None = field(
        default=None, metadata=_option(store="locations", in_digest=False, type="list", elements="str")
    )
    kms_key: str | None = field(default=None, metadata=_option(store="kms_key", no_log=False))
    location_kms_keys: Mapping[str, Any] | None = field(
        default=None, metadata=_option(store="location_kms_keys", type="dict", no_log=False)
    )
    retention: Mapping[str, Any] | None = field(
        default=None, metadata=_option(store="retention", type="dict", options=_RETENTION)
    )
    restore_version: str | None = field(default=None, metadata=_option(store="restore_version"))
    impersonate_service_account: str | None = field(
        default=None, metadata=_option(store="impersonate_service_account")
    )

    # What is placed, in the management cluster.
    management_context: str | None = field(default=None, metadata=_option(place="context"))
    management_kubeconfig: str | None = field(default=None, metadata=_option(place="kubeconfig", type="path"))
    k8s_immutable: bool | None = field(default=None, metadata=_option(place="immutable", type="bool"))
    service_accounts: Sequence[str] | None = field(
        default=None, metadata=_option(place="service_accounts", type="list", elements="str")
    )

    # Where the docker config is.
    source: Mapping[str, Any] | None = field(
        default=None, repr=False, metadata=_document(variable="PULL_SECRET_DATA")
    )
    layers: Sequence[Mapping[str, Any]] | None = field(default=None, repr=False, metadata=_document())
    precedence: str | None = field(default=None, repr=False, metadata=_document())
    policy: Mapping[str, Any] | None = field(default=None, repr=False, metadata=_document())
    drop: Sequence[str] | None = field(default=None, repr=False, metadata=_document())


OPTIONS: dict[str, Option] = {each.name: each.metadata["option"] for each in fields(Cluster)}
"""What is known of each field."""
CLUSTER_KEYS = frozenset(name for name, option in OPTIONS.items() if option.is_key)
"""The keys of a cluster in a list."""


# By module: the option and the field.
_OPTIONS = {
    module: {getattr(option, module): name for name, option in OPTIONS.items() if getattr(option, module)}
    for module in ("store", "place")
}
_DOCUMENT = tuple(name for name, option in OPTIONS.items() if option.spec is None)


def options_of(cluster: Cluster, module: str) -> dict[str, Any]:
    """What is said of a cluster, as a module's options, without those that say where the docker config is.

    :param module: ``store`` or ``place``.
    """
    said = {option: getattr(cluster, name) for option, name in _OPTIONS[module].items()}
    return {option: value for option, value in said.items() if value is not None}


def document_of(cluster: Cluster) -> dict[str, Any]:
    """What says where the docker config is, as both modules' options; nothing where nobody said."""
    said = {name: getattr(cluster, name) for name in _DOCUMENT}
    return {name: value for name, value in said.items() if value is not None}


def specs_of(module: str) -> dict[str, Any]:
    """The argument spec of a module's options that come from a cluster, but for those of the document.

    :param module: ``store`` or ``place``.
    """
    return {option: dict(OPTIONS[name].spec or {}) for option, name in _OPTIONS[module].items()}


def words_of(attribute: str) -> dict[str, str]:
    """What a way in calls the modules' options, for errors.

    :param attribute: ``variable`` for the Job's environment; ``name`` for the keys of a list of clusters.
    """
    fields_of = {**_OPTIONS["store"], **_OPTIONS["place"]}
    if attribute == "name":
        return fields_of
    words = {option: getattr(OPTIONS[name], attribute) for option, name in fields_of.items()}
    return {option: word for option, word in words.items() if word}
