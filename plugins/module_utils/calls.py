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
from typing import Any, ClassVar, Union

__all__ = ["Call", "Calls", "kubernetes_operation", "snake"]

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_VERBS = {"POST": "create", "PUT": "replace", "PATCH": "patch", "DELETE": "delete"}


class Call:
    """One request; whoever makes it sets ``status``: what HTTP calls the answer."""

    NO_ANSWER: ClassVar[str] = "none"

    def __init__(self) -> None:
        self.status: Union[int, str] = self.NO_ANSWER


class Calls:
    """Counts requests, tries again counted each; thread-safe."""

    GCP: ClassVar[str] = "gcp"
    KUBERNETES: ClassVar[str] = "k8s"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: dict[tuple[str, str, str], tuple[int, float]] = {}

    @contextmanager
    def timed(self, api: str, operation: str) -> Iterator[Call]:
        """Around one request, whatever becomes of it."""
        call = Call()
        started = time.monotonic()
        try:
            yield call
        finally:
            seconds = time.monotonic() - started
            # An IntEnum's text is not its number everywhere.
            status = str(int(call.status)) if isinstance(call.status, int) else call.status
            with self._lock:
                key = api, operation, status
                count, before = self._counted.get(key, (0, 0.0))
                self._counted[key] = count + 1, before + seconds

    def of(self, api: str) -> list[dict[str, Any]]:
        """``operation``, ``status_code``, ``count`` and ``seconds`` (together), by operation and code."""
        with self._lock:
            counted = sorted(self._counted.items())
        return [
            {"operation": operation, "status_code": status, "count": count, "seconds": round(seconds, 4)}
            for (asked, operation, status), (count, seconds) in counted
            if asked == api
        ]


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
