# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads an old version, to make it the newest again.

A disabled version must be enabled to be read. A killed run must not leave it enabled, so the secret is first
marked with an annotation that names the version. Whichever run finds the mark disables the version and
removes the mark. No clock is needed: a run whose version was disabled meanwhile starts again. A version stays
enabled only if a run meets another run's mark before the enabling, and that other run is then killed just
after the enabling.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from ...clients.google.client import SecretManagerClient
from ...clients.google.errors import FailedPrecondition, NotEnabled
from ...model.errors import Conflict, NotFound, PermissionDenied, PullSecretError
from ...model.outcome import Outcome
from ...runtime.retry import Deadline
from ..writing import note
from .access import access_enabled
from .claim import RESTORING

__all__ = ["Restoration"]

_NUMBER = re.compile(r"[1-9][0-9]{0,17}\Z")


class Restoration:
    """Reads old versions of one secret, and cleans up after a run that was killed meanwhile.

    :param name: the secret's full resource name.
    """

    def __init__(
        self, client: SecretManagerClient, name: str, outcome: Outcome, deadline: Deadline, *, dry_run: bool
    ) -> None:
        self._client = client
        self._name = name
        self._outcome = outcome
        self._deadline = deadline
        self._dry_run = dry_run

    def read(self, secret: Any, version: str) -> bytes:
        """Return a version's payload; a disabled one is enabled while it is read.

        :param secret: the current metadata.
        :raises NotFound: it does not exist, or is destroyed.
        :raises FailedPrecondition: it is disabled, and check mode enables nothing.
        :raises Conflict: another run changed it meanwhile.
        """
        marked = secret.annotations.get(RESTORING) == version
        if not marked:
            secret = self.end(secret)
        name = f"{self._name}/versions/{version}"
        found = self._client.get_version(name, self._deadline)
        state = found.state.name
        if state == "DESTROYED":
            raise NotFound(
                f"{name} is destroyed and cannot be restored",
                "restore another version; the playbook hyperfleet.pull_secret.inspect lists them",
            )
        if state == "ENABLED" and (self._dry_run or not marked):
            return self._access(name)
        if self._dry_run:
            raise FailedPrecondition(
                f"{name} is disabled, so check mode cannot read it",
                "a real run enables it while it is read",
            )
        if not marked:
            secret = self._mark(secret, version)
        try:
            if state != "ENABLED":
                self._set_state(name, found.etag, "enable")
            return self._access(name)
        finally:
            self._disable(version)
            with suppress(PullSecretError):
                # Otherwise the next run removes it.
                self._mark(secret, None)

    def end(self, secret: Any) -> Any:
        """Disable the version that a killed run had enabled, and return the metadata afterwards.

        :raises Conflict: the secret was changed meanwhile.
        """
        version = secret.annotations.get(RESTORING)
        if version is None:
            return secret
        outcome, done = self._outcome, f"version {version} disabled"
        if self._dry_run:
            if self._enabled(version) is not None:
                outcome.did(done)
            return secret
        try:
            if self._disable(version):
                outcome.did(done)
                outcome.settle()
                message = "Disabled the version that an interrupted restore had enabled"
                note(outcome, "disable-secret-version", message, version=version)
        except PermissionDenied as error:
            # The run that enabled it had more permissions; this run can still do its own work.
            left = f"an interrupted restore left version {version} enabled"
            warning = f"{left}, and this run could not disable it: {error.message}"
            if warning not in outcome.warnings:
                outcome.warnings.append(warning)
            return secret
        return self._mark(secret, None)

    def _mark(self, secret: Any, version: str | None) -> Any:
        """Write the mark that names the version to enable, or remove it."""
        annotations = {key: value for key, value in secret.annotations.items() if key != RESTORING}
        if version is not None:
            annotations[RESTORING] = version
        try:
            return self._client.update_secret(
                self._name, {"annotations": annotations}, secret.etag, self._deadline
            )
        except FailedPrecondition as error:
            raise Conflict(error.message) from None

    def _enabled(self, version: str) -> Any:
        """Return the version's metadata, or None if it does not exist or is not enabled."""
        if not _NUMBER.match(version):
            # No restore wrote that.
            return None
        try:
            found = self._client.get_version(f"{self._name}/versions/{version}", self._deadline)
        except NotFound:
            return None
        return found if found.state.name == "ENABLED" else None

    def _disable(self, version: str) -> bool:
        """Return whether it was enabled until now."""
        found = self._enabled(version)
        if found is None:
            return False
        self._set_state(f"{self._name}/versions/{version}", found.etag, "disable")
        return True

    def _access(self, name: str) -> bytes:
        try:
            return access_enabled(self._client, name, self._deadline)
        except NotEnabled:
            raise Conflict(f"{name} was disabled while it was read") from None

    def _set_state(self, name: str, etag: str, verb: str) -> None:
        try:
            self._client.set_state(name, etag, verb, self._deadline)
        except FailedPrecondition as error:
            raise Conflict(error.message) from None
