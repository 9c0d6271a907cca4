# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What was found of one cluster in both places, and how they differ.  Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...dockerconfig import DockerConfig, digest
from ...model.naming import LAST_APPLIED, owner_problem
from ...model.shown import shown
from ...model.stored_version import StoredVersion
from ...places.secret_store import SecretMetadata, VersionMetadata
from ...runtime.batch import Failure

__all__ = ["PLACED", "SOURCE", "STORED", "ClusterFindings", "FoundPlaced", "FoundStored"]

# The parts of an entry.
STORED = "secret_manager"
PLACED = "management_secret"
SOURCE = "source"


@dataclass(frozen=True)
class FoundStored:
    """The secret in the store.

    :param configs: of the versions whose docker config was read and is valid, by number.
    :param problem: whose it is, if it is not this cluster's.
    """

    secret: SecretMetadata
    problem: str | None
    versions: Sequence[VersionMetadata] = ()
    configs: Mapping[str, DockerConfig] = field(default_factory=dict, repr=False)

    @property
    def newest(self) -> VersionMetadata | None:
        """The newest version that is enabled."""
        return next((version for version in self.versions if version.state == "enabled"), None)

    def with_state(self, number: str, state: str) -> FoundStored:
        """As it is if a version's own answer differs from the list, which may be old."""
        versions = [
            replace(version, state=state) if version.number == number else version
            for version in self.versions
        ]
        return replace(self, versions=versions)


@dataclass(frozen=True)
class FoundPlaced:
    """The Secret in the management cluster.

    :param version: what its annotation says that it holds.
    :param config: None where it holds none, a broken one, or the Secret is somebody else's.
    :param has_last_applied: whether it has the annotation of ``kubectl apply``.
    """

    labels: Mapping[str, str]
    problem: str | None
    version: StoredVersion | None
    config: DockerConfig | None = field(repr=False)
    immutable: bool
    created: str | None
    has_last_applied: bool = False


@dataclass(frozen=True)
class ClusterFindings:
    """One cluster.

    :param is_wanted: whether the secrets should be there (``state: present``).
    :param source: the docker config of the cluster's source, where it was read.
    :param digests: whether values were read at all.
    :param failed: the parts that could not be read, and why. Without them there is no drift to tell.
    """

    stored_at: str
    placed_at: str
    is_wanted: bool
    stored: FoundStored | None
    placed: FoundPlaced | None
    source: DockerConfig | None = field(default=None, repr=False)
    digests: bool = True
    failed: Mapping[str, Failure] = field(default_factory=dict)

    def drift(self) -> list[str]:
        """What is not as a run of ``provision`` leaves it, in sentences."""
        if not self.is_wanted:
            there = [where for where, found in self._places() if found is not None]
            return [f"{where} is still there" for where in there]
        missing = [f"{where} does not exist" for where, found in self._places() if found is None]
        foreign = [
            f"{where} {found.problem}"
            for where, found in self._places()
            if found is not None and found.problem is not None
        ]
        copy = (
            [f"{self.placed_at} has the annotation {LAST_APPLIED}, which may hold an old pull secret"]
            if self.placed is not None and self.placed.problem is None and self.placed.has_last_applied
            else []
        )
        return [*missing, *foreign, *self._differences(), *copy]

    def _places(self) -> list[tuple[str, FoundStored | FoundPlaced | None]]:
        return [(self.stored_at, self.stored), (self.placed_at, self.placed)]

    def _differences(self) -> list[str]:
        stored, placed, found = self.stored, self.placed, []
        if stored is None or stored.problem is not None:
            return []
        newest = stored.newest
        if newest is None:
            return [f"{self.stored_at} has no enabled version"]
        config = stored.configs.get(newest.number)
        if self.digests and config is None:
            found.append(f"version {newest.number} is not a valid docker config")
        if placed is not None and placed.problem is None:
            found += self._between(newest.number, config, placed)
        if self.source is not None and config is not None and not self.source.same_meaning(config):
            found.append(f"the source holds another pull secret than version {newest.number}")
        return found

    def _between(self, newest: str, config: DockerConfig | None, placed: FoundPlaced) -> list[str]:
        """Of the management Secret and the newest version, both this cluster's."""
        if self.digests and placed.config is None:
            return [f"{self.placed_at} does not hold a valid docker config"]
        differs = config is not None and placed.config is not None and not placed.config.same_meaning(config)
        held = placed.version
        if held is None and not self.digests:
            return [f"{self.placed_at} does not name the version that it holds"]
        if held is not None and held.secret == self.stored_at and str(held.number) != newest:
            if config is None or differs:
                return [
                    f"{self.placed_at} holds version {held.number}, and version {newest} is the newest enabled"
                ]
            # Two versions of one meaning: the next run corrects the annotation.
            return [
                f"{self.placed_at} names version {held.number} instead of {newest}; both have the same content"
            ]
        return [f"{self.placed_at} holds another pull secret than version {newest}"] if differs else []

    def entry(self, key: bytes) -> dict[str, Any]:
        """What the module returns of it.

        :param key: of the digests.
        """
        entry: dict[str, Any] = {
            STORED: {"place": self.stored_at, **(self._failure(STORED) or _stored(self.stored, key))},
            PLACED: {"place": self.placed_at, **(self._failure(PLACED) or _placed(self.placed, key))},
        }
        if SOURCE in self.failed:
            entry[SOURCE] = self._failure(SOURCE)
        elif self.source is not None:
            entry[SOURCE] = {"digest": digest(self.source, key)}
        if not self.failed:
            drift = self.drift()
            return {"in_sync": not drift, "drift": drift, **entry}
        messages = dict.fromkeys(str(failure) for failure in self.failed.values())
        first = next(iter(self.failed.values()))
        return {**entry, "failed": True, "kind": first.kind, "msg": "; ".join(messages)}

    def _failure(self, part: str) -> dict[str, Any]:
        """Why a part could not be read; empty if it was read."""
        failure = self.failed.get(part)
        return {"failed": True, "kind": failure.kind, "msg": str(failure)} if failure else {}


def _stored(found: FoundStored | None, key: bytes) -> dict[str, Any]:
    if found is None:
        return {"exists": False}
    newest = found.newest
    digests = {number: digest(config, key) for number, config in found.configs.items()}
    return {
        "exists": True,
        **_owner(found.secret.labels, found.problem),
        "created": found.secret.created,
        "newest": newest.number if newest else None,
        "digest": digests.get(newest.number) if newest else None,
        "versions": [
            {
                "version": version.number,
                "state": version.state,
                "created": version.created,
                "digest": digests.get(version.number),
            }
            for version in found.versions
        ],
    }


def _placed(found: FoundPlaced | None, key: bytes) -> dict[str, Any]:
    if found is None:
        return {"exists": False}
    return {
        "exists": True,
        **_owner(found.labels, found.problem),
        "created": found.created,
        "version": str(found.version.number) if found.version else None,
        "digest": digest(found.config, key) if found.config is not None else None,
        "immutable": found.immutable,
    }


def _owner(labels: Mapping[str, str], problem: str | None) -> dict[str, Any]:
    """Whose it is, by its labels: a cluster's id, or another manager's name."""
    manager = labels.get("managed-by")
    ours = owner_problem(labels, None) is None
    owner = labels.get("cluster-id") if ours else manager
    return {"owner": shown(owner) if owner else None, "foreign": problem is not None}
