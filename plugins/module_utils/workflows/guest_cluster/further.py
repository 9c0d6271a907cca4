# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Applies, compares and deletes the objects of one guest that are no pull secrets.

Only the API server knows what a manifest of any kind means, so it applies them (server-side apply), and says what
would change.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ...clients.kubernetes.client import KubernetesClient
from ...clients.kubernetes.errors import Overtaken
from ...model.errors import ConfigurationError, NotFound
from ...model.guest_cluster import OBJECT_OF, FurtherObject, ObjectAddress
from ...model.naming import owner_problem
from ...places.kubernetes_secret.owned_objects import OwnedObjects
from ...places.kubernetes_secret.target import is_being_deleted
from ...places.writing import note
from ...runtime.retry import Deadline
from ..run import Work
from .desired import check_delivery
from .guest_run import GuestRun

__all__ = ["FurtherObjects", "GuestKinds"]

_Object = dict[str, Any]
_NOTED = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid")


class FurtherObjects:
    """Those of one guest.

    :param api: the guest's client.
    :param cluster: the Cluster's name.
    """

    def __init__(self, run: GuestRun, api: KubernetesClient, cluster: str, current: Work) -> None:
        self._run = run
        self._api = api
        self._kinds = GuestKinds(api)
        self._cluster = cluster
        self._current = current
        self.new_namespaces: set[str] = set()
        """Those that check mode would create."""

    def put(self, wanted: FurtherObject, mark: str) -> tuple[bool, str]:
        """Apply an object, and return whether it was repaired, and its new mark.

        :param mark: of what the last run applied.
        :raises ConfigurationError: the guest does not serve its kind.
        :raises OwnershipConflict: it belongs to another owner, or to another delivery.
        """
        address, outcome = wanted.address, self._current.outcome
        kind = self._kinds.plural(address, self._current.deadline)
        objects, dry_run = self._objects(address), self._run.dry_run
        unanswered: list[_Object] = []

        def write(_fresh: bool) -> tuple[bool, str, str]:
            existing = objects.get(kind, address.name)
            # A write whose answer is lost has taken effect by the next look.
            before = unanswered[0] if unanswered else existing
            if existing is None and address.namespace in self.new_namespaces:
                outcome.did(f"created {address.kind.lower()}")
                return True, "", ""
            manifest = dict(wanted.manifest)
            if existing is not None:
                self._guard(objects, kind, existing)
                version = existing["metadata"]["resourceVersion"]
                manifest["metadata"] = {**manifest["metadata"], "resourceVersion": version}
            try:
                answer = self._api.apply(
                    address.namespace, kind, manifest, self._current.deadline, dry_run=dry_run
                )
            except Overtaken as error:
                if error.unsure and existing is not None:
                    unanswered.append(existing)
                raise
            changed = _changed(before, answer) if before is not None else []
            for name in changed:
                outcome.differs(f"{address} {name}", "as it was", "as wanted")
            is_changed = before is None or bool(changed)
            if is_changed:
                outcome.did(f"{'created' if before is None else 'updated'} {address.kind.lower()}")
            if is_changed and not dry_run:
                note(outcome, f"apply-{address.kind.lower()}", f"Applied {address}")
            if before is None and address.is_namespace and dry_run:
                self.new_namespaces.add(address.name)
            # Check mode does not know the next version.
            after = "new" if is_changed and dry_run else _version(answer)
            return is_changed, _version(before), after

        is_changed, before, after = self._run.retry(self._current, write)
        if address.is_secret:
            # No digest of a value, on which anybody could try others.
            return is_changed and mark not in ("", before), after
        digest = hashlib.sha256(json.dumps(wanted.manifest, sort_keys=True).encode()).hexdigest()[:16]
        return is_changed and mark == digest, digest

    def delete(self, address: ObjectAddress) -> bool:
        """Delete an object of this delivery. One that was refused, or is another owner's by now, is forgotten.

        :returns: whether it is gone; otherwise it ends later.
        """
        outcome, objects = self._current.outcome, self._objects(address)
        try:
            kind = self._kinds.plural_in_any_version(address, self._current.deadline)
        except ConfigurationError as error:
            outcome.warn([f"{error.message}, so it was not deleted"])
            return True

        def delete(_fresh: bool) -> bool:
            existing = objects.get(kind, address.name)
            if existing is None:
                return True
            labels = existing["metadata"].get("labels") or {}
            if labels.get(OBJECT_OF) != self._run.wanted.set_name or owner_problem(labels, self._cluster):
                outcome.warn([f"{address} is left alone, since it is not of this delivery"])
                return True
            if address.stays:
                outcome.warn(
                    [f"{address} stays, since what depends on it would go with it; delete it yourself"]
                )
                self._release(address, kind, existing)
                return True
            # The default of a Job's API would leave its pods.
            objects.delete(kind, existing, propagation="Background")
            after = existing if self._run.dry_run else objects.get(kind, address.name)
            if after is None or after["metadata"]["uid"] != existing["metadata"]["uid"]:
                return True
            # In check mode it is still there, whatever would become of it.
            is_waiting = bool(after["metadata"].get("finalizers")) or is_being_deleted(after)
            return self._run.dry_run and not is_waiting

        return self._run.retry(self._current, delete)

    def _release(self, address: ObjectAddress, kind: str, existing: _Object) -> None:
        """Take the delivery's name from an object that stays, so that another delivery may have it."""
        self._current.outcome.did(f"released {address.kind.lower()}")
        if not self._run.dry_run:
            version = existing["metadata"]["resourceVersion"]
            body = {"metadata": {"labels": {OBJECT_OF: None}, "resourceVersion": version}}
            self._api.patch(address.namespace, kind, address.name, body, self._current.deadline)

    def _guard(self, objects: OwnedObjects, kind: str, existing: _Object) -> None:
        place = self._api.place(objects.namespace, kind, existing["metadata"]["name"])
        name, remedy = self._run.wanted.set_name, "remove it from the manifests of one of them"
        check_delivery(existing, OBJECT_OF, name, place, remedy)
        objects.guard(kind, existing, adopt=self._run.wanted.adopt, delete=False)
        objects.check_stays(kind, existing)

    def _objects(self, address: ObjectAddress) -> OwnedObjects:
        return self._run.objects(
            address.namespace, self._cluster, self._current, self._api, address.kind.lower()
        )


class GuestKinds:
    """What one guest serves."""

    def __init__(self, api: KubernetesClient) -> None:
        self._api = api
        self._discoveries: dict[str, dict[str, Any]] = {}

    def plural(self, address: ObjectAddress, deadline: Deadline) -> str:
        """Return the plural of a kind with its version.

        :raises ConfigurationError: the guest does not serve it, or the namespace does not fit.
        """
        version = address.api_version
        path = f"{'apis' if '/' in version else 'api'}/{version}"
        for resource in self._discovered(path, deadline).get("resources") or ():
            if resource.get("kind") != address.kind or "/" in resource["name"]:
                continue
            if bool(resource.get("namespaced")) != bool(address.namespace):
                problem = "has no namespace" if address.namespace else "needs a namespace"
                raise ConfigurationError(
                    f"objects: {address}: its kind {problem}", "correct metadata.namespace"
                )
            group, _slash, number = version.rpartition("/")
            return f"{resource['name']}.{number}.{group}" if group else str(resource["name"])
        raise ConfigurationError(
            f"objects: {address}: the guest serves no {address.kind} in {version}",
            "correct apiVersion and kind; if its CustomResourceDefinition was just applied, run again",
        )

    def plural_in_any_version(self, address: ObjectAddress, deadline: Deadline) -> str:
        """Return the plural of a kind. The version of its manifest may be one that the guest serves no more."""
        group = address.api_version.rpartition("/")[0]
        versions = self._discovered(f"apis/{group}", deadline).get("versions") or () if group else ()
        for version in versions:
            try:
                return self.plural(address._replace(api_version=version["groupVersion"]), deadline)
            except ConfigurationError:
                continue
        return self.plural(address, deadline)

    def _discovered(self, path: str, deadline: Deadline) -> dict[str, Any]:
        if path not in self._discoveries:
            try:
                self._discoveries[path] = self._api.discover(path, deadline)
            except NotFound:
                self._discoveries[path] = {}
        return self._discoveries[path]

    def has_drifted(self, wanted: FurtherObject, deadline: Deadline) -> bool:
        """Return whether the guest has an object otherwise than it was delivered. Nothing is written."""
        namespace, name = wanted.address.namespace, wanted.address.name
        kind = self.plural(wanted.address, deadline)
        existing = self._api.get(namespace, kind, name, deadline)
        if existing is None:
            return True
        return bool(
            _changed(existing, self._api.apply(namespace, kind, wanted.manifest, deadline, dry_run=True))
        )


def _changed(existing: _Object, answer: _Object) -> list[str]:
    """Return the names of what differs, besides what the API server and controllers note."""
    before, after = map(_content, (existing, answer))
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def _content(item: _Object) -> _Object:
    metadata = {f"metadata.{name}": value for name, value in item["metadata"].items() if name not in _NOTED}
    return {**{name: value for name, value in item.items() if name not in ("metadata", "status")}, **metadata}


def _version(item: _Object | None) -> str:
    # In check mode, an object that would be created has none.
    return str(item["metadata"].get("resourceVersion") or "") if item is not None else ""
