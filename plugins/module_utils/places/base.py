# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a place is to those who read it.

One source is one file is one small class: its ``NAME`` is the key under ``source:``,
its ``SPEC`` the argument spec of that key, its ``RULES`` the options that name something, and its verbs
are ``check``, ``prepare`` (read ahead for many references in few requests) and ``read``.
Adding a source touches the registry in ``sources.py`` and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..model.naming import check_name
from ..model.stored_version import StoredVersion
from ..runtime.retry import Deadline
from ..runtime.settings import RunSettings

__all__ = ["Source"]


class Source:
    """A place that is read.  A reference is the value under its ``NAME``, already validated by ``SPEC``."""

    NAME: ClassVar[str]
    SPEC: ClassVar[dict[str, Any]]
    # The options that are parts of an address, each called as its kind is in ``naming``.
    RULES: ClassVar[tuple[str, ...]] = ()

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
        """Read ahead for many references; must not raise for a single bad one (``read`` reports it)."""

    def read(self, reference: Any, deadline: Deadline) -> bytes:
        """The document as the place holds it, not parsed.

        :raises PullSecretError: one of the family, naming the place.
        """
        raise NotImplementedError

    def read_version(self, reference: Any, deadline: Deadline) -> tuple[bytes, StoredVersion | None]:
        """As ``read``, and which version of a secret in Secret Manager that is; None where it is none."""
        return self.read(reference, deadline), None

    def describe(self, reference: Any) -> str:
        """The reference in a form that is safe to print, such as ``file:/etc/pull-secret.json``."""
        raise NotImplementedError
