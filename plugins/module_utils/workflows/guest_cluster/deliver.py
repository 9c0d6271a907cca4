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

from ...clients.kubernetes.client import KubernetesClient
from ...dockerconfig import DockerConfig
from ...model.errors import (
    ConfigurationError,
    NotFound,
    OwnershipConflict,
    PermissionDenied,
    PullSecretError,
)
from ...model.guest_cluster import CLUSTER_NAME, RECORD, GuestCluster, GuestPullSecret
from ...model.shown import first_few, shown
from ...places.kubernetes_secret.compare import differences
from ...places.kubernetes_secret.conflict_retry import retry_when_overtaken
from ...places.kubernetes_secret.owned_objects import DesiredObject, OwnedObjects
from ...places.kubernetes_secret.target import docker_config_value
from ...places.reader import Document
from ...places.writing import note, parse_any
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from ..run import Work
from .access import GuestAccess
from .desired import (
    IMMUTABLE,
    applied_hash,
    check_cluster_name,
    docker_config_in,
    guest_secret,
    not_applied,
    other_content,
    resource_set,
    source_secret,
)
from .host import ClusterApi
from .plan import Delivery, Removal

__all__ = ["GuestDelivery"]

# Seconds: it is a glance, and a guest that is down must not hold the others up.
_GLANCE = 5.0
_REPAIR = "delete the guest's ClusterResourceSetBinding to have it applied again, or use delivery: direct"


class GuestDelivery:
    """Delivers to many guests. Thread-safe.

    :param kinds: Cluster API's, as the host serves them.
    :param access: to the guests, to see what they hold.
    :param applied: what Cluster API had applied when the run began, as ``read_applied`` returns it.
    :param dry_run: check mode: nothing is written.
    """

    def __init__(
        self,
        settings: RunSettings,
        client: KubernetesClient,
        kinds: ClusterApi,
        wanted: GuestPullSecret,
        applied: Mapping[tuple[str, str, str], str],
        access: GuestAccess,
        *,
        dry_run: bool,
    ) -> None:
        self._settings = settings
        self._client = client
        self._kinds = kinds
        self._wanted = wanted
        self._applied = applied
        self._access = access
        self._dry_run = dry_run

    def deliver(self, delivery: Delivery, document: Document, current: Work) -> None:
        """Write both objects of a guest, then label its Cluster if that is wanted.

        :raises ConfigurationError: the ClusterResourceSet cannot select the Cluster.
        :raises OwnershipConflict: an object belongs to another owner, or to another delivery.
        """
        guest, outcome = delivery.guest, current.outcome
        if guest.is_deleting:
            outcome.extra.update(state="skipped")
            outcome.warnings.append("left alone: the Cluster is being deleted")
            return
        self._check(guest)
        outcome.provenance = document.provenance
        place = guest.namespace, delivery.set_name, guest.name
        secret = source_secret(self._wanted, *place, document.config)
        resources = resource_set(self._kinds.resource_sets, self._wanted, *place)
        objects = self._objects(guest.namespace, guest.name, current)

        def write(fresh: bool) -> None:
            outcome.restart()
            outcome.after = document.config
            existing = [
                # What has no record may exist all the same, and belong to another owner.
                (None if fresh else listed) or objects.get(wanted.kind, wanted.name)
                for wanted, listed in ((secret, delivery.secret), (resources, delivery.record))
            ]
            for wanted, item in zip((secret, resources), existing):
                self._guard(objects, wanted, item)
            outcome.before = self._config_in(existing[0], current)
            objects.apply(secret, existing[0])
            objects.apply(resources, existing[1])

        retry_when_overtaken(self._settings, outcome, current.deadline, write)
        if not guest.is_labelled:
            self._label(guest, current)
        state = self._state(delivery, secret, current)
        outcome.extra.update(state=state)
        if state == "delivered" and self._wanted.report_drift:
            self._report_drift(guest, document.config, current)

    def remove(self, removal: Removal, current: Work) -> None:
        """Delete both objects of a guest that left. What the guest holds stays there."""
        outcome = current.outcome
        objects = self._objects(removal.namespace, removal.cluster, current)
        kinds = ("secrets", self._kinds.resource_sets)

        def delete(fresh: bool) -> None:
            outcome.restart()
            existing = [
                # Without its labels it is not listed, and is refused.
                (None if fresh else listed) or objects.get(kind, removal.set_name)
                for kind, listed in zip(kinds, (removal.secret, removal.record))
            ]
            for kind, item in zip(kinds, existing):
                if item is not None:
                    objects.guard(kind, item, adopt=False, delete=True)
            outcome.before = self._config_in(existing[0], current)
            # The Secret first: Cluster API makes the set its owner, and the garbage collector would delete it, too.
            for kind, item in zip(kinds, existing):
                if item is not None:
                    objects.delete(kind, item)

        retry_when_overtaken(self._settings, outcome, current.deadline, delete)
        outcome.extra.update(state="pruned", reason=removal.reason)

    def _objects(self, namespace: str, cluster: str, current: Work) -> OwnedObjects:
        return OwnedObjects(
            self._client, namespace, cluster, current.outcome, current.deadline, dry_run=self._dry_run
        )

    def _check(self, guest: GuestCluster) -> None:
        """:raises ConfigurationError: a ClusterResourceSet cannot select the Cluster by its name."""
        place = self._client.place(guest.namespace, self._kinds.clusters, shown(guest.name))
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
        place = self._client.place(objects.namespace, wanted.kind, wanted.name)
        record = (existing["metadata"].get("labels") or {}).get(RECORD)
        if record not in (None, self._wanted.set_name):
            raise OwnershipConflict(
                f"{place} exists but belongs to the delivery {shown(record)}",
                "it was not changed; give one of the deliveries another set_name",
            )
        objects.guard(wanted.kind, existing, adopt=self._wanted.adopt, delete=False)
        others = other_content(existing, wanted.name) if record is None else []
        if others:
            raise OwnershipConflict(
                f"{place} also delivers {first_few(others)}",
                "it was not changed; move that to a ClusterResourceSet of its own, or set another set_name",
            )
        changed = [path for path in differences(wanted.body, existing) if path.startswith(IMMUTABLE)]
        if changed:
            raise ConfigurationError(
                f"{place}: {changed[0]} differs, and Cluster API does not allow to change it",
                "delete the ClusterResourceSet with --cascade=orphan, or set another set_name",
            )

    @staticmethod
    def _config_in(secret: dict[str, Any] | None, current: Work) -> Any:
        data = docker_config_in(secret)
        if data is not None:
            current.seen.append(data)
        return parse_any(data)

    def _label(self, guest: GuestCluster, current: Work) -> None:
        outcome = current.outcome
        if not self._dry_run:
            # Without a version: controllers write Clusters all the time, and this changes no other label.
            body = {"metadata": {"labels": {CLUSTER_NAME: guest.name}}}
            self._client.patch(guest.namespace, self._kinds.clusters, guest.name, body, current.deadline)
            note(outcome, "label-cluster", f"Labelled Cluster {guest.name}", namespace=guest.namespace)
        outcome.did("labelled Cluster")
        outcome.differs(f"label {CLUSTER_NAME}", None, guest.name)
        outcome.settle()

    def _report_drift(self, guest: GuestCluster, config: DockerConfig, current: Work) -> None:
        """Look at what the guest holds, which Cluster API does not, if this run may read the guest's kubeconfig."""
        outcome, deadline = current.outcome, Deadline(min(self._settings.api_timeout, _GLANCE))
        try:
            with self._access.open(guest.namespace, guest.name, deadline) as api:
                for namespace in self._wanted.secret_namespaces:
                    wanted = guest_secret(self._wanted, namespace, guest.name, config)
                    existing = api.get(namespace, wanted.kind, wanted.name, deadline)
                    value = docker_config_value(existing or {})
                    current.seen.extend([value] if value is not None else ())
                    if differences(wanted.body, existing):
                        place = api.place(namespace, wanted.kind, wanted.name)
                        outcome.warn(
                            [
                                f"{place} is not as it was delivered, and Cluster API does not repair it; {_REPAIR}"
                            ]
                        )
        except (NotFound, PermissionDenied):
            pass
        except PullSecretError as error:
            outcome.warn([f"what the guest holds is not known: {error.message}"])

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
