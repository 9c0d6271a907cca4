# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Chooses the content of a Secret: the document of this run, or a newer version that the Secret already
holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable

from ...dockerconfig import DockerConfig
from ...model.naming import STORED_VERSION
from ...model.stored_version import StoredVersion, must_stay

__all__ = ["ContentChoice", "SecretContent"]


@dataclass(frozen=True)
class SecretContent:
    """A docker config.

    :param version: the stored version that it comes from; None without one.
    """

    config: DockerConfig
    version: StoredVersion | None = None


class ContentChoice:
    """Chooses the content of one target's Secret, each time that the Secret is read.

    The Secret itself names its version, because Kubernetes answers with the last write, and a store may not.

    :param version: the version that this run must place; None without one.
    :param read_wanted: returns the content of this run; it is called with the Secret, which may hold it already.
    :param read: reads another version; None if it is disabled, destroyed or deleted.
    """

    def __init__(
        self,
        version: StoredVersion | None,
        read_wanted: Callable[[Mapping[str, Any] | None], SecretContent],
        read: Callable[[StoredVersion], SecretContent | None],
    ) -> None:
        self._version = version
        self._read_wanted = read_wanted
        self._read = read
        self._known: dict[StoredVersion, SecretContent | None] = {}

    def content(self, secret: Mapping[str, Any] | None) -> SecretContent:
        """Return the wanted content of the Secret.

        :param secret: as it was read; None if there is none.
        :raises PullSecretError: this run's version cannot be read, and the Secret holds nothing newer.
        """
        annotations = (secret or {"metadata": {}})["metadata"].get("annotations") or {}
        held = StoredVersion.parse(annotations.get(STORED_VERSION))
        if held is not None and must_stay(held, self._version):
            if held not in self._known:
                self._known[held] = self._read(held)
            newer = self._known[held]
            if newer is not None:
                return newer
        return self._read_wanted(secret)

    def warning(self, chosen: SecretContent) -> str | None:
        """Return a warning about the choice."""
        wanted = self._version
        if wanted is None or chosen.version is None or wanted == chosen.version:
            return None
        return (
            f"the Kubernetes Secret keeps version {chosen.version.number} of {chosen.version.secret}, which is "
            f"newer than version {wanted.number} of this run; disable version {chosen.version.number} if it is not "
            "wanted"
        )
