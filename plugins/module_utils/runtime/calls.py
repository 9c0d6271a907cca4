# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Counts requests by operation and status, with their time; no object's name, no value."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

__all__ = ["Call", "Calls", "Spent", "kubernetes_operation", "snake"]

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_VERBS = {"POST": "create", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}


class Call:
    """One request. Its sender sets ``status``: the HTTP status of the response."""

    NO_ANSWER: ClassVar[str] = "none"

    def __init__(self) -> None:
        self.status: int | str = self.NO_ANSWER


class Calls:
    """Counts requests, including each retry. Thread-safe."""

    GCP: ClassVar[str] = "gcp"
    KUBERNETES: ClassVar[str] = "k8s"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: dict[tuple[str, str, str], tuple[int, float]] = {}

    @contextmanager
    def timed(self, api: str, operation: str, also: Calls | None = None) -> Iterator[Call]:
        """Time one request, whatever its result.

        :param also: another counter: the calls of the one target for which it is made.
        """
        call = Call()
        started = time.monotonic()
        try:
            yield call
        finally:
            seconds = time.monotonic() - started
            # str() of an IntEnum is not its number in every Python.
            status = str(int(call.status)) if isinstance(call.status, int) else call.status
            for calls in (self, also):
                if calls is not None:
                    calls.add(api, operation, status, 1, seconds)

    def add(self, api: str, operation: str, status: str, count: int, seconds: float) -> None:
        """Add a number of requests; a negative number subtracts them."""
        with self._lock:
            key = api, operation, status
            before, took = self._counted.get(key, (0, 0.0))
            self._counted[key] = before + count, took + seconds

    def merge(self, other: Calls, sign: int = 1) -> None:
        """Add the counts of another counter; -1 subtracts them."""
        with other._lock:
            counted = sorted(other._counted.items())
        for (api, operation, status), (count, seconds) in counted:
            self.add(api, operation, status, sign * count, sign * seconds)

    def of(self, api: str) -> list[dict[str, Any]]:
        """Return ``operation``, ``status_code``, ``count`` and ``seconds`` (total), by operation and code."""
        with self._lock:
            counted = sorted(self._counted.items())
        return [
            {
                "operation": operation,
                "status_code": status,
                "count": count,
                "seconds": max(0.0, round(seconds, 4)),
            }
            for (asked, operation, status), (count, seconds) in counted
            if asked == api and count > 0
        ]


@dataclass
class Spent:
    """Requests and time of one target.

    :param calls: requests that were made for it alone.
    :param seconds: the time of its work, including all waiting.
    """

    calls: Calls = field(default_factory=Calls)
    seconds: float = 0.0


def snake(method: str) -> str:
    """Return ``add_secret_version`` for ``AddSecretVersion``."""
    return _WORDS.sub("_", method).lower()


def kubernetes_operation(method: str, path: str) -> str:
    """Return ``get_secret``, ``list_secrets``, ``create_job`` for a request, without the names in it."""
    parts = path.strip("/").split("/")
    # /api/v1/… and /apis/GROUP/VERSION/…
    parts = parts[3:] if parts[0] == "apis" else parts[2:]
    if parts[:1] == ["namespaces"] and len(parts) > 2:
        parts = parts[2:]
    if not parts:
        return "request"
    kind, named = parts[0], len(parts) > 1
    if method == "GET" and not named:
        return f"list_{kind}"
    below = "".join(f"_{part}" for part in parts[2:3])
    return f"{_VERBS.get(method, 'get')}_{kind[:-1] if kind.endswith('s') else kind}{below}"
