# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Adds a version: first the claim, then the add, then the check of an add without a response."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ...clients.google.client import version_number
from ...clients.google.errors import FailedPrecondition, NotEnabled, Unanswered
from ...model.errors import (
    ConfigurationError,
    Conflict,
    NotFound,
    PermissionDenied,
    PullSecretError,
    QuotaExceeded,
    TimedOut,
    Unavailable,
    VerificationFailed,
)
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from .access import access_enabled
from .claim import ANNOTATION, Claim, ClaimLifetime
from .desired import DesiredVersion

__all__ = ["VersionAddition"]

# Errors that mean that nothing was added. After all others it may have been.
_REFUSED = (ConfigurationError, Conflict, FailedPrecondition, NotFound, PermissionDenied, QuotaExceeded)
# Seconds between two looks for a version that may still appear.
_LOOK_AGAIN = 1.0


class VersionAddition:
    """The claim of one run on one secret, and the version that it adds under it.

    :param owner: the run's name in its claims.
    """

    def __init__(self, desired: DesiredVersion, settings: RunSettings, owner: str) -> None:
        self._desired = desired
        self._stop = settings.retrier.stop
        self._name = desired.target.name
        self._owner = owner
        self._lifetime = ClaimLifetime(settings.api_timeout)
        # Whether a claim of ours may exist, and whether an add of ours may still take effect.
        self._claimed = False
        self._unknown = False
        self._waited = False

    def claim(self, secret: Any, base: int) -> Claim:
        """Return a claim to write with the secret's metadata.

        :param secret: as it was read, None for one that is created.
        :param base: the newest version's number.
        :raises Conflict: another run holds one.
        """
        held = Claim.parse(secret.annotations.get(ANNOTATION)) if secret is not None else None
        if held is not None and held.blocks(self._owner, base):
            if not self._waited:
                self._waited = True
                self._desired.note(
                    "wait-for-claim",
                    f"Waiting for another run's claim on {self._name}, "
                    f"which ends in {math.ceil(held.remaining())} s",
                )
            raise Conflict(f"{self._name}: another run is adding a version")
        return Claim.new(base, self._owner, self._lifetime.seconds)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Wrap the call that writes a claim: afterwards it exists, or may exist after a lost response."""
        try:
            yield
        except (TimedOut, Unavailable):
            self._claimed = True
            raise
        self._claimed = True

    def add(self, claim: Claim) -> str:
        """Add the version under a written claim, and return its number.

        :raises Conflict: the claim is used up; make a new one.
        """
        if not self._lifetime.suffices(claim):
            # Writing took so long that the add could outlive the claim.
            self._lifetime.lengthen()
            raise Conflict(f"{self._name}: too little time is left to add the version that this run reserved")
        added = self._add(claim)
        # The version ends the claim.
        self._claimed = False
        desired = self._desired
        desired.outcome.did(desired.action)
        desired.outcome.settle()
        version = f"{self._name}/versions/{added}"
        if desired.client.access(version, desired.deadline) != desired.payload:
            raise self._disabled(version)
        desired.note("create-secret-version", "Created secret version", version=added)
        return added

    def _add(self, claim: Claim) -> str:
        desired = self._desired
        limit = Deadline(min(desired.deadline.remaining(), claim.time_to_add()), calls=desired.deadline.calls)
        try:
            return version_number(desired.client.add_version_once(self._name, desired.payload, limit))
        except PullSecretError as error:
            if isinstance(error, _REFUSED):
                raise
            if not error.retryable:
                self._unknown = True
                raise
            # It may have happened: look before repeating it.
            try:
                found = self._look(claim, isinstance(error, Unanswered))
            except PullSecretError as unseen:
                self._unknown = True
                if isinstance(unseen, TimedOut):
                    raise TimedOut(
                        f"{error.message}; the time limit passed before the run could check whether the version "
                        "was added"
                    ) from None
                raise
            if found is None:
                raise
            return found

    def _look(self, claim: Claim, unanswered: bool) -> str | None:
        """Return the number of the version that our add made, or None.

        :param unanswered: it may still appear: a call that took all of the claim's time is waited for in its
            margin.
        """
        late = unanswered and claim.time_to_add() <= 0
        if late:
            self._lifetime.lengthen()
        while True:
            found = self._find(claim.base)
            left = min(claim.remaining(), self._desired.deadline.remaining())
            if found is not None or not late or left <= 0 or self._stop.is_set():
                self._unknown = self._unknown or (found is None and unanswered)
                return found
            self._stop.wait(min(_LOOK_AGAIN, left))

    def _find(self, base: int) -> str | None:
        client, deadline = self._desired.client, self._desired.deadline
        # By number, because a list may be stale; another run may have added its own version after ours.
        for found in itertools.count(base + 1):
            version = f"{self._name}/versions/{found}"
            try:
                if access_enabled(client, version, deadline) == self._desired.payload:
                    return str(found)
            except NotEnabled:
                continue
            except NotFound:
                break
        return None

    def _disabled(self, version: str) -> VerificationFailed:
        client, deadline = self._desired.client, self._desired.deadline
        try:
            client.set_state(version, client.get_version(version, deadline).etag, "disable", deadline)
            hint = "the version was disabled; the one before it is unchanged"
        except PullSecretError as error:
            hint = f"this run could not disable that version ({error.message}); disable it by hand"
        return VerificationFailed(f"{version} does not hold what was written", hint)

    def release(self) -> None:
        """Give up the target: the next run need not wait for a claim that protects no add."""
        if not self._claimed or self._unknown:
            return
        client, deadline = self._desired.client, self._desired.deadline
        try:
            secret = client.get_secret(self._name, deadline)
            held = Claim.parse(secret.annotations.get(ANNOTATION)) if secret is not None else None
            if held is not None and held.owner == self._owner:
                kept = {key: value for key, value in secret.annotations.items() if key != ANNOTATION}
                client.update_secret(self._name, {"annotations": kept}, secret.etag, deadline)
        except PullSecretError:
            # The claim expires by itself.
            return
