# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Delivers to one guest through the guest's own API server, and removes what was delivered.

The guest's record on the host is written before anything in the guest, and deleted after everything there. A run
may be killed anywhere, and the next one completes its work.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from typing import TypeVar

from ...clients.kubernetes.errors import NamespaceEnding, NamespaceMissing
from ...dockerconfig import DockerConfig
from ...model.errors import NotFound, PullSecretError, TimedOut, Unavailable
from ...model.guest_cluster import FurtherObject, ObjectAddress
from ...model.outcome import Outcome
from ...model.shown import first_few
from ...places.reader import Document
from ...runtime.retry import Deadline
from ..run import Work
from .desired import check_cluster_name, further_objects
from .guest_run import GuestRun
from .in_guest import InGuest, Secrets
from .plan import Delivery, Removal
from .record import GuestRecord
from .recorded import ENDING, Recorded

__all__ = ["DirectDelivery"]

_UNREACHED = (NotFound, TimedOut, Unavailable)
_GONE = (NamespaceEnding, NamespaceMissing)
_NO_NAMESPACE = "no namespace of the guest fits secret_namespace_selector; nothing is removed there"

T = TypeVar("T")


class DirectDelivery:
    """Delivers to many guests. Thread-safe."""

    def __init__(self, run: GuestRun) -> None:
        self._run = run

    def deliver(self, delivery: Delivery, document: Document, current: Work) -> None:
        """Write the record, then the objects of the guest; prune the others there."""
        cluster, outcome = delivery.guest, current.outcome
        check_cluster_name(self._run.host.place(cluster.namespace, "clusters", cluster.name), cluster.name)
        record = GuestRecord(self._run, delivery, cluster.name, current)
        was_ready = cluster.is_initialized or record.recorded.has_secrets
        patience = current.deadline if was_ready else Deadline(self._run.settings.api_timeout)
        with ExitStack() as stack:
            try:
                guest, secrets = self._open(stack, cluster.namespace, cluster.name, patience, current)
            except _UNREACHED as error:
                if was_ready:
                    raise
                outcome.extra.update(state="waiting")
                outcome.warnings.append(f"its control plane is not ready: {error.message}")
                return
            self._write(guest, secrets, record, delivery, document, current)

    def remove(self, removal: Removal, current: Work) -> None:
        """Delete what the guest has of this delivery, then the record."""
        record = GuestRecord(self._run, removal, removal.cluster, current)
        # Another record is the Cluster's, and what the guest has is that one's.
        if not removal.is_double:
            patience = current.deadline if removal.has_cluster else Deadline(self._run.settings.api_timeout)
            with ExitStack() as stack:
                try:
                    guest, secrets = self._open(stack, removal.namespace, removal.cluster, patience, current)
                except PullSecretError as error:
                    if removal.has_cluster:
                        raise
                    if not isinstance(error, NotFound):
                        current.outcome.warn([f"what it held was not removed: {error.message}"])
                else:
                    failures, waiting = self._prune(guest, secrets, record.recorded, [], current.outcome)
                    _raise_first(failures, current)
                    if waiting:
                        ending = dict.fromkeys(waiting, ENDING)
                        record.write(Recorded({}, ending, record.recorded.accounts))
                        current.outcome.extra.update(state="waiting", reason=removal.reason)
                        return
        record.delete()
        current.outcome.extra.update(state="pruned", reason=removal.reason)

    def _open(
        self, stack: ExitStack, namespace: str, cluster: str, patience: Deadline, current: Work
    ) -> tuple[InGuest, Secrets]:
        api = stack.enter_context(self._run.open(namespace, cluster, current.deadline))
        guest = InGuest(self._run, api, cluster, current)
        return guest, guest.secrets(patience)

    def _write(
        self,
        guest: InGuest,
        secrets: Secrets,
        record: GuestRecord,
        delivery: Delivery,
        document: Document,
        current: Work,
    ) -> None:
        wanted, outcome = self._run.wanted, current.outcome
        outcome.provenance, outcome.after = document.provenance, document.config
        objects = further_objects(wanted, delivery.namespace, delivery.guest.name)
        # A pull secret may go to a namespace that is one of the objects.
        early = [further for further in objects if further.address.is_namespace]
        namespaces, is_whole = guest.namespaces()
        addresses = [further.address for further in objects]
        record.write(record.recorded.and_planned(namespaces, addresses, wanted.service_accounts))
        before = record.recorded
        known, marks = dict(before.secrets), dict(before.objects)
        applied: list[ObjectAddress] = []
        failures: list[PullSecretError] = []
        is_repaired = False

        def apply(further: FurtherObject) -> None:
            nonlocal is_repaired
            repaired, marks[further.address] = guest.further.put(further, before.mark(further.address))
            is_repaired |= repaired
            applied.append(further.address)

        failures += _all(apply, early)
        if early:
            namespaces, is_whole = guest.namespaces()
            record.write(before.and_planned(namespaces, addresses, wanted.service_accounts))
            known.update(record.recorded.secrets)
        written, repaired, failed = self._put_secrets(guest, namespaces, secrets, document.config, known)
        is_repaired |= repaired
        failures += failed
        failures += _all(apply, [further for further in objects if further not in early])
        failures += self._link(guest, written, before.accounts, outcome.warnings)
        # A guest that did not get the new one keeps the old one.
        is_pruned = is_whole and wanted.prune and not failures
        if not is_whole:
            outcome.warn([_NO_NAMESPACE])
        kept = self._kept(before, applied, outcome)
        # A Secret that was an object may be the pull secret now.
        pull_secrets = [ObjectAddress("v1", "Secret", namespace, wanted.secret_name) for namespace in written]
        waiting: list[ObjectAddress] = []
        if is_pruned:
            failures, waiting = self._prune(guest, secrets, before, [*kept, *pull_secrets], outcome)
        if is_pruned := is_pruned and not failures:
            known = {namespace: known[namespace] for namespace in written}
            marks = {
                address: ENDING if address in waiting else marks[address]
                for address in before.in_order(addresses)
                if address in waiting or address in kept
            }
        accounts = frozenset(wanted.service_accounts)
        record.write(Recorded(known, marks, accounts if is_pruned else accounts | before.accounts))
        _raise_first(failures, current)
        outcome.extra.update(state="waiting" if waiting else "repaired" if is_repaired else "delivered")

    def _kept(self, before: Recorded, applied: list[ObjectAddress], outcome: Outcome) -> list[ObjectAddress]:
        """Return the objects that the guest keeps: those that were applied, and perhaps all others."""
        is_forgotten = self._run.wanted.manifests is None
        if not is_forgotten and not self._run.keeps_objects:
            return applied
        kept = [*before.without(applied, lasting=True), *applied]
        if is_forgotten and kept:
            names = first_few([str(address) for address in kept])
            outcome.warn([f"without the option objects, the guest keeps {names}; an empty list deletes that"])
        return kept

    def _put_secrets(
        self,
        guest: InGuest,
        namespaces: Iterable[str],
        secrets: Secrets,
        config: DockerConfig,
        known: dict[str, str],
    ) -> tuple[list[str], bool, list[PullSecretError]]:
        """Write the pull secret in each namespace.

        :param secrets: those that the guest has; the wanted ones are taken out of it.
        :param known: what is recorded of each namespace, which is brought up to date.
        :returns: the namespaces that have it now, whether one was repaired, and the failures.
        """
        wanted, is_repaired = self._run.wanted, False
        written: list[str] = []
        failures: list[PullSecretError] = []
        for namespace in namespaces:
            listed = secrets.pop((namespace, wanted.secret_name), None)
            try:
                before, after = guest.put(namespace, config, listed)
            except TimedOut:
                raise
            except PullSecretError as error:
                # The other namespaces are done all the same. One that was selected may have gone since.
                if namespace in wanted.secret_namespaces or not isinstance(error, _GONE):
                    failures.append(error)
                continue
            was_written = known.get(namespace, "").startswith(f"{wanted.secret_name}/")
            is_repaired |= before != after and was_written and known[namespace] != before
            known[namespace] = after
            written.append(namespace)
        return written, is_repaired, failures

    def _link(
        self, guest: InGuest, namespaces: list[str], linked: frozenset[str], warnings: list[str]
    ) -> list[PullSecretError]:
        """Name the Secret in the service accounts, and return the failures.

        :param linked: the accounts that name it so far.
        """
        wanted, secret = self._run.wanted.service_accounts, self._run.wanted.secret_name
        missing = []

        def link(account: tuple[str, str]) -> None:
            namespace, name = account
            if not guest.link(namespace, name, secret, present=name in wanted) and name in wanted:
                missing.append(f"{namespace}/{name}")

        names = sorted(linked.union(wanted))
        failures = _all(link, [(namespace, name) for namespace in namespaces for name in names])
        if missing:
            warnings.append(f"there is no service account {first_few(missing)}; a later run links it")
        return failures

    def _prune(
        self,
        guest: InGuest,
        secrets: Secrets,
        recorded: Recorded,
        kept: Collection[ObjectAddress],
        outcome: Outcome,
    ) -> tuple[list[PullSecretError], list[ObjectAddress]]:
        """Delete what is recorded of the guest, but for the objects that are kept.

        :param secrets: the pull secrets that the guest has and that are not written.
        :returns: the failures, and the objects that are not deleted yet.
        """
        accounts = sorted(recorded.accounts.union(self._run.wanted.service_accounts))

        def delete(place: tuple[str, str]) -> None:
            namespace, name = place
            for account in accounts:
                guest.link(namespace, account, name, present=False)
            if place in secrets:
                guest.delete(namespace, name, secrets[place])

        # Others copy Secrets, with their labels, to namespaces that have no record.
        names = {(namespace, name.partition("/")[0]) for namespace, name in recorded.secrets.items() if name}
        places = names.union(place for place in secrets if place[0] in recorded.secrets)
        stay = {address.identity for address in kept}
        failures = _all(delete, sorted(place for place in places if ("", "Secret", *place) not in stay))
        doomed, waiting = recorded.to_delete(kept), list[ObjectAddress]()
        while doomed and (not waiting or doomed[0].ends_beside(waiting[0])):
            try:
                if not guest.further.delete(doomed[0]):
                    waiting.append(doomed[0])
            except TimedOut:
                raise
            except PullSecretError as error:
                failures.append(error)
                break
            del doomed[0]
        if waiting:
            shown = first_few([str(address) for address in waiting])
            later = "; a later run deletes what was applied before" if doomed else ""
            outcome.warn([f"not gone yet: {shown}{later}"])
            waiting += doomed
        return failures, [address for address in recorded.objects if address in waiting]


def _all(do: Callable[[T], None], items: Iterable[T]) -> list[PullSecretError]:
    """Do something with every item, and return the failures. The time of a guest ends all."""
    failures = []
    for item in items:
        try:
            do(item)
        except TimedOut:
            raise
        except PullSecretError as error:
            failures.append(error)
    return failures


def _raise_first(failures: Sequence[PullSecretError], current: Work) -> None:
    """Raise the first of several failures, and warn of the others."""
    if failures[1:]:
        others = first_few([failure.message for failure in failures[1:]])
        current.outcome.warn([current.mask().text(f"also failed: {others}")])
    if failures:
        raise failures[0]
