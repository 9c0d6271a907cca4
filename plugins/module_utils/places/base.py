# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The interface of places that can be read.

One source is one class, with one line in ``sources.py``. Places that store secrets also implement
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
    """The value that a place holds, not parsed.

    :param version: the version in a secret store; None if the place has no versions.
    """

    data: bytes = field(repr=False)
    version: StoredVersion | None = None


class Source:
    """A place that is read. A reference is the value under its ``NAME``, already validated by ``SPEC``."""

    NAME: ClassVar[str]
    """The key under ``source``."""
    SPEC: ClassVar[dict[str, Any]]
    """The argument spec of that key."""
    RULES: ClassVar[tuple[str, ...]] = ()
    """The options of a reference that are parts of an address, named as their kinds in ``naming``."""
    CONNECTION: ClassVar[dict[str, Any] | None] = None
    """The argument spec of the modules' option ``NAME``, which says how to connect."""

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings

    @classmethod
    def check(cls, reference: Any) -> None:
        """Check that the reference can name a document. An invalid one is never read and never counts as
        missing.

        :raises ConfigurationError: names the invalid option, as ``source.NAME.option``.
        """
        for option in cls.RULES:
            text = str(reference.get(option) or "")
            if text or cls.SPEC["options"][option].get("required"):
                check_name(option, text, f"source.{cls.NAME}.{option}")

    def prepare(self, references: Sequence[Any]) -> None:
        """Read ahead for many references. Must not raise for a single invalid one (``get`` reports it)."""

    def get(self, reference: Any, deadline: Deadline) -> ReadValue:
        """Return the document as the place holds it.

        :raises NotFound: it does not exist, or has no value.
        :raises ValueDisabled: it exists, and its owner has disabled it.
        :raises PullSecretError: any other error, which names the place.
        """
        return ReadValue(self.read(reference, deadline))

    def read(self, reference: Any, deadline: Deadline) -> bytes:
        """Return only the bytes; raises as ``get`` does."""
        raise NotImplementedError

    def has_other_forms(self, reference: Any) -> bool:
        """Return whether the docker config may have a form of ``document_forms``."""
        return True

    def describe(self, reference: Any) -> str:
        """Return the reference in a form that is safe to print, such as ``file:/etc/pull-secret.json``."""
        raise NotImplementedError
