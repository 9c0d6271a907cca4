# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What one target is to hold, and how far the place is from it."""

from __future__ import annotations

from dataclasses import dataclass

from ...clients.google.client import SecretManagerClient, version_number
from ...clients.google.errors import FailedPrecondition, NotEnabled
from ...dockerconfig import DockerConfig
from ...model.errors import Conflict, NotFound
from ...model.outcome import VERSION_ADDED, Outcome
from ...runtime.retry import Deadline
from ..writing import note, parse_held, same_meaning
from .access import access_enabled
from .target import SecretManagerTarget

__all__ = ["DesiredVersion"]


@dataclass(frozen=True)
class DesiredVersion:
    """One target, its docker config, and where and until when it is worked on.

    :param action: what results call the adding of a version.
    """

    client: SecretManagerClient
    target: SecretManagerTarget
    config: DockerConfig
    outcome: Outcome
    deadline: Deadline
    action: str = VERSION_ADDED

    @property
    def payload(self) -> bytes:
        """The bytes of a version that holds it."""
        return self.config.canonical()

    def is_held(self) -> bool:
        """Whether the version that was read has this meaning."""
        return same_meaning(self.outcome.before, self.config)

    def read_newest(self, added: int) -> int:
        """Give ``outcome`` the newest enabled version; the newest number whatever its state, or 0.

        The service promises a fresh answer only for a version that is accessed by its number.  The alias
        ``latest``, lists and metadata may be hours old, so they only say where to begin: numbers have no
        gaps, and the newest is the one whose successor is not there.
        Source: Google's page "Resource consistency", and the reference of SecretVersion.

        :param added: the number that the last add was to get, as the metadata say; 0 for none.
        :raises Conflict: they tell of versions that are not there any more.
        """
        self.outcome.version = self.outcome.before = None
        # Most often nothing is newer: then these two calls are all.
        newest = added if added and self._read(added) else self._begin(added)
        while self._read(newest + 1):
            newest += 1
        if newest and self.outcome.version is None:
            self._read_older()
        return newest

    def _begin(self, absent: int) -> int:
        """The newest number as far as the service knows, whose version is read if it is enabled.

        :param absent: what is known not to be there.
        """
        client, outcome, name = self.client, self.outcome, self.target.name
        try:
            latest = client.access_latest(name, self.deadline)
        except FailedPrecondition:
            # It is disabled, and the error does not say its number.
            newest = client.newest_version(name, self.deadline, enabled=False)
            found = int(version_number(newest.name)) if newest is not None else 0
        else:
            found = int(latest[0]) if latest is not None else 0
            if latest is not None:
                outcome.version, outcome.before = latest[0], parse_held(latest[1], self.config)
        if 0 < absent <= found:
            raise Conflict(f"{name} was deleted a moment ago")
        return found

    def _read(self, version: int) -> bool:
        """Whether there is a version of this number; it is ``outcome``'s if it is enabled."""
        try:
            data = access_enabled(self.client, f"{self.target.name}/versions/{version}", self.deadline)
        except NotFound:
            return False
        except NotEnabled:
            return True
        self.outcome.version, self.outcome.before = str(version), parse_held(data, self.config)
        return True

    def _read_older(self) -> None:
        """The newest one is not enabled: an older one may be, and its state in the list may be old, too."""
        for version in self.client.versions(self.target.name, self.deadline, enabled=True):
            if self._read(int(version_number(version.name))) and self.outcome.version is not None:
                return

    def note(self, operation: str, message: str, **fields: str) -> None:
        """An entry of the target's journal."""
        note(self.outcome, operation, message, **fields)
