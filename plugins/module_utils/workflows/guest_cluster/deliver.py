# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Delivers to one guest through its ClusterResourceSet, and removes what was delivered.

Nothing is stored between runs but the objects themselves: their labels are the record of the guests. A run may be
killed anywhere, and the next one completes its work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...dockerconfig import DockerConfig
from ...model.errors import (
    ConfigurationError,
    NotFound,
    OwnershipConflict,
    PermissionDenied,
    PullSecretError,
)
from ...model.guest_cluster import CLUSTER_NAME, RECORD, GuestCluster
from ...model.shown import first_few, shown
from ...places.kubernetes_secret.compare import differences
from ...places.kubernetes_secret.owned_objects import DesiredObject, OwnedObjects
from ...places.kubernetes_secret.target import docker_config_value
from ...places.reader import Document
from ...places.writing import note
from ...runtime.retry import Deadline
from ..run import Work
from .desired import (
    IMMUTABLE,
    applied_hash,
    check_cluster_name,
    check_delivery,
    docker_config_in,
    find_foreign_content,
    further_objects,
    guest_secret,
    no_longer_in,
    not_applied,
    resource_set,
    source_secret,
)
from .further import GuestKinds
from .guest_run import GuestRun
from .host import ClusterApi
from .plan import Delivery, Removal

__all__ = ["GuestDelivery"]

# A guest that is down must not hold the others up.
_DRIFT_TIMEOUT_SECONDS = 5.0
_DRIFTED = (
    "{} is not as it was delivered, and Cluster API does not repair it; delete the guest's "
    "ClusterResourceSetBinding to have it applied again, or use delivery: direct"
)


class GuestDelivery:
    """Delivers to many guests. Thread-safe.

    :param kinds: Cluster API's, as the host serves them.
    :param applied: what Cluster API had applied when the run began, as ``read_applied`` returns it.
    """

    def __init__(self, run: GuestRun, kinds: ClusterApi, applied: Mapping[tuple[str, str, str], str]) -> None:
        self._run = run
        self._wanted = run.wanted
        self._kinds = kinds
        self._applied = applied

    def deliver(self, delivery: Delivery, document: Document, current: Work) -> None:
        """Write both objects of a guest, then label its Cluster if that is wanted.

        :raises ConfigurationError: the ClusterResourceSet cannot select the Cluster.
        :raises OwnershipConflict: an object belongs to another owner, or to another delivery.
        """
        guest, outcome = delivery.guest, current.outcome
        self._check(guest)
        outcome.provenance = document.provenance
        place = guest.namespace, delivery.set_name, guest.name
        secret = source_secret(self._wanted, *place, document.config)
        resources = resource_set(self._kinds.resource_sets, self._wanted, *place)
        objects = self._run.objects(guest.namespace, guest.name, current)

        def write(fresh: bool) -> None:
            outcome.after = document.config
            existing = [
                # What has no record may exist all the same, and belong to another owner.
                (None if fresh else listed) or objects.get(wanted.kind, wanted.name)
                for wanted, listed in ((secret, delivery.secret), (resources, delivery.record))
            ]
            for wanted, item in zip((secret, resources), existing):
                self._guard(objects, wanted, item)
            outcome.before = current.parse_existing(docker_config_in(existing[0]))
            gone = no_longer_in(secret.body, existing[0])
            if gone:
                outcome.warn([f"{first_few(gone)} stays in the guest, where Cluster API deletes nothing"])
            objects.apply(secret, existing[0])
            objects.apply(resources, existing[1])

        self._run.retry(current, write)
        if not guest.is_labelled:
            self._label(guest, current)
        state = self._state(delivery, secret, current)
        outcome.extra.update(state=state)
        if state == "delivered" and self._wanted.report_drift:
            self._report_drift(guest, document.config, current)

    def remove(self, removal: Removal, current: Work) -> None:
        """Delete both objects of a guest that left. What the guest holds stays there."""
        outcome = current.outcome
        objects = self._run.objects(removal.namespace, removal.cluster, current)
        kinds = ("secrets", self._kinds.resource_sets)

        def delete(fresh: bool) -> None:
            existing = [
                # Without its labels it is not listed, and is refused.
                (None if fresh else listed) or objects.get(kind, removal.set_name)
                for kind, listed in zip(kinds, (removal.secret, removal.record))
            ]
            for kind, item in zip(kinds, existing):
                if item is not None:
                    objects.guard(kind, item, adopt=False, delete=True)
            outcome.before = current.parse_existing(docker_config_in(existing[0]))
            # The Secret first: Cluster API makes the set its owner, and the garbage collector would delete it, too.
            for kind, item in zip(kinds, existing):
                if item is not None:
                    objects.delete(kind, item)

        self._run.retry(current, delete)
        outcome.extra.update(state="pruned", reason=removal.reason)

    def _check(self, guest: GuestCluster) -> None:
        """:raises ConfigurationError: a ClusterResourceSet cannot select the Cluster by its name."""
        place = self._run.host.place(guest.namespace, self._kinds.clusters, shown(guest.name))
        check_cluster_name(place, guest.name)
        label = guest.labels.get(CLUSTER_NAME)
        if guest.is_labelled or (label is None and self._wanted.label_clusters):
            return
        if label is not None:
            raise ConfigurationError(
                f"{place}: the Cluster's label {CLUSTER_NAME} is {shown(label)}, so the ClusterResourceSet would "
                "not select it",
                f"set the label to {guest.name}",
            )
        raise ConfigurationError(
            f"{place}: the Cluster has no label {CLUSTER_NAME}={guest.name}, by which the ClusterResourceSet "
            "selects it, so nothing would be delivered",
            "set label_clusters: true, or label the Cluster",
        )

    def _guard(self, objects: OwnedObjects, wanted: DesiredObject, existing: dict[str, Any] | None) -> None:
        if existing is None:
            return
        place = self._run.host.place(objects.namespace, wanted.kind, wanted.name)
        remedy = "give one of the deliveries another set_name"
        check_delivery(existing, RECORD, self._wanted.set_name, place, remedy)
        objects.guard(wanted.kind, existing, adopt=self._wanted.adopt, delete=False)
        is_adopted = RECORD not in (existing["metadata"].get("labels") or {})
        foreign_content = find_foreign_content(existing, wanted.name) if is_adopted else []
        if foreign_content:
            raise OwnershipConflict(
                f"{place} also delivers {first_few(foreign_content)}",
                "it was not changed; move that to a ClusterResourceSet of its own, or set another set_name",
            )
        changed = [path for path in differences(wanted.body, existing) if path.startswith(IMMUTABLE)]
        if changed:
            raise ConfigurationError(
                f"{place}: {changed[0]} differs, and Cluster API does not allow to change it",
                "delete the ClusterResourceSet with --cascade=orphan, or set another set_name",
            )

    def _label(self, guest: GuestCluster, current: Work) -> None:
        outcome = current.outcome
        if not self._run.dry_run:
            # Without a version: controllers write Clusters all the time, and this changes no other label.
            body = {"metadata": {"labels": {CLUSTER_NAME: guest.name}}}
            self._run.host.patch(guest.namespace, self._kinds.clusters, guest.name, body, current.deadline)
            note(outcome, "label-cluster", f"Labelled Cluster {guest.name}", namespace=guest.namespace)
        outcome.did("labelled Cluster")
        outcome.differs(f"label {CLUSTER_NAME}", None, guest.name)
        outcome.settle()

    def _report_drift(self, guest: GuestCluster, config: DockerConfig, current: Work) -> None:
        """Look at what the guest holds, which Cluster API does not, if this run may read the guest's kubeconfig."""
        outcome, deadline = (
            current.outcome,
            Deadline(min(self._run.settings.api_timeout, _DRIFT_TIMEOUT_SECONDS)),
        )
        try:
            with self._run.open(guest.namespace, guest.name, deadline) as api:
                for namespace in self._wanted.secret_namespaces:
                    wanted = guest_secret(self._wanted, namespace, guest.name, config)
                    existing = api.get(namespace, wanted.kind, wanted.name, deadline)
                    current.parse_existing(docker_config_value(existing or {}))
                    if differences(wanted.body, existing):
                        outcome.warn([_DRIFTED.format(api.place(namespace, wanted.kind, wanted.name))])
                kinds = GuestKinds(api)
                for further in further_objects(self._wanted, guest.namespace, guest.name):
                    try:
                        if kinds.has_drifted(further, deadline):
                            outcome.warn([_DRIFTED.format(further.address)])
                    except PullSecretError as error:
                        outcome.warn([f"{further.address} could not be looked at: {error.message}"])
        except (NotFound, PermissionDenied):
            pass
        except PullSecretError as error:
            outcome.warn([f"the guest could not be looked at: {error.message}"])

    def _state(self, delivery: Delivery, secret: DesiredObject, current: Work) -> str:
        guest, outcome = delivery.guest, current.outcome
        if guest.is_paused:
            outcome.warnings.append(
                "the Cluster is paused; Cluster API applies ClusterResourceSets all the same"
            )
        if outcome.changed:
            return "waiting"
        reason = not_applied(delivery.record)
        if reason:
            outcome.warnings.append(
                f"Cluster API could not apply it ({reason}); see the conditions of the ClusterResourceSet"
            )
        applied = self._applied.get((guest.namespace, guest.name, delivery.set_name))
        return "delivered" if applied == applied_hash(secret.body) else "waiting"
