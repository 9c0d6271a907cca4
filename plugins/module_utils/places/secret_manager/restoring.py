# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading an old version, to make it the newest again.

A disabled version has to be enabled to be read.  So that one is not left enabled by a run
that is killed before it disables it again, the secret is marked first, with an annotation
that names the version: whichever run finds the mark disables the version and takes the
mark away.  No clock is needed: a run that is still at it, and finds its version disabled,
begins again.  What stays enabled is the version of a run that is killed just after another
one met it between its mark and its enabling: two things have to go wrong in one moment.
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
    """Reading old versions of one secret, and tidying up after a run that was killed while it did.

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
        """A version's payload; one that is disabled is enabled for the time of the read.

        :param secret: the metadata as they are now.
        :raises NotFound: it is not there, or destroyed.
        :raises FailedPrecondition: it is disabled, and in check mode nothing is enabled.
        :raises Conflict: another run changed it meanwhile.
        """
        marked = secret.annotations.get(RESTORING) == version
        if not marked:
            secret = self.end(secret)
        name = f"{self._name}/versions/{version}"
        found = self._client.get_version(name, self._deadline)
        state = found.state.name
        if state == "DESTROYED":
            raise NotFound(f"{name} is destroyed and cannot be restored")
        if state == "ENABLED" and (self._dry_run or not marked):
            return self._access(name)
        if self._dry_run:
            raise FailedPrecondition(
                f"{name} is disabled, so check mode cannot read it",
                "a real run enables it for the time of the read",
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
                # Otherwise the next run takes it away.
                self._mark(secret, None)

    def end(self, secret: Any) -> Any:
        """Disable the version that a run which was killed had enabled; the metadata as they are then.

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
            # The run that enabled it was somebody with more rights; this one's work can be done all the same.
            left = f"an interrupted restore left version {version} enabled"
            warning = f"{left}, and this run could not disable it: {error.message}"
            if warning not in outcome.warnings:
                outcome.warnings.append(warning)
            return secret
        return self._mark(secret, None)

    def _mark(self, secret: Any, version: str | None) -> Any:
        """Name the version that is about to be enabled, or none any more."""
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
        """The version's metadata, or None where there is none, or it is not enabled."""
        if not _NUMBER.match(version):
            # No restore wrote that.
            return None
        try:
            found = self._client.get_version(f"{self._name}/versions/{version}", self._deadline)
        except NotFound:
            return None
        return found if found.state.name == "ENABLED" else None

    def _disable(self, version: str) -> bool:
        """Whether it was enabled until now."""
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
