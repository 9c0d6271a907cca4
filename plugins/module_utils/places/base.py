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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.calls import Calls
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.naming import check_name
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import (
    Deadline,
    Retrier,
    RetryObserver,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.stored_version import StoredVersion

__all__ = ["Settings", "Source"]


@dataclass(frozen=True)
class Settings:
    """What all places of one module run share.

    :param api_timeout: seconds for one request.
    :param timeout: seconds for one target, retries included.
    :param connections: the module's ``gcp``, ``kubernetes`` and ``hyperfleet`` options, as given.
    :param concurrency: how many targets are handled at once (sizes connection pools).
    :param calls: what the places were asked.
    """

    api_timeout: float = 30.0
    timeout: float = 300.0
    concurrency: int = 16
    retrier: Retrier = field(default_factory=Retrier)
    connections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    calls: Calls = field(default_factory=Calls)

    def connection(self, name: str) -> Mapping[str, Any]:
        """The options of one connection, empty where the task gave none."""
        return self.connections.get(name) or {}

    def deadline(self, on_retry: RetryObserver | None = None, calls: Calls | None = None) -> Deadline:
        """A fresh time limit for one target."""
        return Deadline(self.timeout, on_retry, calls)


class Source:
    """A place that is read.  A reference is the value under its ``NAME``, already validated by ``SPEC``."""

    NAME: ClassVar[str]
    SPEC: ClassVar[dict[str, Any]]
    # The options that are parts of an address, each called as its kind is in ``naming``.
    RULES: ClassVar[tuple[str, ...]] = ()

    def __init__(self, settings: Settings) -> None:
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
