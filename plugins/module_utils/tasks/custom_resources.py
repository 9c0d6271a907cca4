# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The custom resources of the controller: which options of the modules the spec of each kind has.

A spec has references and names, and neither values nor files of the controller's own machine. Its keys are the
options' names in camel case. The CRDs are made from these specs by ``tests/tools/crds.py``.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..clients.kubernetes.client import KubernetesClient
from ..clients.kubernetes.paths import plural_of
from ..model.cluster import OPTIONS
from ..model.errors import NotFound
from ..model.managed_object import RESOURCES
from ..model.naming import allows, gcp_secret_id, kubernetes_secret_name
from ..runtime.retry import Deadline
from ..workflows.options import document_options

__all__ = ["KINDS", "Kind", "camel_case", "in_snake_case"]

# What names something of the machine that runs the task, or has a value itself.
_LOCAL = ("context", "credentials_file", "env", "file", "inline", "kubeconfig", "token_file")
_CONNECTIONS = (
    *("hosted_context", "hosted_kubeconfig"),
    *("management_context", "management_kubeconfig"),
)
# The object's deletion decides the state.
_NOT_IN_SPECS = ("id", "state", *_CONNECTIONS)
_GUEST_NOT_IN_SPECS = ("objects", "show_table")
_RUN = ("concurrency", "timeout", "api_timeout", "retry", "digest_key", "progress_file")
_SERVICES = ("gcp", "kubernetes", "hyperfleet")

_Options = Mapping[str, Mapping[str, Any]]
_Target = Mapping[str, Any]
_Places = Callable[[_Target], list[tuple[str, ...]]]


class Kind(NamedTuple):
    """A kind of custom resources.

    :param modules: those whose documentation describes the options, the first one that has an option.
    :param options: the options of the spec, as an argument spec; a fleet's are those of each cluster.
    :param required: those that every object has.
    :param finding: those that find what is to be deleted, with the rule of their name, if they are one. The rest
        may be wrong, and keeps no object from going.
    :param is_gone: whether nothing is left of a target that is to be deleted.
    :param places: returns what only one object may keep of a target: what it is, and what identifies it.
    """

    name: str
    modules: tuple[str, ...]
    options: Callable[[], _Options]
    required: tuple[str, ...]
    finding: Mapping[str, str]
    places: _Places
    is_gone: Callable[[KubernetesClient, _Target, Deadline], bool] = lambda *_all: False
    noun: str = "clusters"
    is_fleet: bool = False

    @property
    def resource(self) -> str:
        """The plural with version and group, as in ``clients/kubernetes``."""
        return RESOURCES[self.name]

    @property
    def plural(self) -> str:
        """The plural."""
        return plural_of(self.resource)


def _of_cluster() -> _Options:
    documents = document_options()
    keys = {
        name: option.spec if option.spec is not None else documents[name]
        for name, option in OPTIONS.items()
        if option.is_key
    }
    return _without_local(keys, _NOT_IN_SPECS)


def _of_hosted() -> _Options:
    return _without_local(_of_module("hosted_cluster_pull_secret"), _NOT_IN_SPECS)


def _of_guests() -> _Options:
    excluded = (*_NOT_IN_SPECS, *_GUEST_NOT_IN_SPECS, *_RUN, *_SERVICES)
    return _without_local(_of_module("guest_cluster_pull_secret"), excluded)


def _of_module(name: str) -> _Options:
    # A run has objects of one kind, and Ansible compiles what it imports of a collection each time.
    task = importlib.import_module(f".{name}", __package__)
    options: _Options = task.target_options()
    return options


def _places_of_cluster(target: _Target) -> list[tuple[str, ...]]:
    cluster_id = str(target.get("cluster_id"))
    if not allows("cluster_id", cluster_id):
        return []
    secret_id = target.get("secret_name") or gcp_secret_id(cluster_id)
    secret_name = target.get("k8s_secret_name") or kubernetes_secret_name(cluster_id)
    return [
        ("cluster", cluster_id),
        ("secret in Secret Manager", str(target.get("gcp_project_id")), str(secret_id)),
        ("Secret", str(target.get("management_namespace")), str(secret_name)),
    ]


def _places_of_hosted(target: _Target) -> list[tuple[str, ...]]:
    plane = str(target.get("control_plane_namespace")), str(target.get("hosted_control_plane") or "")
    return [("hosted cluster", str(target.get("cluster_id"))), ("hosted control plane", *plane)]


def _places_of_guests(target: _Target) -> list[tuple[str, ...]]:
    return [("delivery", str(target.get("set_name")))]


def _is_hosted_gone(client: KubernetesClient, target: _Target, deadline: Deadline) -> bool:
    """Whether the HostedControlPlane is gone, by which the hosted cluster is reached."""
    if target.get("hosted_kubeconfig_secret"):
        return False
    kind, namespace = "hostedcontrolplanes", str(target.get("control_plane_namespace"))
    name = target.get("hosted_control_plane")
    if name:
        return client.get(namespace, kind, str(name), deadline) is None
    try:
        return not list(client.list_all(kind, "", deadline, namespace))
    except NotFound:
        return True


_PROVISION = (
    ("gcp_pull_secret", "k8s_pull_secret"),
    _of_cluster,
    ("cluster_id", "gcp_project_id", "management_namespace"),
    {
        "cluster_id": "cluster_id",
        "gcp_project_id": "project",
        "management_namespace": "namespace",
        "secret_name": "secret",
        "k8s_secret_name": "name",
        "impersonate_service_account": "",
        "service_accounts": "",
    },
    _places_of_cluster,
)
_ALL = (
    Kind("PullSecret", *_PROVISION),
    Kind("PullSecretFleet", *_PROVISION, is_fleet=True),
    Kind(
        "GlobalPullSecret",
        ("hosted_cluster_pull_secret",),
        _of_hosted,
        ("cluster_id", "control_plane_namespace", "syncer_image"),
        {
            "cluster_id": "cluster_id",
            "control_plane_namespace": "namespace",
            "hosted_control_plane": "name",
            "hosted_namespace": "namespace",
            "hosted_kubeconfig_secret": "",
            "original": "",
            "rollout_timeout": "",
        },
        _places_of_hosted,
        _is_hosted_gone,
    ),
    Kind(
        "GuestPullSecret",
        ("guest_cluster_pull_secret",),
        _of_guests,
        (),
        {"set_name": "name", "secret_name": "name", "delivery": "", "service_accounts": ""},
        _places_of_guests,
        noun="guests",
    ),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}
"""Each kind by its name."""


def camel_case(option: str) -> str:
    """Return ``gcpProjectId`` of ``gcp_project_id``."""
    return re.sub(r"_(\w)", lambda match: match[1].upper(), option)


def in_snake_case(values: Mapping[str, Any], options: _Options) -> dict[str, Any]:
    """Return the values of a spec as a module's options. Mappings with free keys stay as they are."""
    named = {camel_case(option): option for option in options}
    return {
        named[key]: _converted(value, options[named[key]]) for key, value in values.items() if key in named
    }


def _converted(value: Any, spec: Mapping[str, Any]) -> Any:
    inner = spec.get("options")
    if inner and isinstance(value, Mapping):
        return in_snake_case(value, inner)
    if inner and isinstance(value, list):
        return [in_snake_case(entry, inner) for entry in value]
    return value


def _without_local(options: _Options, excluded: tuple[str, ...]) -> dict[str, Any]:
    remaining = {name: dict(spec) for name, spec in options.items() if name not in excluded}
    for spec in remaining.values():
        if spec.get("options"):
            spec["options"] = _without_local(spec["options"], _LOCAL)
    return remaining
