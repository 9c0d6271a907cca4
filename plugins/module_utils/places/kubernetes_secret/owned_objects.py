# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Handles one object at a time: read, check the owner, compare meaning, write the difference, check the
answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...clients.kubernetes.client import KubernetesClient
from ...clients.kubernetes.paths import api_version_of, plural_of
from ...model.errors import DependencyMissing, VerificationFailed
from ...model.naming import owner_problem
from ...model.outcome import Outcome
from ...model.ownership import OTHERS_HINT, controller_warnings, foreign
from ...runtime.retry import Deadline
from ..writing import note
from .compare import differences, merge_patch, without_empty_values
from .target import delete_preconditions, is_being_deleted

__all__ = ["KINDS", "DesiredObject", "OwnedObjects"]

_Object = dict[str, Any]
_SHARED = ("configmaps", "leases")
# A Node has some 20 kB. All pages that a run holds at one time must fit into its memory.
_PAGE = 100
_LARGEST = 16 * 1024 * 1024


# Plural to apiVersion and kind.
KINDS = {
    "configmaps": ("v1", "ConfigMap"),
    "daemonsets": ("apps/v1", "DaemonSet"),
    "leases": ("coordination.k8s.io/v1", "Lease"),
    "rolebindings": ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    "roles": ("rbac.authorization.k8s.io/v1", "Role"),
    "secrets": ("v1", "Secret"),
    "serviceaccounts": ("v1", "ServiceAccount"),
}


@dataclass(frozen=True)
class DesiredObject:
    """One wanted object.

    :param body: what is compared and written, including ``metadata``.
    :param fixed: immutable fields; an object that differs there is replaced.
    :param initial: further values of a new object, which others may change later.
    :param api_kind: the kind, if ``kind`` is a plural with its API version.
    """

    kind: str
    name: str
    body: Mapping[str, Any]
    fixed: Sequence[str] = ()
    initial: Mapping[str, Any] | None = None
    api_kind: str | None = None

    @property
    def type(self) -> dict[str, Any]:
        """The members ``apiVersion`` and ``kind``, which the API server leaves out in lists."""
        version, kind = KINDS.get(self.kind) or (api_version_of(self.kind), self.api_kind)
        return {"apiVersion": version, "kind": kind}


class OwnedObjects:
    """The objects of one namespace that belong to one cluster.

    :param dry_run: check mode: nothing is written.
    :param waits: whether a missing namespace is waited for.
    :param others_hint: what to do about an object of another cluster.
    :param shown: what an object is called in actions; its kind by default.
    """

    def __init__(
        self,
        client: KubernetesClient,
        namespace: str,
        cluster_id: str,
        outcome: Outcome,
        deadline: Deadline,
        *,
        dry_run: bool,
        waits: bool = True,
        others_hint: str = OTHERS_HINT,
        shown: str | None = None,
    ) -> None:
        self.client = client
        self.namespace = namespace
        self.dry_run = dry_run
        self.deadline = deadline
        self._cluster_id = cluster_id
        self._outcome = outcome
        self._waits = waits
        self._others_hint = others_hint
        self._shown = shown

    def get(self, kind: str, name: str) -> _Object | None:
        """The object, or None."""
        return self.client.get(self.namespace, kind, name, self.deadline)

    def every(
        self, kind: str, namespace: str | None = None, *, metadata_only: bool = True
    ) -> Iterator[_Object]:
        """Yield every object of a kind, some at a time: the tenant may create many large ones."""
        return self.client.list_all(
            kind,
            "",
            self.deadline,
            namespace,
            page=_PAGE,
            largest=_LARGEST,
            metadata_only=metadata_only,
        )

    def guard(self, kind: str, there: Mapping[str, Any], *, adopt: bool, delete: bool) -> None:
        """:raises OwnershipConflict: it belongs to another owner."""
        metadata = there["metadata"]
        place = self.client.place(self.namespace, kind, metadata["name"])
        labels = metadata.get("labels") or {}
        refusal = foreign(
            labels, self._cluster_id, place, adopt=adopt, delete=delete, others_hint=self._others_hint
        )
        if refusal is not None:
            raise refusal
        if delete or owner_problem(labels, self._cluster_id) is not None:
            warnings = controller_warnings(metadata, delete=delete)
            self._outcome.warn(f"{place}: {warning}" for warning in warnings)

    def apply(self, wanted: DesiredObject, there: _Object | None) -> _Object | None:
        """Write the object if it differs, and return it as it is now (in check mode: as it was).

        :raises Overtaken: another client was faster.
        """
        what = self._what(wanted.kind)
        if there is None:
            self._outcome.did(f"created {what}")
            return self._create(wanted, None)
        self.check_stays(wanted.kind, there)
        paths = differences(wanted.body, there)
        if not paths:
            return there
        for path in paths:
            # A foreign value may be anything. Only the paths of differences are shown.
            self._outcome.differs(f"{wanted.kind}/{wanted.name} {path}", "as it was", "as wanted")
        if self._replaced(wanted, there, paths):
            self._outcome.did(f"replaced {what}")
            if self.dry_run:
                return there
            self.client.delete(
                self.namespace, wanted.kind, wanted.name, delete_preconditions(there), self.deadline
            )
            return self._create(wanted, there)
        self._outcome.did(f"updated {what}")
        if self.dry_run:
            return there
        patch = merge_patch(wanted.body, there)
        version = there["metadata"]["resourceVersion"]
        patch["metadata"] = {**(patch.get("metadata") or {}), "resourceVersion": version}
        answer = self.client.patch(self.namespace, wanted.kind, wanted.name, patch, self.deadline)
        return self._written(wanted, answer, "update")

    def check_stays(self, kind: str, existing: _Object) -> None:
        """:raises DependencyMissing: it is being deleted."""
        if is_being_deleted(existing):
            raise DependencyMissing(
                f"{self.client.place(self.namespace, kind, existing['metadata']['name'])} is being deleted",
                "the next run creates it again when its finalizers are done",
            )

    def remove(self, kind: str, name: str, listed: _Object | None) -> None:
        """Delete an object of this cluster, if it exists.

        :param listed: the object as it was read; None: it is read now.
        :raises OwnershipConflict: it belongs to another owner.
        """
        existing = listed or self.get(kind, name)
        if existing is not None:
            self.guard(kind, existing, adopt=False, delete=True)
            self.delete(kind, existing)

    def delete(self, kind: str, existing: _Object, *, propagation: str | None = None) -> None:
        """Delete the object that was read. An object that waits for its finalizers counts as deleted."""
        if is_being_deleted(existing):
            return
        name = existing["metadata"]["name"]
        self._outcome.did(f"deleted {self._what(kind)}")
        if self.dry_run:
            return
        precondition = delete_preconditions(existing)
        if kind in _SHARED:
            # The syncers write these until they end.
            del precondition["resourceVersion"]
        self.client.delete(self.namespace, kind, name, precondition, self.deadline, propagation=propagation)
        self._outcome.settle()
        note(self._outcome, f"delete-{self._shown or kind}", f"Deleted {name}", namespace=self.namespace)

    def _create(self, wanted: DesiredObject, old: _Object | None) -> _Object | None:
        if self.dry_run:
            return None
        body = {
            **wanted.type,
            **(without_empty_values(wanted.body) or {}),
            **(wanted.initial or {}),
        }
        if old is not None:
            for part in ("labels", "annotations"):
                merged = {**(old["metadata"].get(part) or {}), **(wanted.body["metadata"].get(part) or {})}
                body["metadata"][part] = without_empty_values(merged)
        answer = self.client.create(self.namespace, wanted.kind, body, self.deadline, waits=self._waits)
        return self._written(wanted, answer, "create")

    def _written(self, wanted: DesiredObject, answer: _Object, verb: str) -> _Object:
        # The answer to a write is the object as the server stored it, so no second read is needed.
        wrong = differences(wanted.body, answer)
        if wrong:
            place = self.client.place(self.namespace, wanted.kind, wanted.name)
            raise VerificationFailed(
                f"{place} does not hold what was written: {', '.join(wrong[:5])}",
                "an admission webhook may change it",
            )
        self._outcome.settle()
        note(self._outcome, f"{verb}-{wanted.kind}", f"Wrote {wanted.name}", namespace=self.namespace)
        return answer

    @staticmethod
    def _replaced(wanted: DesiredObject, there: Mapping[str, Any], paths: list[str]) -> bool:
        if there.get("immutable") and any(not path.startswith("metadata") for path in paths):
            return True
        return any(path == field or path.startswith(f"{field}.") for path in paths for field in wanted.fixed)

    def _what(self, kind: str) -> str:
        return self._shown or (kind if kind == "leases" else plural_of(kind)[:-1])
