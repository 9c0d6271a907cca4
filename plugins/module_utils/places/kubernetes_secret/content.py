# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a Secret is to hold: what this run was given, or a newer version that the Secret holds already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable

from ...dockerconfig import DockerConfig
from ...model.errors import PullSecretError
from ...model.naming import STORED_VERSION
from ...model.stored_version import StoredVersion, must_stay

__all__ = ["ContentChoice", "MissingVersion", "SecretContent"]


@dataclass(frozen=True)
class SecretContent:
    """A docker config.

    :param version: of a stored secret that it was made of; None where there is none.
    """

    config: DockerConfig
    version: StoredVersion | None = None


@dataclass(frozen=True)
class MissingVersion:
    """A version that this run was to place, and that is not enabled or not there any more."""

    version: StoredVersion
    problem: PullSecretError


class ContentChoice:
    """Chooses what one target's Secret gets, each time that the Secret is read.

    The Secret itself says which version it holds: Kubernetes answers with what was written last, and
    a store may not.

    :param given: what this run would place.
    :param read: reads another version; None where it is disabled, destroyed or gone.
    """

    def __init__(
        self, given: SecretContent | MissingVersion, read: Callable[[StoredVersion], SecretContent | None]
    ) -> None:
        self._given = given
        self._read = read
        self._known: dict[StoredVersion, SecretContent | None] = {}

    def content(self, secret: Mapping[str, Any] | None) -> SecretContent:
        """What the Secret is to hold.

        :param secret: as it was read; None where there is none.
        :raises PullSecretError: this run has nothing to place, and the Secret holds nothing newer.
        """
        annotations = (secret or {"metadata": {}})["metadata"].get("annotations") or {}
        held = StoredVersion.parse(annotations.get(STORED_VERSION))
        if held is not None and must_stay(held, self._given.version):
            if held not in self._known:
                self._known[held] = self._read(held)
            newer = self._known[held]
            if newer is not None:
                return newer
        if isinstance(self._given, MissingVersion):
            raise self._given.problem
        return self._given

    def warning(self, chosen: SecretContent) -> str | None:
        """What to say of the choice."""
        given = self._given.version
        if given is None or chosen.version is None or given == chosen.version:
            return None
        return (
            f"the Kubernetes Secret keeps version {chosen.version.number} of {chosen.version.secret}, which is "
            f"newer than version {given.number} of this run; disable version {chosen.version.number} if it is not "
            "wanted"
        )
