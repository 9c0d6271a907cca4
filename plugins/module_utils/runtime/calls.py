# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How often the places were asked, what they answered, and how long it took; no object's name, no value."""

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
    """One request. Its sender sets ``status``: the HTTP status of the answer."""

    NO_ANSWER: ClassVar[str] = "none"

    def __init__(self) -> None:
        self.status: int | str = self.NO_ANSWER


class Calls:
    """Counts requests, tries again counted each; thread-safe."""

    GCP: ClassVar[str] = "gcp"
    KUBERNETES: ClassVar[str] = "k8s"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: dict[tuple[str, str, str], tuple[int, float]] = {}

    @contextmanager
    def timed(self, api: str, operation: str, also: Calls | None = None) -> Iterator[Call]:
        """Around one request, whatever becomes of it.

        :param also: where it is counted as well: the calls of the one target that it is made for.
        """
        call = Call()
        started = time.monotonic()
        try:
            yield call
        finally:
            seconds = time.monotonic() - started
            # An IntEnum's text is not its number everywhere.
            status = str(int(call.status)) if isinstance(call.status, int) else call.status
            for calls in (self, also):
                if calls is not None:
                    calls.add(api, operation, status, 1, seconds)

    def add(self, api: str, operation: str, status: str, count: int, seconds: float) -> None:
        """Count so many requests; a negative number takes them back."""
        with self._lock:
            key = api, operation, status
            before, took = self._counted.get(key, (0, 0.0))
            self._counted[key] = before + count, took + seconds

    def merge(self, other: Calls, sign: int = 1) -> None:
        """Count what another counted; with -1 take it back."""
        with other._lock:
            counted = sorted(other._counted.items())
        for (api, operation, status), (count, seconds) in counted:
            self.add(api, operation, status, sign * count, sign * seconds)

    def of(self, api: str) -> list[dict[str, Any]]:
        """``operation``, ``status_code``, ``count`` and ``seconds`` (together), by operation and code."""
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
    """What was spent on one target.

    :param calls: requests that were made for it alone.
    :param seconds: that its work took, with all waiting.
    """

    calls: Calls = field(default_factory=Calls)
    seconds: float = 0.0


def snake(method: str) -> str:
    """``add_secret_version`` of ``AddSecretVersion``."""
    return _WORDS.sub("_", method).lower()


def kubernetes_operation(method: str, path: str) -> str:
    """``get_secret``, ``list_secrets``, ``create_job``: of a request, without the names in it."""
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
