# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The interface of a secret store for writers: the rules of its targets, and a few operations.

A store is also a source, whose ``get`` reads one version. Operations that have no caller yet are not here:
the page *Architecture* lists them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from ..dockerconfig import DockerConfig
from ..model.errors import ConfigurationError
from ..model.outcome import Outcome
from ..runtime.retry import Deadline
from .base import ReadValue, Source

__all__ = [
    "Container",
    "SecretMetadata",
    "SecretStore",
    "StoreInspector",
    "StoreTarget",
    "StoreWriter",
    "VersionMetadata",
]


class StoreTarget(Protocol):
    """The wanted secret in a store."""

    @property
    def id(self) -> str:
        """Its id in results."""

    @property
    def name(self) -> str:
        """The secret's address."""


T = TypeVar("T", bound=StoreTarget)


class StoreWriter(ABC, Generic[T]):
    """Writes many secrets of one store in one run. Thread-safe. What was done goes into the target's outcome."""

    def prepare(self, targets: Sequence[T]) -> None:
        """List the metadata of many secrets in few requests, if the store supports it and it saves requests."""

    @abstractmethod
    def put(self, target: T, config: DockerConfig, outcome: Outcome, deadline: Deadline) -> None:
        """Make the newest readable value of the secret mean ``config``; no new version if it already does.

        A store with preconditions uses them: of two simultaneous runs, one adds a version.

        :raises OwnershipConflict: the secret has another owner (``model.ownership.foreign``).
        """

    @abstractmethod
    def restore(
        self, target: T, version: str, outcome: Outcome, deadline: Deadline, seen: list[bytes]
    ) -> None:
        """Make the newest readable value of the secret mean the same as an older version.

        The outcome's ``provenance`` says which version each registry comes from.

        :param seen: receives the document as it was read.
        """

    @abstractmethod
    def delete(self, target: T, outcome: Outcome, deadline: Deadline) -> None:
        """Delete the secret with all its versions; do nothing if it does not exist.

        :raises OwnershipConflict: as ``put``, also if adoption is allowed.
        """


@dataclass(frozen=True)
class SecretMetadata:
    """A secret without its values.

    :param identity: the service's own name of it, which two ways of naming it have in common.
    :param created: RFC 3339, UTC; None where the service does not say.
    """

    address: str
    identity: str
    labels: Mapping[str, str]
    created: str | None = None


@dataclass(frozen=True)
class VersionMetadata:
    """A version without its value.

    :param state: ``enabled``, ``disabled`` or ``destroyed``.
    """

    number: str
    state: str
    created: str | None = None


@dataclass(frozen=True)
class Container:
    """Where many secrets of one account are listed together.

    :param key: the store's own; :param name: for messages.
    """

    key: Hashable
    name: str


class StoreInspector(ABC, Generic[T]):
    """Reads what many secrets of one store are, in one run; thread-safe.  It reads no value."""

    def prepare(self, targets: Sequence[T]) -> None:
        """List the metadata of many secrets in few requests, where the store can and that pays."""

    @abstractmethod
    def secret(self, target: T, deadline: Deadline) -> SecretMetadata | None:
        """Return the secret, whatever its owner; None if it does not exist."""

    @abstractmethod
    def versions(self, target: T, deadline: Deadline) -> list[VersionMetadata]:
        """All versions of a secret that is there, newest first."""

    @abstractmethod
    def containers(self, targets: Sequence[T], named: Sequence[str]) -> list[Container]:
        """Where the targets are, and those that are named beside them."""

    @abstractmethod
    def owned(self, container: Container, deadline: Deadline) -> list[SecretMetadata]:
        """Every pull secret there that this collection owns."""


class SecretStore(Source, ABC, Generic[T]):
    """A place that stores versions of a cluster's secret and reads them.

    An address is the text that names a secret in messages, annotations and reports. A reference has the
    options of ``SPEC``: those of an address, ``version``, and options that a target has under the same name.
    """

    PHASE: ClassVar[str]
    """The name of storing a secret there in the log and the result."""
    ADDRESS: ClassVar[str]
    """The form of an address, for messages."""

    @classmethod
    @abstractmethod
    def address(cls, options: Mapping[str, Any]) -> str:
        """Return the address of the secret that a reference or a target's options name; checks nothing."""

    @classmethod
    @abstractmethod
    def parse_address(cls, text: str) -> dict[str, str] | None:
        """Parse an address to a reference without a version; None for any other text."""

    @classmethod
    def is_address(cls, text: str) -> bool:
        """Return whether the text is an address with valid names."""
        reference = cls.parse_address(text)
        if reference is None:
            return False
        try:
            cls.check(reference)
        except ConfigurationError:
            return False
        return True

    @classmethod
    @abstractmethod
    def check_address(cls, options: Mapping[str, Any]) -> None:
        """Check that a target's options name a secret.

        :raises ConfigurationError: they do not.
        """

    @classmethod
    @abstractmethod
    def target(cls, options: Mapping[str, Any]) -> T:
        """Return the target that options describe, after ``check_address``.

        :raises WrongOption: the first option that breaks a rule of the store.
        """

    @abstractmethod
    def writer(self, *, dry_run: bool) -> StoreWriter[T]:
        """Return a writer that uses the connections of this store.

        :param dry_run: check mode: everything is read, nothing is written.
        """

    @abstractmethod
    def inspector(self) -> StoreInspector[T]:
        """What looks at secrets over the connections that this store reads by."""

    @abstractmethod
    def get(self, reference: Any, deadline: Deadline) -> ReadValue:
        """Read as any source does; without a version, or with ``latest``, the newest readable one."""

    def read(self, reference: Any, deadline: Deadline) -> bytes:
        """Return the value alone."""
        return self.get(reference, deadline).data
