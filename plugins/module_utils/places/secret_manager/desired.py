# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What one target is to hold, and how far the place is from it."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    DockerConfig,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import Conflict
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.outcome import Outcome
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.client import (
    SecretManagerClient,
    number,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.errors import (
    FailedPrecondition,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.target import (
    SecretManagerTarget,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.writing import (
    note,
    parse_held,
    same_meaning,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import Deadline

__all__ = ["Desired", "access_enabled"]


@dataclass(frozen=True)
class Desired:
    """One target, its docker config, and where and until when it is worked on."""

    client: SecretManagerClient
    target: SecretManagerTarget
    config: DockerConfig
    outcome: Outcome
    deadline: Deadline

    @property
    def payload(self) -> bytes:
        """The bytes of a version that holds it."""
        return self.config.canonical()

    def is_held(self) -> bool:
        """Whether the version that was read has this meaning."""
        return same_meaning(self.outcome.before, self.config)

    def read_latest(self) -> None:
        """Give ``outcome`` the version created last; None where there is none, or it is not enabled.

        Most often nothing has to be done, and this one call tells.
        """
        try:
            latest = self.client.access_latest(self.target.name, self.deadline)
        except FailedPrecondition:
            latest = None
        self.outcome.version = latest[0] if latest is not None else None
        self.outcome.before = parse_held(latest[1], self.config) if latest is not None else None

    def read_newest(self) -> int:
        """Give ``outcome`` the newest enabled version; the newest number whatever its state, or 0."""
        client, outcome, name, deadline = self.client, self.outcome, self.target.name, self.deadline
        newest = client.newest_version(name, deadline, enabled=False)
        base = int(number(newest.name)) if newest is not None else 0
        if newest is not None and newest.state.name != "ENABLED":
            newest = client.newest_version(name, deadline)
        known, outcome.version = outcome.version, number(newest.name) if newest is not None else None
        if outcome.version is None:
            outcome.before = None
        elif outcome.version != known:
            # The service answers with the project's number; messages keep the name that was asked for.
            version = f"{name}/versions/{outcome.version}"
            outcome.before = parse_held(access_enabled(client, version, deadline), self.config)
        return base

    def note(self, operation: str, message: str, **fields: str) -> None:
        """An entry of the target's journal."""
        note(self.outcome, operation, message, **fields)


def access_enabled(client: SecretManagerClient, version_name: str, deadline: Deadline) -> bytes:
    """The payload of a version that was enabled a moment ago.

    :raises Conflict: it is not any more.
    :raises FailedPrecondition: it is, and still cannot be read, as with a KMS key that is disabled.
    """
    try:
        return client.access(version_name, deadline)
    except FailedPrecondition:
        if client.get_version(version_name, deadline).state.name == "ENABLED":
            raise
        raise Conflict(f"{version_name} was disabled while it was read") from None
