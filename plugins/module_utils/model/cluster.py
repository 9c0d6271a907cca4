# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One cluster's options, from any input. Pure.

Each field of :class:`Cluster` is one line. Its name is the key in a list of clusters, and its metadata are
its other names. The following are derived from these lines: the modules' argument specs, the Job's variables,
a Job's environment, the digest of its content, what is read of the API's document, and the variables that an
AdapterConfig may not set.
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
    """A field's other names, and its values.

    :param store: the option of ``gcp_pull_secret``, or None.
    :param place: the option of ``k8s_pull_secret``, or None.
    :param variable: the Job's environment variable, or None. Its value is text.
    :param document: the path in the API's document of a cluster, or None.
    :param is_key: whether a list of clusters may have it.
    :param is_shown: whether the Job's log may show it.
    :param in_digest: whether another value makes another Job.
    :param spec: the argument spec of the options; None if the sources have it (``places/reader``).
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
    """An optional field. Its type is a string, unless the spec has another."""
    spec = {"type": "str", **spec}
    return {"option": Option(store or both, place or both, variable, document, is_key, True, in_digest, spec)}


def _document(*, variable: str | None = None) -> dict[str, Option]:
    """A field with the docker config or its source. A digest has its content, not its source."""
    return {"option": Option(None, None, variable, None, True, False, False, None)}


@dataclass(frozen=True)
class Cluster:
    """One cluster. None means not given: the module's default applies.

    Each step requires what it needs: storing a project, placing a namespace. The input has converted the
    values. The rules are the store's for the first step and ``workflows/provision/place``'s for the second,
    because only they know their names and sizes.

    :param replication_text: the policy as its owner wrote it; ``replication_policy`` and
        ``replication_locations`` are its parsed form.
    :param source: a reference in the modules' form, as in ``layers``.
    """

    # The order of a Job's environment. It is a part of the Job's hash, so a new variable must be added at the
    # end.
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

    # Options of the stored secret in Secret Manager.
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

    # Options of the placed Secret in the management cluster.
    management_context: str | None = field(default=None, metadata=_option(place="context"))
    management_kubeconfig: str | None = field(default=None, metadata=_option(place="kubeconfig", type="path"))
    k8s_immutable: bool | None = field(default=None, metadata=_option(place="immutable", type="bool"))
    service_accounts: Sequence[str] | None = field(
        default=None, metadata=_option(place="service_accounts", type="list", elements="str")
    )

    # The docker config.
    source: Mapping[str, Any] | None = field(
        default=None, repr=False, metadata=_document(variable="PULL_SECRET_DATA")
    )
    layers: Sequence[Mapping[str, Any]] | None = field(default=None, repr=False, metadata=_document())
    precedence: str | None = field(default=None, repr=False, metadata=_document())
    policy: Mapping[str, Any] | None = field(default=None, repr=False, metadata=_document())
    drop: Sequence[str] | None = field(default=None, repr=False, metadata=_document())
    strict: bool | None = field(default=None, metadata=_document())


OPTIONS: dict[str, Option] = {each.name: each.metadata["option"] for each in fields(Cluster)}
"""The metadata of each field."""
CLUSTER_KEYS = frozenset(name for name, option in OPTIONS.items() if option.is_key)
"""The keys of a cluster in a list."""


# By module: the option and the field.
_OPTIONS = {
    module: {getattr(option, module): name for name, option in OPTIONS.items() if getattr(option, module)}
    for module in ("store", "place")
}
_DOCUMENT = tuple(name for name, option in OPTIONS.items() if option.spec is None)


def options_of(cluster: Cluster, module: str) -> dict[str, Any]:
    """Return a cluster's values as a module's options, without those of the docker config.

    :param module: ``store`` or ``place``.
    """
    said = {option: getattr(cluster, name) for option, name in _OPTIONS[module].items()}
    return {option: value for option, value in said.items() if value is not None}


def document_of(cluster: Cluster) -> dict[str, Any]:
    """Return the options of the docker config, for both modules; empty if none is given."""
    said = {name: getattr(cluster, name) for name in _DOCUMENT}
    return {name: value for name, value in said.items() if value is not None}


def specs_of(module: str) -> dict[str, Any]:
    """Return the argument spec of a module's options that come from a cluster, except those of the docker
    config.

    :param module: ``store`` or ``place``.
    """
    return {option: dict(OPTIONS[name].spec or {}) for option, name in _OPTIONS[module].items()}


def words_of(attribute: str) -> dict[str, str]:
    """Return the input's names of the modules' options, for errors.

    :param attribute: ``variable`` for the Job's environment; ``name`` for the keys of a list of clusters.
    """
    fields_of = {**_OPTIONS["store"], **_OPTIONS["place"]}
    if attribute == "name":
        return fields_of
    words = {option: getattr(OPTIONS[name], attribute) for option, name in fields_of.items()}
    return {option: word for option, word in words.items() if word}
