# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a place is to those who read it.

One source is one class, and ``sources.py`` has one line for it. A place that keeps secrets is more than that:
``secret_store.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..model.naming import check_name
from ..model.stored_version import StoredVersion
from ..runtime.retry import Deadline
from ..runtime.run_settings import RunSettings

__all__ = ["ReadValue", "Source"]


@dataclass(frozen=True)
class ReadValue:
    """What a place holds, not parsed.

    :param version: the version of a secret store that it is; None where the place counts no versions.
    """

    data: bytes = field(repr=False)
    version: StoredVersion | None = None


class Source:
    """A place that is read.  A reference is the value under its ``NAME``, already validated by ``SPEC``."""

    NAME: ClassVar[str]
    """The key under ``source``."""
    SPEC: ClassVar[dict[str, Any]]
    """The argument spec of that key."""
    RULES: ClassVar[tuple[str, ...]] = ()
    """The options of a reference that are parts of an address, each called as its kind is in ``naming``."""
    CONNECTION: ClassVar[dict[str, Any] | None] = None
    """The argument spec of the modules' option ``NAME``, which says how the place is reached."""

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings

    @classmethod
    def check(cls, reference: Any) -> None:
        """Whether the reference can name a document at all; what cannot is never read, and never "not there".

        :raises ConfigurationError: as ``source.NAME.option``, which is wrong.
        """
        for option in cls.RULES:
            text = str(reference.get(option) or "")
            if text or cls.SPEC["options"][option].get("required"):
                check_name(option, text, f"source.{cls.NAME}.{option}")

    def prepare(self, references: Sequence[Any]) -> None:
        """Read ahead for many references; must not raise for a single bad one (``get`` reports it)."""

    def get(self, reference: Any, deadline: Deadline) -> ReadValue:
        """The document as the place holds it.

        :raises NotFound: it is not there, or has no value.
        :raises ValueDisabled: it is there, and its owner has disabled it.
        :raises PullSecretError: any other of the family, naming the place.
        """
        return ReadValue(self.read(reference, deadline))

    def read(self, reference: Any, deadline: Deadline) -> bytes:
        """The bytes alone; raises as ``get`` does."""
        raise NotImplementedError

    def describe(self, reference: Any) -> str:
        """The reference in a form that is safe to print, such as ``file:/etc/pull-secret.json``."""
        raise NotImplementedError
