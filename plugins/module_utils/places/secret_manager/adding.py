# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Adding a version: the claim before it, and what became of an add that got no answer."""

from __future__ import annotations

from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    ConfigurationError,
    Conflict,
    PermissionDenied,
    PullSecretError,
    TimedOut,
    VerificationFailed,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import Settings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.claim import (
    ANNOTATION,
    Claim,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.client import (
    number,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.desired import (
    Desired,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.errors import (
    FailedPrecondition,
)

__all__ = ["Addition"]

# Seconds that the clocks of two runs' machines may differ by.
_CLAIM_MARGIN = 10.0


class Addition:
    """The claim of one run on one secret, and the version that it adds under it.

    :param owner: the run's name in its claims.
    """

    def __init__(self, desired: Desired, settings: Settings, owner: str) -> None:
        self._desired = desired
        self._name = desired.target.name
        self._settings = settings
        self._owner = owner
        # Time to write the claim, and for the add to be over before its claim is.
        self._lifetime = 2 * settings.api_timeout + _CLAIM_MARGIN

    def claim(self, secret: Any, base: int) -> Claim:
        """A claim to be written with the secret's metadata.

        :param secret: as it was read, None for one that is to be created.
        :param base: the newest version's number.
        :raises Conflict: another run holds one.
        """
        held = Claim.parse(secret.annotations.get(ANNOTATION)) if secret is not None else None
        if held is not None and held.blocks(self._owner, base):
            raise Conflict(f"{self._name}: another run is adding a version")
        return Claim.new(base, self._owner, self._lifetime)

    def add(self, claim: Claim) -> str:
        """Add the version under a claim that was written; its number.

        :raises Conflict: the claim is used up; it has to be made anew.
        """
        if claim.remaining() < self._settings.api_timeout:
            # It took so long to write that the add could outlive it.
            raise Conflict(f"the claim on {self._name} is about to expire")
        try:
            added = self._add(claim.base)
        except (ConfigurationError, FailedPrecondition, PermissionDenied):
            self._release()
            raise
        desired = self._desired
        desired.outcome.did("version added")
        desired.outcome.settle()
        version = f"{self._name}/versions/{added}"
        if desired.client.access(version, desired.deadline) != desired.payload:
            raise self._disabled(version)
        desired.note("create-secret-version", "Created secret version", version=added)
        return added

    def _add(self, base: int) -> str:
        desired = self._desired
        try:
            return number(desired.client.add_version_once(self._name, desired.payload, desired.deadline))
        except PullSecretError as error:
            if not error.retryable:
                raise
            # It may have happened all the same: look before it is done twice.
            try:
                found = self._find(base)
            except TimedOut:
                raise TimedOut(f"{error.message}; no time was left to see if it happened") from None
            if found is None:
                raise
            return found

    def _find(self, base: int) -> str | None:
        client, deadline = self._desired.client, self._desired.deadline
        for version in client.versions(self._name, deadline):
            found = number(version.name)
            if int(found) <= base:
                break
            # Not only the newest: another run may have added its own after ours.
            if version.state.name != "ENABLED":
                continue
            if client.access(f"{self._name}/versions/{found}", deadline) == self._desired.payload:
                return found
        return None

    def _disabled(self, version: str) -> VerificationFailed:
        client, deadline = self._desired.client, self._desired.deadline
        try:
            client.set_state(version, client.get_version(version, deadline).etag, "disable", deadline)
            hint = "the version was disabled; the one before it is unchanged"
        except PullSecretError as error:
            hint = f"disable it: this run could not ({error.message})"
        return VerificationFailed(f"{version} does not hold what was written", hint)

    def _release(self) -> None:
        """Refused for good: whoever runs again once that is mended need not wait for the claim."""
        client, deadline = self._desired.client, self._desired.deadline
        try:
            secret = client.get_secret(self._name, deadline)
            held = Claim.parse(secret.annotations.get(ANNOTATION)) if secret is not None else None
            if held is not None and held.owner == self._owner:
                kept = {key: value for key, value in secret.annotations.items() if key != ANNOTATION}
                client.update_secret(self._name, {"annotations": kept}, secret.etag, deadline)
        except PullSecretError:
            # It expires by itself.
            return
