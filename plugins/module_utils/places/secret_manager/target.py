# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Making a secret in Secret Manager hold a docker config.

Seed 003, workflow 1: get or create with labels, add a version, verify, with what the
seed leaves open: no new version without a change of meaning, an ownership guard, one
version even with two runs at once, and an add that may or may not have happened.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    DockerConfig,
    DockerConfigError,
    load,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    ConfigurationError,
    Conflict,
    InvalidDocument,
    NotFound,
    OwnershipConflict,
    PermissionDenied,
    PullSecretError,
    TimedOut,
    VerificationFailed,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.naming import gcp_labels, owner_problem
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.outcome import Outcome
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import Settings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.claim import (
    ANNOTATION,
    Claim,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.client import (
    SecretManagerClient,
    SecretManagerClients,
    number,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.errors import (
    AlreadyExists,
    FailedPrecondition,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.retention import (
    Retention,
    Version,
    plan_retention,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import Deadline

__all__ = ["MAX_PAYLOAD", "SecretManagerTarget", "SecretManagerWriter"]

MAX_PAYLOAD = 64 * 1024
# From how many secrets of one project on a single LIST is cheaper than a GET each.
_LIST_FROM = 3
# Seconds that the clocks of two runs' machines may differ by.
_CLAIM_MARGIN = 10.0
_ENABLED = "ENABLED"


@dataclass(frozen=True)
class SecretManagerTarget:
    """The secret as it should be.

    :param labels: wanted beside those of ``naming``; others' labels are kept.
    :param replication: the library's ``Replication`` as a mapping; used at creation only.
    """

    id: str
    project: str
    secret: str
    cluster_id: str | None = None
    cluster_name: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    replication: Mapping[str, Any] = field(default_factory=lambda: {"automatic": {}})
    adopt: bool = False
    retention: Retention | None = None
    impersonate: str | None = None

    @property
    def name(self) -> str:
        """The full resource name."""
        return f"projects/{self.project}/secrets/{self.secret}"

    def wanted_labels(self) -> dict[str, str]:
        """The seed's labels, the user's beside them; the owner's cannot be overridden."""
        return {**self.labels, **gcp_labels(self.cluster_id, self.cluster_name)}


class _Busy(Conflict):
    """Another run holds the claim."""


class SecretManagerWriter:
    """Writes many targets; thread-safe.

    :param dry_run: check mode: everything is read, nothing is written.
    """

    def __init__(self, settings: Settings, clients: SecretManagerClients, *, dry_run: bool = False) -> None:
        self._settings = settings
        self._clients = clients
        self._dry_run = dry_run
        self._owner = Claim.new_owner()
        # Time to write the claim, and for the add to be over before its claim is.
        self._claim_lifetime = 2 * settings.api_timeout + _CLAIM_MARGIN
        self._known: dict[str, Any] = {}
        self._listed: set[tuple[str | None, str]] = set()

    def prepare(self, targets: Sequence[SecretManagerTarget]) -> None:
        """Read the metadata of all of a project's secrets in one LIST, where that pays."""
        groups: dict[tuple[str | None, str], set[str]] = {}
        for target in targets:
            groups.setdefault((target.impersonate, target.project), set()).add(target.secret)
        worth = [(key, wanted) for key, wanted in groups.items() if len(wanted) >= _LIST_FROM]
        with ThreadPoolExecutor(max_workers=max(1, self._settings.concurrency)) as pool:
            list(pool.map(lambda item: self._list(*item), worth))

    def _list(self, key: tuple[str | None, str], wanted: set[str]) -> None:
        impersonate, project = key
        try:
            found = self._clients.get(impersonate).list_secrets(
                project, "labels.managed-by=hyperfleet", self._settings.deadline()
            )
        except PullSecretError:
            # The right to LIST is not needed; whatever else is wrong, each target's own GET will say.
            return
        for secret in found:
            secret_id = number(secret.name)
            if secret_id in wanted:
                # The service answers with the project's number in place of its id.
                self._known[f"projects/{project}/secrets/{secret_id}"] = secret
        self._listed.add(key)

    def ensure(
        self,
        target: SecretManagerTarget,
        config: DockerConfig,
        outcome: Outcome,
        deadline: Deadline,
    ) -> None:
        """Make the newest enabled version hold ``config``; what was done is written to ``outcome``."""
        payload = config.canonical()
        if len(payload) > MAX_PAYLOAD:
            raise InvalidDocument(
                f"the docker config has {len(payload)} bytes, and a version of Secret Manager holds "
                f"{MAX_PAYLOAD}"
            )
        outcome.after = config
        client = self._clients.get(target.impersonate)
        self._converge(
            deadline,
            lambda fresh: self._ensure_once(client, target, payload, config, outcome, deadline, fresh),
        )
        if target.retention is not None:
            self._retain(client, target, target.retention, outcome, deadline)

    def restore(
        self, target: SecretManagerTarget, version: str, outcome: Outcome, deadline: Deadline
    ) -> None:
        """Make the newest enabled version hold what an older one holds."""
        client = self._clients.get(target.impersonate)
        self._guard(target, client.get_secret(target.name, deadline))
        payload = self._read_old(client, f"{target.name}/versions/{version}", deadline)
        try:
            config = load(payload)
        except DockerConfigError as error:
            raise InvalidDocument(f"version {version} of {target.name}: {error}") from None
        outcome.provenance = dict.fromkeys(config.registries, f"version {version}")
        self.ensure(target, config, outcome, deadline)

    def remove(self, target: SecretManagerTarget, outcome: Outcome, deadline: Deadline) -> None:
        """Delete the secret with all its versions; one that is not ours is refused."""
        client = self._clients.get(target.impersonate)

        def once(fresh: bool) -> None:
            known = None if fresh else self._known.get(target.name)
            # The LIST shows ours only: what is not in it may be somebody else's, which is to be told.
            secret = known if known is not None else client.get_secret(target.name, deadline)
            if secret is None:
                return
            self._guard(target, secret, fresh)
            outcome.restart()
            outcome.did("deleted")
            outcome.metadata_before = {f"label {k}": v for k, v in secret.labels.items()}
            if not self._dry_run:
                try:
                    client.delete_secret(target.name, secret.etag, deadline)
                except FailedPrecondition as error:
                    raise Conflict(error.message) from None
                outcome.settle()
                _note(outcome, "delete-secret", f"Deleted secret {target.name}")

        self._converge(deadline, once)

    # -- reading --------------------------------------------------------------------------------

    def _secret(
        self, client: SecretManagerClient, target: SecretManagerTarget, deadline: Deadline, fresh: bool
    ) -> Any:
        if not fresh:
            if target.name in self._known:
                return self._known[target.name]
            # Not among ours: it is most likely not there, and CreateSecret is atomic. In check mode
            # nothing is created, so the question has to be asked.
            if (target.impersonate, target.project) in self._listed and not self._dry_run:
                return None
        return client.get_secret(target.name, deadline)

    def _guard(self, target: SecretManagerTarget, secret: Any, fresh: bool = True) -> None:
        if secret is None:
            raise NotFound(f"{target.name} does not exist")
        problem = owner_problem(secret.labels, target.cluster_id)
        if problem is None or target.adopt:
            return
        if not fresh:
            raise Conflict(f"{target.name} {problem} in the list; read again")
        raise OwnershipConflict(
            f"{target.name} exists but {problem}",
            "nothing was written; rename or delete it, or take it over with adopt: true",
        )

    def _read_old(self, client: SecretManagerClient, name: str, deadline: Deadline) -> bytes:
        version = client.get_version(name, deadline)
        if version.state.name == "DESTROYED":
            raise NotFound(f"{name} is destroyed and cannot be restored")
        if version.state.name == _ENABLED:
            return client.access(name, deadline)
        if self._dry_run:
            raise FailedPrecondition(
                f"{name} is disabled, so check mode cannot read it",
                "a real run enables it for the time of the read",
            )
        client.set_state(name, version.etag, "enable", deadline)
        try:
            return client.access(name, deadline)
        finally:
            client.set_state(name, client.get_version(name, deadline).etag, "disable", deadline)

    # -- writing --------------------------------------------------------------------------------

    def _converge(self, deadline: Deadline, once: Any) -> None:
        """Read, decide, write; from the start again whenever somebody else was faster."""
        # The first conflict may only mean that the LIST was old: no need to wait.
        state = {"fresh": False, "pause": 0.0}

        def attempt(_timeout: float) -> None:
            while True:
                try:
                    once(state["fresh"])
                    return
                except Conflict as error:
                    state["fresh"] = True
                    if deadline.remaining() <= state["pause"] or self._settings.retrier.stop.is_set():
                        raise TimedOut(f"{error.message} (another run kept changing it)") from None
                    self._settings.retrier.stop.wait(state["pause"])
                    state["pause"] = min(2.0, max(0.1, state["pause"] * 2))
                except PullSecretError:
                    state["fresh"] = True
                    raise

        self._settings.retrier.call(attempt, deadline=deadline, api_timeout=self._settings.timeout)

    def _ensure_once(
        self,
        client: SecretManagerClient,
        target: SecretManagerTarget,
        payload: bytes,
        config: DockerConfig,
        outcome: Outcome,
        deadline: Deadline,
        fresh: bool,
    ) -> None:
        outcome.restart()
        secret = self._secret(client, target, deadline, fresh)
        base = 0
        if secret is None:
            outcome.did("created")
            if self._dry_run:
                outcome.did("version added")
                return
            claim = self._create(client, target, outcome, deadline)
        else:
            self._guard(target, secret, fresh)
            # Most often nothing has to be done, and one call tells. Before a write the list is asked, too.
            outcome.version, outcome.before = self._latest(client, target, payload, config, deadline)
            if not _same(outcome.before, config):
                base = self._newest(client, target, payload, config, outcome, deadline)
            if _same(outcome.before, config):
                self._update_metadata(client, target, secret, outcome, deadline, claim=None)
                return
            if self._dry_run:
                self._update_metadata(client, target, secret, outcome, deadline, claim=None)
                outcome.did("version added")
                outcome.version = None
                return
            held = Claim.parse(secret.annotations.get(ANNOTATION))
            if held is not None and held.blocks(self._owner, base):
                raise _Busy(f"{target.name}: another run is adding a version")
            claim = Claim.new(base, self._owner, self._claim_lifetime)
            self._update_metadata(client, target, secret, outcome, deadline, claim=claim)
        if claim.remaining() < self._settings.api_timeout:
            # It took so long to write that the add could outlive it.
            raise Conflict(f"the claim on {target.name} is about to expire")
        try:
            outcome.version = self._add(client, target, payload, base, outcome, deadline)
        except (ConfigurationError, FailedPrecondition, PermissionDenied):
            self._release(client, target, deadline)
            raise

    def _latest(
        self,
        client: SecretManagerClient,
        target: SecretManagerTarget,
        payload: bytes,
        config: DockerConfig,
        deadline: Deadline,
    ) -> tuple[str | None, DockerConfig | None]:
        """Number and meaning of the version created last; None where there is none, or it is not enabled."""
        try:
            latest = client.access_latest(target.name, deadline)
        except FailedPrecondition:
            return None, None
        return (None, None) if latest is None else (latest[0], _parse(latest[1], payload, config))

    def _newest(
        self,
        client: SecretManagerClient,
        target: SecretManagerTarget,
        payload: bytes,
        config: DockerConfig,
        outcome: Outcome,
        deadline: Deadline,
    ) -> int:
        """The newest number whatever its state, or 0; ``outcome`` is given the newest enabled version."""
        newest = client.newest_version(target.name, deadline, enabled=False)
        base = int(number(newest.name)) if newest is not None else 0
        if newest is not None and newest.state.name != _ENABLED:
            newest = client.newest_version(target.name, deadline)
        known, outcome.version = outcome.version, number(newest.name) if newest is not None else None
        if outcome.version is None:
            outcome.before = None
        elif outcome.version != known:
            # The service answers with the project's number; messages keep the name that was asked for.
            version = f"{target.name}/versions/{outcome.version}"
            try:
                data = client.access(version, deadline)
            except FailedPrecondition:
                raise Conflict(f"{version} was disabled while it was read") from None
            outcome.before = _parse(data, payload, config)
        return base

    def _create(
        self, client: SecretManagerClient, target: SecretManagerTarget, outcome: Outcome, deadline: Deadline
    ) -> Claim:
        claim = Claim.new(0, self._owner, self._claim_lifetime)
        body = {
            "replication": target.replication,
            "labels": target.wanted_labels(),
            "annotations": {**target.annotations, ANNOTATION: str(claim)},
        }
        try:
            client.create_secret(target.project, target.secret, body, deadline)
        except AlreadyExists:
            # Another run, our own earlier try, or a LIST that did not show it.
            raise Conflict(f"{target.name} was created by another run") from None
        outcome.settle()
        _note(outcome, "create-secret", f"Created secret {target.name}")
        return claim

    def _release(self, client: SecretManagerClient, target: SecretManagerTarget, deadline: Deadline) -> None:
        """Refused for good: whoever runs again once that is mended need not wait for the claim."""
        try:
            secret = client.get_secret(target.name, deadline)
            held = Claim.parse(secret.annotations.get(ANNOTATION)) if secret is not None else None
            if held is not None and held.owner == self._owner:
                kept = {key: value for key, value in secret.annotations.items() if key != ANNOTATION}
                client.update_secret(target.name, {"annotations": kept}, secret.etag, deadline)
        except PullSecretError:
            # It expires by itself.
            return

    def _update_metadata(
        self,
        client: SecretManagerClient,
        target: SecretManagerTarget,
        secret: Any,
        outcome: Outcome,
        deadline: Deadline,
        claim: Claim | None,
    ) -> None:
        labels, annotations = dict(secret.labels), dict(secret.annotations)
        adopted = owner_problem(labels, target.cluster_id) is not None
        wanted = {**labels, **target.wanted_labels()}
        noted = {**annotations, **target.annotations}
        if wanted != labels or noted != annotations:
            outcome.did("adopted" if adopted else "labels updated")
            outcome.metadata_before = {f"label {k}": v for k, v in labels.items()}
            outcome.metadata_after = {f"label {k}": v for k, v in wanted.items()}
        elif claim is None:
            return
        if self._dry_run:
            return
        if claim is not None:
            noted[ANNOTATION] = str(claim)
        try:
            client.update_secret(target.name, {"labels": wanted, "annotations": noted}, secret.etag, deadline)
        except FailedPrecondition as error:
            raise Conflict(error.message) from None
        except PullSecretError as error:
            if error.retryable:
                # It may have happened: then the next try finds nothing to do, and the change was ours.
                outcome.settle()
            raise
        outcome.settle()
        if wanted != labels:
            _note(outcome, "update-secret", f"Updated labels of {target.name}")

    def _add(
        self,
        client: SecretManagerClient,
        target: SecretManagerTarget,
        payload: bytes,
        base: int,
        outcome: Outcome,
        deadline: Deadline,
    ) -> str:
        try:
            added = number(client.add_version_once(target.name, payload, deadline))
        except PullSecretError as error:
            if not error.retryable:
                raise
            # It may have happened all the same: look before it is done twice.
            try:
                found = self._added(client, target, payload, base, deadline)
            except TimedOut:
                raise TimedOut(f"{error.message}; no time was left to see if it happened") from None
            if found is None:
                raise
            added = found
        outcome.did("version added")
        outcome.settle()
        name = f"{target.name}/versions/{added}"
        if client.access(name, deadline) != payload:
            raise self._disabled(client, name, deadline)
        _note(outcome, "create-secret-version", "Created secret version", version=added)
        return added

    def _disabled(self, client: SecretManagerClient, name: str, deadline: Deadline) -> VerificationFailed:
        try:
            client.set_state(name, client.get_version(name, deadline).etag, "disable", deadline)
            hint = "the version was disabled; the one before it is unchanged"
        except PullSecretError as error:
            hint = f"disable it: this run could not ({error.message})"
        return VerificationFailed(f"{name} does not hold what was written", hint)

    def _added(
        self,
        client: SecretManagerClient,
        target: SecretManagerTarget,
        payload: bytes,
        base: int,
        deadline: Deadline,
    ) -> str | None:
        for version in client.versions(target.name, deadline):
            found = number(version.name)
            if int(found) <= base:
                break
            # Not only the newest: another run may have added its own after ours.
            if version.state.name != _ENABLED:
                continue
            if client.access(f"{target.name}/versions/{found}", deadline) == payload:
                return found
        return None

    def _retain(
        self,
        client: SecretManagerClient,
        target: SecretManagerTarget,
        rule: Retention,
        outcome: Outcome,
        deadline: Deadline,
    ) -> None:
        if self._dry_run and "created" in outcome.actions:
            return
        versions = {int(number(version.name)): version for version in client.versions(target.name, deadline)}
        facts = [
            Version(key, version.state.name, version.create_time.timestamp())
            for key, version in versions.items()
        ]
        now = time.time()
        if self._dry_run and "version added" in outcome.actions:
            facts.append(Version(max(versions, default=0) + 1, _ENABLED, now))
        for key, verb in plan_retention(facts, rule, now):
            if not self._dry_run:
                try:
                    name = f"{target.name}/versions/{key}"
                    client.set_state(name, versions[key].etag, verb, deadline)
                except FailedPrecondition:
                    # Somebody changed that version since: the next run will look again.
                    outcome.warnings.append(f"version {key} changed meanwhile and was left alone")
                    continue
            outcome.did(f"version {key} {verb}{'d' if verb.endswith('e') else 'ed'}")
            if self._dry_run:
                continue
            outcome.settle()
            _note(outcome, f"{verb}-secret-version", f"Old version: {verb}", version=str(key))


def _parse(data: bytes, payload: bytes, config: DockerConfig) -> DockerConfig | None:
    if data == payload:
        # The common case of a fleet that is right: no second parse.
        return config
    try:
        return load(data, allow_empty=True)
    except DockerConfigError:
        # What is there is broken: that is a difference.
        return None


def _same(before: DockerConfig | None, config: DockerConfig) -> bool:
    return before is not None and (before is config or before.same_meaning(config))


def _note(outcome: Outcome, operation: str, message: str, **fields: Any) -> None:
    if outcome.journal is not None:
        outcome.journal.note(operation, message, **fields)
