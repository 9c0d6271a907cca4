# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes docker configs to secrets in Secret Manager.

It is the first phase of the job contract: get or create with labels, add a version, verify. Beyond the
contract, it adds no version without a change of meaning, checks the owner, adds one version even with two
runs at once, and handles an add without a response.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...clients.google.client import SecretManagerClient, SecretManagerClients
from ...clients.google.errors import FailedPrecondition, SecretAlreadyExists
from ...dockerconfig import DockerConfig, DockerConfigError, load
from ...model.errors import Conflict, InvalidDocument, NotFound, PermissionDenied, PullSecretError
from ...model.outcome import VERSION_ADDED, Outcome, restored_from
from ...model.ownership import foreign
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from ..secret_store import StoreWriter
from ..writing import note
from .adding import VersionAddition
from .claim import ANNOTATION, Claim
from .conflict_retry import retry_on_conflict
from .desired import DesiredVersion
from .listing import SecretManagerListing
from .replicas import replication_warning
from .restoring import Restoration
from .retention import apply_retention
from .target import MAX_PAYLOAD, SecretManagerTarget, metadata_changes, new_secret_manager_secret

__all__ = ["SecretManagerWriter"]


class SecretManagerWriter(StoreWriter[SecretManagerTarget]):
    """Writes many targets. Thread-safe.

    :param dry_run: check mode: everything is read, nothing is written.
    """

    def __init__(
        self, settings: RunSettings, clients: SecretManagerClients, *, dry_run: bool = False
    ) -> None:
        self._settings = settings
        self._clients = clients
        self._dry_run = dry_run
        self._owner = Claim.new_owner()
        self._listing = SecretManagerListing(settings, clients)

    def prepare(self, targets: Sequence[SecretManagerTarget]) -> None:
        """Read the metadata of all of a project's secrets in one LIST, if that saves requests."""
        self._listing.prepare(targets)

    def put(
        self,
        target: SecretManagerTarget,
        config: DockerConfig,
        outcome: Outcome,
        deadline: Deadline,
    ) -> None:
        """Make the newest enabled version hold ``config``; what was done is written to ``outcome``."""
        self._put(target, config, outcome, deadline, VERSION_ADDED)

    def _put(
        self,
        target: SecretManagerTarget,
        config: DockerConfig,
        outcome: Outcome,
        deadline: Deadline,
        action: str,
    ) -> None:
        if len(config.canonical()) > MAX_PAYLOAD:
            raise InvalidDocument(
                f"the docker config has {len(config.canonical())} bytes, and a version in Secret Manager "
                f"can hold {MAX_PAYLOAD}",
                "remove registries that the cluster does not need, with drop for example",
            )
        outcome.after = config
        client = self._clients.get(deadline, target.impersonate)
        desired = DesiredVersion(client, target, config, outcome, deadline, action)
        addition = VersionAddition(desired, self._settings, self._owner)
        try:
            retry_on_conflict(
                self._settings, deadline, lambda fresh: self._put_once(desired, addition, fresh)
            )
        except PullSecretError:
            addition.release()
            raise
        if target.retention is not None:
            apply_retention(client, target.name, target.retention, outcome, deadline, dry_run=self._dry_run)

    def restore(
        self,
        target: SecretManagerTarget,
        version: str,
        outcome: Outcome,
        deadline: Deadline,
        seen: list[bytes],
    ) -> None:
        """Make the newest enabled version hold the content of an older one.

        :param seen: receives the document as it was read.
        """
        client = self._clients.get(deadline, target.impersonate)
        restoration = self._restoration(client, target, outcome, deadline)

        def once(_fresh: bool) -> None:
            secret = client.get_secret(target.name, deadline)
            self._guard(target, secret)
            seen.append(restoration.read(secret, version))

        retry_on_conflict(self._settings, deadline, once)
        try:
            config = load(seen[-1])
        except DockerConfigError as error:
            raise InvalidDocument(f"version {version} of {target.name}: {error}") from None
        outcome.provenance = dict.fromkeys(config.registries, f"version {version}")
        self._put(target, config, outcome, deadline, restored_from(version))

    def delete(self, target: SecretManagerTarget, outcome: Outcome, deadline: Deadline) -> None:
        """Delete the secret with all its versions; a secret that is not ours is refused."""
        client = self._clients.get(deadline, target.impersonate)

        def once(fresh: bool) -> None:
            known = None if fresh else self._listing.secret(target)
            # The LIST shows only ours: a secret that is not in it may be another owner's, which must be
            # reported.
            secret = known if known is not None else client.get_secret(target.name, deadline)
            if secret is None:
                self._confirm_absent(client, target, deadline)
                return
            self._guard(target, secret, fresh, delete=True)
            outcome.restart()
            outcome.did("deleted")
            outcome.metadata_before = {f"label {k}": v for k, v in secret.labels.items()}
            if self._dry_run:
                return
            try:
                deleted = client.delete_secret(target.name, secret.etag, deadline)
            except FailedPrecondition as error:
                raise Conflict(error.message) from None
            if not deleted:
                # It was already deleted, and the metadata were stale.
                outcome.restart()
                outcome.metadata_before = {}
                return
            outcome.settle()
            note(outcome, "delete-secret", f"Deleted secret {target.name}")

        retry_on_conflict(self._settings, deadline, once)

    # -- steps ----------------------------------------------------------------------------------

    def _secret(
        self, client: SecretManagerClient, target: SecretManagerTarget, deadline: Deadline, fresh: bool
    ) -> Any:
        if not fresh:
            known = self._listing.secret(target)
            # Not among ours: most likely it does not exist, and CreateSecret is atomic. Check mode creates
            # nothing, so the secret must be read.
            if known is not None or (self._listing.covers(target) and not self._dry_run):
                return known
        return client.get_secret(target.name, deadline)

    def _guard(
        self, target: SecretManagerTarget, secret: Any, fresh: bool = True, *, delete: bool = False
    ) -> None:
        """Refuse a secret of another owner; it may be adopted only by a write."""
        if secret is None:
            raise NotFound(f"{target.name} does not exist")
        refusal = foreign(
            secret.labels,
            target.cluster_id,
            target.name,
            adopt=target.adopt,
            delete=delete,
            name_key="secret_name",
        )
        if refusal is None:
            return
        if not fresh:
            raise Conflict(f"according to the list, which may be out of date, {refusal.message}")
        raise refusal

    def _confirm_absent(
        self, client: SecretManagerClient, target: SecretManagerTarget, deadline: Deadline
    ) -> None:
        """Confirm that a secret does not exist: metadata may be too old to show it, access by number is
        always current.

        A secret without a version cannot be told from a missing one. It holds no pull secret.

        :raises Conflict: the secret exists.
        """
        try:
            client.access(f"{target.name}/versions/1", deadline)
        except (NotFound, PermissionDenied):
            # A caller who may only delete secrets relies on the metadata.
            return
        except FailedPrecondition:
            # The version is not enabled, or its key is not.
            pass
        raise Conflict(f"{target.name} exists, but its metadata are not visible yet")

    def _restoration(
        self, client: SecretManagerClient, target: SecretManagerTarget, outcome: Outcome, deadline: Deadline
    ) -> Restoration:
        return Restoration(client, target.name, outcome, deadline, dry_run=self._dry_run)

    def _put_once(self, desired: DesiredVersion, addition: VersionAddition, fresh: bool) -> None:
        target, outcome = desired.target, desired.outcome
        outcome.restart()
        secret = self._secret(desired.client, target, desired.deadline, fresh)
        if secret is None:
            outcome.did("created")
            if self._dry_run:
                outcome.did(desired.action)
                return
            claim = addition.claim(None, 0)
            with addition.writing():
                self._create(desired, claim)
        else:
            self._guard(target, secret, fresh)
            warning = replication_warning(target.replication, secret)
            if warning is not None and warning not in outcome.warnings:
                outcome.warnings.append(warning)
                outcome.extra["replication_differs"] = True
            secret = self._restoration(desired.client, target, outcome, desired.deadline).end(secret)
            base = desired.read_newest(Claim.version_of(secret.annotations.get(ANNOTATION)))
            if desired.is_held():
                self._update_metadata(desired, secret)
                return
            if self._dry_run:
                self._update_metadata(desired, secret)
                outcome.did(desired.action)
                outcome.version = None
                return
            claim = addition.claim(secret, base)
            with addition.writing():
                self._update_metadata(desired, secret, claim)
        outcome.version = addition.add(claim)

    def _create(self, desired: DesiredVersion, claim: Claim) -> None:
        target = desired.target
        try:
            desired.client.create_secret(
                target.project,
                target.secret,
                new_secret_manager_secret(target, {ANNOTATION: str(claim)}),
                desired.deadline,
            )
        except SecretAlreadyExists:
            # Another run, our own earlier attempt, or a LIST that did not show it.
            raise Conflict(f"{target.name} was created by another run") from None
        desired.outcome.settle()
        desired.note("create-secret", f"Created secret {target.name}")

    def _update_metadata(self, desired: DesiredVersion, secret: Any, claim: Claim | None = None) -> None:
        target, outcome = desired.target, desired.outcome
        changes = metadata_changes(target, secret, outcome)
        if self._dry_run or (changes is None and claim is None):
            return
        sent = changes or {"labels": dict(secret.labels), "annotations": dict(secret.annotations)}
        if claim is not None:
            sent["annotations"][ANNOTATION] = str(claim)
        try:
            desired.client.update_secret(target.name, sent, secret.etag, desired.deadline)
        except (FailedPrecondition, NotFound) as error:
            # Changed or deleted since; the response that was read may have been even older.
            raise Conflict(error.message) from None
        except PullSecretError as error:
            if error.retryable:
                # It may have happened: then the next attempt finds nothing to do, and the change was ours.
                outcome.settle()
            raise
        outcome.settle()
        if changes is not None:
            desired.note("update-secret", f"Updated labels or annotations of {target.name}")
