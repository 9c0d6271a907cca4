# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Delivers to one guest through the guest's own API server, and removes what was delivered.

The guest's record on the host is written before anything in the guest, and deleted after everything there. A run
may be killed anywhere, and the next one completes its work.
"""

from __future__ import annotations

from contextlib import ExitStack

from ...clients.kubernetes.client import KubernetesClient
from ...clients.kubernetes.errors import NamespaceEnding, NamespaceMissing
from ...model.errors import NotFound, PullSecretError, TimedOut, Unavailable
from ...model.guest_cluster import GuestPullSecret
from ...places.kubernetes_secret.owned_objects import OwnedObjects
from ...places.reader import Document
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from ..run import Work
from .access import GuestAccess
from .desired import check_cluster_name
from .in_guest import Found, InGuest
from .plan import Delivery, Removal
from .record import GuestRecord

__all__ = ["DirectDelivery"]

# What the guest's API server says while it is being made, or when it is gone.
_NOT_THERE = (NotFound, TimedOut, Unavailable)
_GONE = (NamespaceEnding, NamespaceMissing)


class DirectDelivery:
    """Delivers to many guests. Thread-safe.

    :param client: of the host.
    :param dry_run: check mode: nothing is written.
    """

    def __init__(
        self,
        settings: RunSettings,
        access: GuestAccess,
        client: KubernetesClient,
        wanted: GuestPullSecret,
        *,
        dry_run: bool,
    ) -> None:
        self._settings = settings
        self._access = access
        self._client = client
        self._wanted = wanted
        self._dry_run = dry_run

    def deliver(self, delivery: Delivery, document: Document, current: Work) -> None:
        """Write the record, then the pull secret in each namespace of the guest; prune the others there."""
        guest, outcome = delivery.guest, current.outcome
        if guest.is_deleting:
            outcome.extra.update(state="skipped")
            outcome.warnings.append("left alone: the Cluster is being deleted")
            return
        check_cluster_name(self._client.place(guest.namespace, "clusters", guest.name), guest.name)
        record = self._record(delivery, guest.namespace, guest.name, current)
        was_ready = guest.is_initialized or bool(record.versions)
        patience = current.deadline if was_ready else Deadline(self._settings.api_timeout)
        with ExitStack() as stack:
            try:
                there, ours = self._open(stack, guest.namespace, guest.name, patience, current)
            except _NOT_THERE as error:
                if was_ready:
                    raise
                outcome.extra.update(state="waiting")
                outcome.warnings.append(f"its control plane is not ready: {error.message}")
                return
            self._write(there, ours, record, document, current)

    def remove(self, removal: Removal, current: Work) -> None:
        """Delete what the guest has of this delivery, then the record."""
        record = self._record(removal, removal.namespace, removal.cluster, current)
        # Another record is the Cluster's, and what the guest has is that one's.
        if not removal.is_double:
            patience = current.deadline if removal.has_cluster else Deadline(self._settings.api_timeout)
            with ExitStack() as stack:
                try:
                    there, ours = self._open(stack, removal.namespace, removal.cluster, patience, current)
                except PullSecretError as error:
                    if removal.has_cluster:
                        raise
                    if not isinstance(error, NotFound):
                        current.outcome.warn([f"what it held was not removed: {error.message}"])
                else:
                    self._prune(there, ours, record)
        record.delete()
        current.outcome.extra.update(state="pruned", reason=removal.reason)

    def _open(
        self, stack: ExitStack, namespace: str, cluster: str, patience: Deadline, current: Work
    ) -> tuple[InGuest, Found]:
        api = stack.enter_context(self._access.open(namespace, cluster, current.deadline))
        there = InGuest(self._settings, api, self._wanted, cluster, current, dry_run=self._dry_run)
        return there, there.ours(patience)

    def _write(
        self, there: InGuest, ours: Found, record: GuestRecord, document: Document, current: Work
    ) -> None:
        outcome = current.outcome
        outcome.provenance, outcome.after = document.provenance, document.config
        record.begin()
        known, versions = dict(record.versions), dict(record.versions)
        done: list[str] = []
        failures: list[PullSecretError] = []
        is_repaired = False
        namespaces, is_whole = there.namespaces()
        for namespace in namespaces:
            listed = ours.pop((namespace, self._wanted.secret_name), None)
            try:
                put = there.put(namespace, document.config, listed)
            except TimedOut:
                raise
            except PullSecretError as error:
                # The other namespaces are done all the same. One that was selected may have gone since.
                if namespace in self._wanted.secret_namespaces or not isinstance(error, _GONE):
                    failures.append(error)
                continue
            was_written = known.get(namespace, "").startswith(f"{self._wanted.secret_name}/")
            is_repaired |= put.is_changed and was_written and known[namespace] != put.before
            versions[namespace] = put.after
            done.append(namespace)
        failures += self._link(there, done, record, outcome.warnings)
        # A guest that did not get the new one keeps the old one.
        is_pruned = is_whole and self._wanted.prune and not failures
        if is_pruned:
            self._prune(there, ours, record)
            versions = {namespace: versions[namespace] for namespace in done}
        accounts = frozenset(self._wanted.service_accounts)
        record.end(versions, accounts if is_pruned else accounts | record.accounts)
        if failures:
            more = f"; and {len(failures) - 1} more namespaces failed" if len(failures) > 1 else ""
            failures[0].message += more
            raise failures[0]
        outcome.extra.update(state="repaired" if is_repaired else "delivered")

    def _link(
        self, there: InGuest, namespaces: list[str], record: GuestRecord, warnings: list[str]
    ) -> list[PullSecretError]:
        """Name the Secret in the service accounts, and return the failures."""
        wanted, secret = self._wanted.service_accounts, self._wanted.secret_name
        missing, failures = [], []
        for namespace in namespaces:
            for account in sorted(record.accounts.union(wanted)):
                try:
                    is_there = there.link(namespace, account, secret, present=account in wanted)
                except TimedOut:
                    raise
                except PullSecretError as error:
                    failures.append(error)
                else:
                    missing += [f"{namespace}/{account}"] if account in wanted and not is_there else []
        if missing:
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
            warnings.append(
                f"there is no service account {', '.join(missing[:5])}{more}; a later run links it"
            )
        return failures

    def _prune(self, there: InGuest, ours: Found, record: GuestRecord) -> None:
        for (namespace, name), secret in sorted(ours.items()):
            for account in sorted(record.accounts.union(self._wanted.service_accounts)):
                there.link(namespace, account, name, present=False)
            there.delete(namespace, name, secret)

    def _record(self, of: Delivery | Removal, namespace: str, cluster: str, current: Work) -> GuestRecord:
        objects = OwnedObjects(
            self._client, namespace, cluster, current.outcome, current.deadline, dry_run=self._dry_run
        )
        return GuestRecord(self._settings, objects, self._wanted, (of.set_name, cluster), of.record, current)
