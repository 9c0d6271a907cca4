# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The settings that all services of one module run share: limits, retries and connections."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .calls import Calls
from .retry import Deadline, Retrier, RetryObserver, RetryPolicy

__all__ = ["RunSettings"]


@dataclass(frozen=True)
class RunSettings:
    """The settings that all services of one module run share.

    :param api_timeout: seconds for one request.
    :param timeout: seconds for one target, retries included.
    :param connections: the module's connection options, such as ``gcp``, as given.
    :param concurrency: how many targets are processed at once (size of connection pools).
    :param calls: counter of requests.
    """

    api_timeout: float = 30.0
    timeout: float = 300.0
    concurrency: int = 16
    retrier: Retrier = field(default_factory=Retrier)
    connections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    calls: Calls = field(default_factory=Calls)

    @classmethod
    def from_options(
        cls,
        params: Mapping[str, Any],
        stop: threading.Event,
        connections: Mapping[str, Mapping[str, Any]],
        policy: RetryPolicy,
    ) -> RunSettings:
        """Build the settings from a module's validated options.

        :param stop: once it is set, no call is retried.
        :param policy: the default if the option ``retry`` has no other value.
        """
        retry = params.get("retry") or {}
        said = {name: retry[name] for name in ("tries", "delay", "max_delay") if name in retry}
        return cls(
            api_timeout=params["api_timeout"],
            timeout=params["timeout"],
            concurrency=params["concurrency"],
            retrier=Retrier(replace(policy, **said), stop),
            connections=connections,
        )

    def connection(self, name: str) -> Mapping[str, Any]:
        """Return the options of one connection, empty if the task gave none."""
        return self.connections.get(name) or {}

    def deadline(self, on_retry: RetryObserver | None = None, calls: Calls | None = None) -> Deadline:
        """Return a new time limit for one target."""
        return Deadline(self.timeout, on_retry, calls)
