# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Making a Secret in the management cluster hold a docker config.

Seed 003, workflow 2, with optimistic concurrency: every write names the
resourceVersion (or the uid) that was read.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Callable, Optional

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    DockerConfig,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    DependencyMissing,
    PullSecretError,
    TimedOut,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.naming import (
    owner_problem,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.outcome import Outcome
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import Settings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.client import (
    KubernetesClient,
    KubernetesClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.errors import (
    Overtaken,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.service_accounts import (  # noqa: E501
    link_service_account,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.target import (
    KEY,
    TYPE,
    KubernetesTarget,
    encode,
    ending,
    identity,
    metadata_patch,
    new_secret,
    replacement,
    value_of,
    verify,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.ownership import foreign
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.writing import (
    note,
    parse_held,
    same_meaning,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import Deadline

__all__ = ["KubernetesWriter"]

# From how many secrets of one cluster on a single LIST is cheaper than a GET each.
_LIST_FROM = 3

_Key = tuple[Optional[str], Optional[str]]


class KubernetesWriter:
    """Writes many targets; thread-safe.

    :param dry_run: check mode: everything is read, nothing is written.
    """

    def __init__(self, settings: Settings, clients: KubernetesClients, *, dry_run: bool = False) -> None:
        self._settings = settings
        self._clients = clients
        self._dry_run = dry_run
        self._known: dict[_Key, dict[tuple[str, str], dict[str, Any]]] = {}

    def prepare(self, targets: Sequence[KubernetesTarget]) -> None:
        """Read all of a cluster's secrets in one LIST, where that pays and the user may."""
        groups: dict[_Key, set[tuple[str, str]]] = {}
        for target in targets:
            groups.setdefault((target.context, target.kubeconfig), set()).add((target.namespace, target.name))
        worth = [(key, wanted) for key, wanted in groups.items() if len(wanted) >= _LIST_FROM]
        with ThreadPoolExecutor(max_workers=max(1, self._settings.concurrency)) as pool:
            list(pool.map(lambda item: self._list(*item), worth))

    def _list(self, key: _Key, wanted: set[tuple[str, str]]) -> None:
        found: dict[tuple[str, str], dict[str, Any]] = {}
        try:
            for secret in self._clients.get(*key).list_all(
                "secrets", "managed-by=hyperfleet", self._settings.deadline()
            ):
                name = (secret["metadata"]["namespace"], secret["metadata"]["name"])
                if name in wanted:
                    found[name] = secret
        except PullSecretError:
            # The right to LIST everywhere is not needed; whatever else is wrong, each GET will say.
            return
        self._known[key] = found

    def ensure(
        self, target: KubernetesTarget, config: DockerConfig, outcome: Outcome, deadline: Deadline
    ) -> None:
        """Make the Secret hold ``config``; what was done is written to ``outcome``."""
        outcome.after = config
        client = self._clients.get(target.context, target.kubeconfig)
        self._converge(
            outcome,
            deadline,
            lambda fresh: self._ensure_once(client, target, config, outcome, deadline, fresh),
        )
        outcome.settle()
        for account in target.service_accounts:
            self._link(client, target, account, outcome, deadline, present=True)

    def remove(self, target: KubernetesTarget, outcome: Outcome, deadline: Deadline) -> None:
        """Delete the Secret and its mentions in the service accounts; one that is not ours is refused."""
        client = self._clients.get(target.context, target.kubeconfig)

        def once(fresh: bool) -> None:
            outcome.restart()
            secret = self._secret(client, target, deadline, fresh, sure=True)
            if secret is None:
                return
            self._guard(target, secret, outcome, delete=True)
            if ending(secret):
                # Deleted already; its finalizers are others' business.
                return
            outcome.did("deleted")
            if not self._dry_run:
                client.delete(target.namespace, "secrets", target.name, identity(secret), deadline)
                self._note(outcome, target, "delete-secret", "Deleted Kubernetes secret")

        if target.service_accounts:
            # Nothing at all is written when the secret is not ours.
            secret = self._secret(client, target, deadline, False, sure=True)
            if secret is not None:
                self._guard(target, secret, outcome, delete=True)
        # The mentions first: a service account must not name a secret that is gone.
        for account in target.service_accounts:
            self._link(client, target, account, outcome, deadline, present=False)
        outcome.settle()
        self._converge(outcome, deadline, once)

    # -- steps ----------------------------------------------------------------------------------

    def _converge(self, outcome: Outcome, deadline: Deadline, once: Callable[[bool], None]) -> None:
        """Read, decide, write; from the start again whenever somebody else was faster."""
        fresh, pause, done = False, 0.05, 0
        unanswered: _Intent | None = None
        while True:
            try:
                once(fresh)
            except Overtaken as error:
                intent = _Intent.of(outcome)
                outcome.restart()
                done = len(outcome.actions)
                if error.unsure:
                    unanswered = intent
                fresh = True
                if deadline.remaining() <= pause or self._settings.retrier.stop.is_set():
                    raise TimedOut(f"{error.message} (somebody else kept changing it)") from None
                self._settings.retrier.stop.wait(pause)
                pause = min(2.0, pause * 2)
                continue
            if unanswered is not None and len(outcome.actions) == done:
                # Nothing is left to do: it was our own write that was met, and it has to be told.
                unanswered.restore(outcome)
            return

    def _secret(
        self,
        client: KubernetesClient,
        target: KubernetesTarget,
        deadline: Deadline,
        fresh: bool,
        *,
        sure: bool = False,
    ) -> dict[str, Any] | None:
        """What is there, if possible from the LIST.

        :param sure: None has to mean that nothing is there, not only nothing of ours.
        """
        if not fresh:
            known = self._known.get((target.context, target.kubeconfig))
            if known is not None:
                found = known.get((target.namespace, target.name))
                # Not among ours: most likely not there, and a create is atomic. In check mode nothing
                # is created, so the question has to be asked.
                if found is not None or not (sure or self._dry_run):
                    return found
        return client.get(target.namespace, "secrets", target.name, deadline)

    def _lasting(
        self, client: KubernetesClient, target: KubernetesTarget, deadline: Deadline, fresh: bool
    ) -> dict[str, Any] | None:
        """The secret, or None; the end of one that is being deleted is waited for."""
        secret = self._secret(client, target, deadline, fresh)
        if secret is None or not ending(secret):
            return secret
        if self._dry_run:
            return None

        def read(_timeout: float) -> dict[str, Any] | None:
            found = client.get(target.namespace, "secrets", target.name, deadline)
            if found is not None and ending(found):
                raise DependencyMissing(
                    f"{client.place(target.namespace, 'secrets', target.name)} is being deleted and waits "
                    f"for its finalizers {', '.join(found['metadata'].get('finalizers') or ())}",
                    "whoever set them has to finish, or take them off",
                )
            return found

        return self._settings.retrier.call(read, deadline=deadline, api_timeout=self._settings.api_timeout)

    def _guard(
        self, target: KubernetesTarget, secret: Mapping[str, Any], outcome: Outcome, *, delete: bool = False
    ) -> bool:
        """Whether the secret has to be adopted; refuses somebody else's, which only a write may adopt."""
        labels = secret["metadata"].get("labels") or {}
        refusal = foreign(labels, target.cluster_id, outcome.place, adopt=target.adopt, delete=delete)
        if refusal is not None:
            raise refusal
        return owner_problem(labels, target.cluster_id) is not None

    def _ensure_once(
        self,
        client: KubernetesClient,
        target: KubernetesTarget,
        config: DockerConfig,
        outcome: Outcome,
        deadline: Deadline,
        fresh: bool,
    ) -> None:
        outcome.restart()
        secret = self._lasting(client, target, deadline, fresh)
        if secret is None:
            outcome.did("created")
            if not self._dry_run:
                self._create(client, target, new_secret(target, config), config, deadline)
                self._note(outcome, target, "create-secret", "Created Kubernetes secret")
            return

        adopted = self._guard(target, secret, outcome)
        outcome.before = parse_held(value_of(secret), config)
        same = same_meaning(outcome.before, config)
        metadata = metadata_patch(target, secret, outcome)
        right_type = secret.get("type") == TYPE
        immutable = bool(secret.get("immutable"))
        wanted_immutable = immutable if target.immutable is None else target.immutable
        if not right_type or (immutable and (not same or not wanted_immutable)):
            # The API server refuses to change a type, or anything of an immutable secret.
            if adopted:
                outcome.did("adopted")
            outcome.did("replaced")
            if not self._dry_run:
                new = replacement(target, secret, config, wanted_immutable)
                self._replace(client, target, secret, new, config, outcome, deadline)
                self._note(outcome, target, "replace-secret", "Replaced Kubernetes secret")
            return

        patch: dict[str, Any] = {}
        if not same:
            patch["data"] = {KEY: encode(config)}
            outcome.did("updated")
        if metadata:
            outcome.did("adopted" if adopted else "labels updated")
        if wanted_immutable and not immutable:
            patch["immutable"] = True
            outcome.did("made immutable")
        if not patch and not metadata:
            return
        if not self._dry_run:
            patch["metadata"] = {**metadata, "resourceVersion": secret["metadata"]["resourceVersion"]}
            answer = client.patch(target.namespace, "secrets", target.name, patch, deadline)
            if not same:
                verify(answer, config, outcome.place)
            self._note(outcome, target, "update-secret", "Updated Kubernetes secret")

    def _create(
        self,
        client: KubernetesClient,
        target: KubernetesTarget,
        body: Mapping[str, Any],
        config: DockerConfig,
        deadline: Deadline,
    ) -> None:
        answer = client.create(target.namespace, "secrets", body, deadline)
        verify(answer, config, client.place(target.namespace, "secrets", target.name))

    def _replace(
        self,
        client: KubernetesClient,
        target: KubernetesTarget,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
        config: DockerConfig,
        outcome: Outcome,
        deadline: Deadline,
    ) -> None:
        # The server says now whether the new one is valid: between the two calls it would be too late.
        # It is asked under a name that is free; the target's own is taken until the delete.
        trial = {**new, "metadata": {**new["metadata"], "name": f"pull-secret-check-{uuid.uuid4()}"}}
        client.create(target.namespace, "secrets", trial, deadline, dry_run=True)
        intended = list(outcome.actions)
        client.delete(target.namespace, "secrets", target.name, identity(old), deadline)
        outcome.restart()
        outcome.did("deleted")
        outcome.settle()
        outcome.did("created")
        try:
            self._create(client, target, new, config, deadline)
        except Overtaken:
            raise
        except PullSecretError as error:
            outcome.restart()
            error.message = f"{error.message} (the old secret is deleted; the next run creates the new one)"
            raise
        outcome.actions[:] = intended
        outcome.settle()

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

        self._converge(outcome, deadline, once)
        outcome.settle()


@dataclass(frozen=True)
class _Intent:
    """What a write was to do whose answer got lost."""

    actions: Sequence[str]
    before: DockerConfig | None
    metadata: tuple[Mapping[str, str], Mapping[str, str]]

    @classmethod
    def of(cls, outcome: Outcome) -> _Intent:
        metadata = (outcome.metadata_before, outcome.metadata_after)
        return cls(list(outcome.actions), outcome.before, metadata)

    def restore(self, outcome: Outcome) -> None:
        for action in self.actions:
            outcome.did(action)
        outcome.before = self.before
        outcome.metadata_before, outcome.metadata_after = self.metadata
        note(outcome, "confirm-write", "A write whose answer was lost has taken effect")
