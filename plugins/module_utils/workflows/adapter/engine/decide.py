# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decides what to do for a cluster from its document in the API. Pure.

A cluster is a dictionary as the API returns it, with either spelling of its spec.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Callable, Union

from ....clients.hyperfleet.status_parser import conditions_of
from ....clients.hyperfleet.statuses import AdapterStatus
from ....dockerconfig import DockerConfigError, load
from ....model.cluster import Cluster, words_of
from ....model.cluster_document import ClusterSpec, project_of, read_spec
from ....model.cluster_keys import PROJECT as PROJECT_KEY
from ....model.cluster_keys import REPLICATION
from ....model.errors import ConfigurationError, InvalidDocument, NotFound
from ....model.naming import KUBERNETES_NAMESPACE, with_secret_names
from ....model.shown import shown
from ....places.hyperfleet_spec import pull_secret
from ....places.sources import cluster_store
from ...provision.checking import check_cluster
from ...provision.steps import stored_at
from ..config.parts import PlacementSettings
from ..model import Order
from .last_status import ManagementSecretName, place_of, reported_places, secret_of

__all__ = [
    "Apply",
    "Decision",
    "Refuse",
    "Remove",
    "UnmetPreconditions",
    "decide",
    "generation_of",
    "may_hold",
    "removal_by_jobs",
]

# The adapter that chooses the management cluster.
_PLACEMENT = "placement"
_ANY_PLACEMENT = PlacementSettings()
_NO_NAMESPACE = "the placement adapter has not reported a namespace for the cluster's current generation"
# Names of module options, as the owner of a cluster knows them.
_WORDS = {"project": PROJECT_KEY.path, "namespace": "placement's namespace", "replication": REPLICATION.path}


@dataclass(frozen=True)
class UnmetPreconditions:
    """The cluster is not ready yet.

    :param reasons: what is missing, as sentences for people.
    :param is_in_other_management_cluster: whether placement names another management cluster.
    """

    reasons: tuple[str, ...]
    is_in_other_management_cluster: bool = False


@dataclass(frozen=True)
class Apply:
    """Store and place the pull secret.

    :param document: the docker config as the cluster's spec holds it.
    """

    order: Order
    document: bytes = field(repr=False)


@dataclass(frozen=True)
class Refuse:
    """The cluster's own document is invalid, until its owner fixes it.

    :param reason: of a condition, CamelCase.
    :param kind: of the error.
    """

    reason: str
    message: str
    kind: str = ConfigurationError.kind


@dataclass(frozen=True)
class Remove:
    """Remove the objects of a cluster that is being deleted.

    :param secrets: the addresses of stored secrets.
    :param placed: Secrets in the management cluster.
    :param made: whether our last status says that something was created.
    :param barred: those of ``placed`` in forbidden namespaces, for which our status reports nothing.
    """

    secrets: tuple[str, ...]
    placed: tuple[ManagementSecretName, ...]
    made: bool
    barred: tuple[ManagementSecretName, ...] = ()


Decision = Union[UnmetPreconditions, Apply, Refuse, Remove]


def decide(
    cluster: Mapping[str, Any],
    statuses: Mapping[str, AdapterStatus],
    unmet: Callable[[], Sequence[str]],
    *,
    own: AdapterStatus | None = None,
    traceparent: str | None = None,
    placement: PlacementSettings = _ANY_PLACEMENT,
) -> Decision:
    """Return what to do for a cluster.

    :param statuses: the adapters' statuses, by name.
    :param unmet: returns the configured preconditions that are not met; not called for a cluster that is
        being deleted.
    :param own: our last status.
    :param placement: where the configuration allows Secrets.
    """
    cluster_id = str(cluster.get("id"))
    if cluster.get("deleted_time"):
        return _removal(cluster_id, cluster, statuses, own, placement.allows)
    missing = list(unmet())
    spec, wrong = _spec(cluster)
    project = spec.project if spec is not None else None
    if spec is not None and project is None:
        missing.append(f"cluster has no {PROJECT_KEY.path}")
    namespace = _namespace(cluster, statuses)
    if namespace is None:
        missing.append(_NO_NAMESPACE)
    other, is_in_other = _management_cluster_problem(_placement(cluster, statuses), placement)
    missing += other
    document = b""
    try:
        document = pull_secret(cluster)
    except NotFound:
        missing.append("cluster has no spec.pullSecret.data")
    except InvalidDocument as error:
        return Refuse("InvalidPullSecret", error.message, error.kind)
    if missing:
        # A misspelt field may be the reason for an unmet precondition.
        missing += [wrong] if wrong else []
        return UnmetPreconditions(tuple(dict.fromkeys(missing)), is_in_other)
    if spec is None or project is None or namespace is None:
        return Refuse("InvalidClusterSpec", wrong)
    try:
        wanted = spec.cluster(cluster_id, management_namespace=namespace)
        check_cluster(wanted, _WORDS)
    except ConfigurationError as error:
        return Refuse("InvalidClusterSpec", error.message)
    if not placement.allows(namespace):
        return Refuse(
            "NamespaceNotAllowed",
            f"placement's namespace '{namespace}' is not in spec.placement.allowedNamespaces",
        )
    try:
        load(document)
    except DockerConfigError as error:
        return Refuse("InvalidPullSecret", f"spec.pullSecret.data: {error}", InvalidDocument.kind)
    return Apply(Order(wanted, generation_of(cluster), traceparent), document)


def generation_of(cluster: Mapping[str, Any]) -> int:
    """Return the cluster's generation, which every report names."""
    found = cluster.get("generation")
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 1 else 1


def may_hold(cluster: Mapping[str, Any], adapter: str) -> bool:
    """Return whether the API may hold a status of ours, judged by the cluster's document alone."""
    if cluster.get("deleted_time"):
        return True
    own = "".join(part[:1].upper() + part[1:] for part in adapter.split("-")) + "Successful"
    status = cluster.get("status")
    return own in conditions_of(status.get("conditions") if isinstance(status, Mapping) else None)


def removal_by_jobs(environments: Iterable[Mapping[str, str]]) -> Remove:
    """Return the removal for the secrets that Jobs were to write, as their environments name them (the job
    contract).
    """
    secrets, placed = [], []
    for told in environments:
        options = {option: told.get(variable) for option, variable in words_of("variable").items()}
        secret = secret_of(cluster_store().address(options))
        place = place_of(options["namespace"], options["name"])
        secrets += [secret] if secret is not None else []
        placed += [place] if place is not None else []
    return Remove(tuple(dict.fromkeys(secrets)), tuple(dict.fromkeys(placed)), bool(secrets or placed))


def _removal(
    cluster_id: str,
    cluster: Mapping[str, Any],
    statuses: Mapping[str, AdapterStatus],
    own: AdapterStatus | None,
    allows: Callable[[str], bool],
) -> Remove:
    """Secrets in our last status come first, because the spec and the placement may have changed since."""
    secrets, placed = reported_places(own.data if own is not None else {})
    made = bool(secrets or placed)
    barred: tuple[ManagementSecretName, ...] = ()
    try:
        wanted = with_secret_names(Cluster(cluster_id, gcp_project_id=_project(cluster)))
    except ConfigurationError:
        # Nothing can have been created under such an id.
        return Remove(tuple(secrets), tuple(placed), made)
    secret = secret_of(stored_at(wanted))
    secrets += [secret] if secret is not None else []
    namespace = _namespace(cluster, statuses, current=False)
    if namespace is not None and KUBERNETES_NAMESPACE.match(namespace):
        place = ManagementSecretName(namespace, str(wanted.k8s_secret_name))
        barred = (place,) if place not in placed and not allows(namespace) else ()
        placed.append(place)
    return Remove(tuple(dict.fromkeys(secrets)), tuple(dict.fromkeys(placed)), made, barred)


def _spec(cluster: Mapping[str, Any]) -> tuple[ClusterSpec | None, str]:
    """Return what the cluster's owner wrote, or what is wrong with it."""
    try:
        return read_spec(cluster), ""
    except ConfigurationError as error:
        return None, error.message


def _project(cluster: Mapping[str, Any]) -> str | None:
    """Return the project even if the rest of the spec is wrong, or None if there is none."""
    try:
        return project_of(cluster)
    except ConfigurationError:
        return None


def _namespace(
    cluster: Mapping[str, Any], statuses: Mapping[str, AdapterStatus], *, current: bool = True
) -> str | None:
    """Return the placement adapter's namespace; only for the cluster's current generation if that matters."""
    namespace = _placement(cluster, statuses, current=current).get("namespace")
    return namespace if isinstance(namespace, str) and namespace else None


def _placement(
    cluster: Mapping[str, Any], statuses: Mapping[str, AdapterStatus], *, current: bool = True
) -> Mapping[str, Any]:
    """Return the placement adapter's data, which is empty if there is none (for the current generation)."""
    status = statuses.get(_PLACEMENT)
    if status is None or (current and status.generation != generation_of(cluster)):
        return {}
    return status.data


def _management_cluster_problem(
    data: Mapping[str, Any], placement: PlacementSettings
) -> tuple[list[str], bool]:
    """Return why the cluster's place is not in the adapter's management cluster, and whether it is in another.

    :param data: the placement adapter's.
    """
    name, own = data.get("managementCluster"), placement.management_cluster
    if own is None or not data or name == own:
        return [], False
    works_in = f"this adapter works only in '{own}' (spec.placement.managementCluster)"
    if not isinstance(name, str) or not name:
        return [f"the placement adapter has not reported a management cluster, and {works_in}"], False
    return [f"placement names the management cluster '{shown(name)}', and {works_in}"], True
