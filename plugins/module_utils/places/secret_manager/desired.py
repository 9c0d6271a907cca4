# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The wanted content of one target, and the difference from the stored one."""

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
    """One target, its docker config, and where and until when it is processed.

    :param action: the name in results for the adding of a version.
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
        """Put the newest enabled version into ``outcome``, and return the newest number in any state, or 0.

        The service guarantees a current response only for a version that is accessed by its number. The alias
        ``latest``, lists and metadata may be hours old, so they only say where to begin. Numbers have no
        gaps: the newest version is the one without a successor. Source: Google's page "Resource consistency",
        and the reference of SecretVersion.

        :param added: the number of the last add according to the metadata; 0 for none.
        :raises Conflict: they name versions that no longer exist.
        """
        self.outcome.version = self.outcome.before = None
        # Usually nothing is newer, and these two calls are enough.
        newest = added if added and self._read(added) else self._begin(added)
        while self._read(newest + 1):
            newest += 1
        if newest and self.outcome.version is None:
            self._read_older()
        return newest

    def _begin(self, absent: int) -> int:
        """Return the newest number that the service knows. Reads its version if it is enabled.

        :param absent: a number that is known not to exist.
        """
        client, outcome, name = self.client, self.outcome, self.target.name
        try:
            latest = client.access_latest(name, self.deadline)
        except FailedPrecondition:
            # It is disabled, and the error does not name its number.
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
        """Return whether this version exists; an enabled one goes into ``outcome``."""
        try:
            data = access_enabled(self.client, f"{self.target.name}/versions/{version}", self.deadline)
        except NotFound:
            return False
        except NotEnabled:
            return True
        self.outcome.version, self.outcome.before = str(version), parse_held(data, self.config)
        return True

    def _read_older(self) -> None:
        """The newest version is not enabled. An older one may be, and its state in the list may also be
        stale.
        """
        for version in self.client.versions(self.target.name, self.deadline, enabled=True):
            if self._read(int(version_number(version.name))) and self.outcome.version is not None:
                return

    def note(self, operation: str, message: str, **fields: str) -> None:
        """An entry of the target's journal."""
        note(self.outcome, operation, message, **fields)
