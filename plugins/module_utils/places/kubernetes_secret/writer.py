# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes a docker config to a Secret in the management cluster.

It is the second phase of the job contract, with optimistic concurrency: every write names the resourceVersion
(or the uid) that was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...clients.kubernetes.client import KubernetesClient, KubernetesClients
from ...model.errors import DependencyMissing
from ...model.naming import owner_problem
from ...model.outcome import Outcome
from ...model.ownership import controller_warnings, foreign
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from ..writing import note, parse_any, parse_held, same_meaning
from .conflict_retry import retry_when_overtaken
from .content import ContentChoice, SecretContent
from .listing import KubernetesSecretListing
from .replacing import SecretReplacement
from .service_accounts import link_service_account
from .target import (
    APPLIED_REMOVED,
    KEY,
    TYPE,
    KubernetesTarget,
    applied_values,
    delete_preconditions,
    docker_config_value,
    encode_docker_config,
    has_last_applied,
    is_being_deleted,
    is_version_only,
    metadata_patch,
    new_kubernetes_secret,
    replacement,
    verify_written,
)

__all__ = ["KubernetesWriter"]


class KubernetesWriter:
    """Writes many targets. Thread-safe.

    :param dry_run: check mode: everything is read, nothing is written.
    """

    def __init__(self, settings: RunSettings, clients: KubernetesClients, *, dry_run: bool = False) -> None:
        self._settings = settings
        self._clients = clients
        self._dry_run = dry_run
        self._listing = KubernetesSecretListing(settings, clients)

    def prepare(self, targets: Sequence[KubernetesTarget]) -> None:
        """Read all of a cluster's secrets in one LIST, if that saves requests and is permitted."""
        self._listing.prepare(targets)

    def put(
        self,
        target: KubernetesTarget,
        choice: ContentChoice,
        outcome: Outcome,
        deadline: Deadline,
        documents_read: list[bytes],
    ) -> SecretContent:
        """Write the chosen content to the Secret and return it; what was done is written to ``outcome``.

        :param documents_read: receives what the Secret holds besides it.
        """
        client = self._clients.get(deadline, target.context, target.kubeconfig)
        replacing = SecretReplacement(client, target, outcome, deadline)
        chosen: list[SecretContent] = []
        retry_when_overtaken(
            self._settings,
            outcome,
            deadline,
            lambda fresh: chosen.append(
                self._put_once(client, target, choice, outcome, deadline, fresh, replacing, documents_read)
            ),
        )
        outcome.settle()
        for account in target.service_accounts:
            self._link(client, target, account, outcome, deadline, present=True)
        return chosen[-1]

    def delete(self, target: KubernetesTarget, outcome: Outcome, deadline: Deadline) -> None:
        """Delete the Secret and its entries in the service accounts; a Secret that is not ours is refused."""
        client = self._clients.get(deadline, target.context, target.kubeconfig)

        def once(fresh: bool) -> None:
            outcome.restart()
            secret = self._secret(client, target, deadline, fresh, sure=True)
            if secret is None:
                return
            self._guard(target, secret, outcome, delete=True)
            if is_being_deleted(secret):
                # Deleted already; its finalizers belong to others.
                return
            outcome.did("deleted")
            outcome.before = parse_any(docker_config_value(secret))
            for label, value in (secret["metadata"].get("labels") or {}).items():
                outcome.differs(f"label {label}", value, None)
            if not self._dry_run:
                client.delete(
                    target.namespace, "secrets", target.name, delete_preconditions(secret), deadline
                )
                self._note(outcome, target, "delete-secret", "Deleted Kubernetes secret")

        if target.service_accounts:
            # Nothing at all is written if the secret is not ours.
            secret = self._secret(client, target, deadline, False, sure=True)
            if secret is not None:
                self._guard(target, secret, outcome, delete=True)
        # The entries first: a service account must not name a deleted secret.
        for account in target.service_accounts:
            self._link(client, target, account, outcome, deadline, present=False)
        outcome.settle()
        retry_when_overtaken(self._settings, outcome, deadline, once)

    # -- steps ----------------------------------------------------------------------------------

    def _secret(
        self,
        client: KubernetesClient,
        target: KubernetesTarget,
        deadline: Deadline,
        fresh: bool,
        *,
        sure: bool = False,
    ) -> dict[str, Any] | None:
        """Return the Secret, if possible from the LIST.

        :param sure: None must mean that nothing exists, not only nothing of ours.
        """
        if not fresh:
            found = self._listing.secret(target)
            # Not among ours: most likely it does not exist, and a create is atomic. Check mode creates
            # nothing, so the Secret must be read.
            if found is not None or (self._listing.covers(target) and not (sure or self._dry_run)):
                return found
        return client.get(target.namespace, "secrets", target.name, deadline)

    def _lasting(
        self, client: KubernetesClient, target: KubernetesTarget, deadline: Deadline, fresh: bool
    ) -> dict[str, Any] | None:
        """Return the secret, or None; wait for the end of a deletion."""
        secret = self._secret(client, target, deadline, fresh)
        if secret is None or not is_being_deleted(secret):
            return secret
        if self._dry_run:
            return None

        def read(_timeout: float) -> dict[str, Any] | None:
            found = client.get(target.namespace, "secrets", target.name, deadline)
            if found is not None and is_being_deleted(found):
                raise DependencyMissing(
                    f"{client.place(target.namespace, 'secrets', target.name)} is being deleted and waits "
                    f"for its finalizers {', '.join(found['metadata'].get('finalizers') or ())}",
                    "wait for their controllers, or remove the finalizers",
                )
            return found

        return self._settings.retrier.call(read, deadline=deadline, api_timeout=self._settings.api_timeout)

    def _guard(
        self, target: KubernetesTarget, secret: Mapping[str, Any], outcome: Outcome, *, delete: bool = False
    ) -> bool:
        """Return whether the secret must be adopted. Refuse another owner's, which only a write may adopt."""
        labels = secret["metadata"].get("labels") or {}
        refusal = foreign(
            labels,
            target.cluster_id,
            outcome.place,
            adopt=target.adopt,
            delete=delete,
            name_key="k8s_secret_name",
        )
        if refusal is not None:
            raise refusal
        adopted = owner_problem(labels, target.cluster_id) is not None
        if adopted or delete:
            outcome.warn(controller_warnings(secret["metadata"], delete=delete))
        return adopted

    def _put_once(
        self,
        client: KubernetesClient,
        target: KubernetesTarget,
        choice: ContentChoice,
        outcome: Outcome,
        deadline: Deadline,
        fresh: bool,
        replacing: SecretReplacement,
        documents_read: list[bytes],
    ) -> SecretContent:
        outcome.restart()
        secret = self._lasting(client, target, deadline, fresh)
        if secret is None:
            return replacing.finish() or self._create(client, target, choice.content(None), outcome, deadline)

        replacing.forget()
        documents_read.extend(applied_values(secret))
        adopted = self._guard(target, secret, outcome)
        content = choice.content(secret)
        config = content.config
        self._tell(outcome, content)
        outcome.before = parse_held(docker_config_value(secret), config)
        same = same_meaning(outcome.before, config)
        metadata = metadata_patch(target, secret, content.version, outcome, forget=not self._dry_run)
        if has_last_applied(secret):
            outcome.did(APPLIED_REMOVED)
        right_type = secret.get("type") == TYPE
        immutable = bool(secret.get("immutable"))
        wanted_immutable = immutable if target.immutable is None else target.immutable
        if not right_type or (immutable and (not same or not wanted_immutable)):
            # The API server refuses to change a type, or anything of an immutable secret.
            if adopted:
                outcome.did("adopted")
            outcome.did("replaced")
            if not self._dry_run:
                replacing.replace(secret, replacement(target, secret, content, wanted_immutable), content)
            return content

        patch: dict[str, Any] = {}
        if not same:
            patch["data"] = {KEY: encode_docker_config(config)}
            outcome.did("updated")
        if metadata and adopted:
            outcome.did("adopted")
        elif metadata and (same or not is_version_only(metadata)):
            outcome.did("labels updated" if "labels" in metadata else "annotations updated")
        if wanted_immutable and not immutable:
            patch["immutable"] = True
            outcome.did("made immutable")
        if not patch and not metadata:
            return content
        if not self._dry_run:
            patch["metadata"] = {**metadata, "resourceVersion": secret["metadata"]["resourceVersion"]}
            answer = client.patch(target.namespace, "secrets", target.name, patch, deadline)
            if not same:
                verify_written(answer, config, outcome.place)
            self._note(outcome, target, "update-secret", "Updated Kubernetes secret")
        return content

    def _create(
        self,
        client: KubernetesClient,
        target: KubernetesTarget,
        content: SecretContent,
        outcome: Outcome,
        deadline: Deadline,
    ) -> SecretContent:
        self._tell(outcome, content)
        outcome.did("created")
        if not self._dry_run:
            secret = new_kubernetes_secret(target, content)
            answer = client.create(
                target.namespace, "secrets", secret, deadline, waits=target.waits_for_namespace
            )
            verify_written(answer, content.config, outcome.place)
            self._note(outcome, target, "create-secret", "Created Kubernetes secret")
        return content

    @staticmethod
    def _tell(outcome: Outcome, content: SecretContent) -> None:
        outcome.after = content.config
        outcome.version = str(content.version.number) if content.version is not None else None

    @staticmethod
    def _note(outcome: Outcome, target: KubernetesTarget, operation: str, message: str) -> None:
        note(outcome, operation, message, namespace=target.namespace, secret_name=target.name)

    def _link(
        self,
        client: KubernetesClient,
        target: KubernetesTarget,
        account: str,
        outcome: Outcome,
        deadline: Deadline,
        *,
        present: bool,
    ) -> None:
        def once(_fresh: bool) -> None:
            outcome.restart()
            link_service_account(
                client,
                self._settings,
                target.namespace,
                account,
                target.name,
                outcome,
                deadline,
                present=present,
                dry_run=self._dry_run,
            )

        retry_when_overtaken(self._settings, outcome, deadline, once)
        outcome.settle()
