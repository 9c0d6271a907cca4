# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a secret store is to those who write it: the rules of its targets, and a few verbs.

A store is a source, too, whose ``get`` reads one version. The verbs that have no caller yet are not here:
The page *Architecture* says which.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from ..dockerconfig import DockerConfig
from ..model.errors import ConfigurationError
from ..model.outcome import Outcome
from ..runtime.retry import Deadline
from .base import ReadValue, Source

__all__ = ["SecretStore", "StoreTarget", "StoreWriter"]


class StoreTarget(Protocol):
    """A secret of a store as it should be."""

    @property
    def id(self) -> str:
        """What results call it."""

    @property
    def name(self) -> str:
        """The secret's address."""


T = TypeVar("T", bound=StoreTarget)


class StoreWriter(ABC, Generic[T]):
    """Writes many secrets of one store in one run; thread-safe. What is done goes into the target's outcome."""

    def prepare(self, targets: Sequence[T]) -> None:
        """List the metadata of many secrets in few requests, where the store can and that pays."""

    @abstractmethod
    def put(self, target: T, config: DockerConfig, outcome: Outcome, deadline: Deadline) -> None:
        """Make the newest readable value of the secret mean ``config``; no new version where it does.

        A store with preconditions uses them: of two runs at once, one adds a version.

        :raises OwnershipConflict: the secret is somebody else's (``model.ownership.foreign``).
        """

    @abstractmethod
    def restore(
        self, target: T, version: str, outcome: Outcome, deadline: Deadline, seen: list[bytes]
    ) -> None:
        """Make the newest readable value of the secret mean what an older version does.

        The outcome's ``provenance`` says which version each registry comes from.

        :param seen: is given the document as it was read.
        """

    @abstractmethod
    def delete(self, target: T, outcome: Outcome, deadline: Deadline) -> None:
        """Delete the secret with all its versions; nothing where it is not there.

        :raises OwnershipConflict: as ``put``, whatever may be adopted.
        """


class SecretStore(Source, ABC, Generic[T]):
    """A place that keeps versions of a cluster's secret: it is stored there, and read from there.

    An address is the text that names a secret in messages, annotations and reports. A reference has the options
    of ``SPEC``: those that are in an address, ``version``, and what a target calls by the same name.
    """

    PHASE: ClassVar[str]
    """What the log and the result call storing a secret there."""
    ADDRESS: ClassVar[str]
    """What an address looks like, for messages."""

    @classmethod
    @abstractmethod
    def address(cls, options: Mapping[str, Any]) -> str:
        """The address of the secret that a reference or a target's options name; checks nothing."""

    @classmethod
    @abstractmethod
    def parse_address(cls, text: str) -> dict[str, str] | None:
        """The reference, without a version, of what looks like an address; None of anything else."""

    @classmethod
    def is_address(cls, text: str) -> bool:
        """Whether the text is an address whose parts can be names."""
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
        """Whether a target's options name a secret.

        :raises ConfigurationError: they do not.
        """

    @classmethod
    @abstractmethod
    def target(cls, options: Mapping[str, Any]) -> T:
        """What a target's options describe, once ``check_address`` has passed them.

        :raises WrongOption: the first option that breaks a rule of the store.
        """

    @abstractmethod
    def writer(self, *, dry_run: bool) -> StoreWriter[T]:
        """What writes over the connections that this store reads by.

        :param dry_run: check mode: everything is read, nothing is written.
        """

    @abstractmethod
    def get(self, reference: Any, deadline: Deadline) -> ReadValue:
        """As of any source; without a version, or of ``latest``, the newest that can be read."""

    def read(self, reference: Any, deadline: Deadline) -> bytes:
        """The value alone."""
        return self.get(reference, deadline).data
