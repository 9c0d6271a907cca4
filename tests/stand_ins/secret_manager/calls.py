# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counters of the calls served: by method, by method and status code, and on wish by resource."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any


class Calls:
    """Thread-safe counters. `per_resource` is off by default: with thousands of secrets it costs memory."""

    def __init__(self, *, per_resource: bool = False) -> None:
        self.per_resource = per_resource
        self._lock = threading.Lock()
        self._codes: Counter[tuple[str, str]] = Counter()
        self._resources: Counter[tuple[str, str]] = Counter()

    def record(self, method: str, code: str, resource: str) -> None:
        with self._lock:
            self._codes[method, code] += 1
            if self.per_resource:
                self._resources[method, resource] += 1

    def count(
        self, method: str | None = None, *, code: str | None = None, resource: str | None = None
    ) -> int:
        """Calls of a method (all if None), with that code, or on that resource (project by id)."""
        with self._lock:
            if resource is not None:
                return sum(
                    number
                    for (name, where), number in self._resources.items()
                    if method in (None, name) and where == resource
                )
            return sum(
                number
                for (name, status), number in self._codes.items()
                if method in (None, name) and code in (None, status)
            )

    def reset(self) -> None:
        with self._lock:
            self._codes.clear()
            self._resources.clear()

    def snapshot(self) -> dict[str, Any]:
        """{"total": n, "methods": {name: n}, "codes": {name: {code: n}}, "resources": {name: {of: n}}}"""
        with self._lock:
            methods: Counter[str] = Counter()
            codes: dict[str, dict[str, int]] = {}
            for (method, code), number in self._codes.items():
                methods[method] += number
                codes.setdefault(method, {})[code] = number
            resources: dict[str, dict[str, int]] = {}
            for (method, resource), number in self._resources.items():
                resources.setdefault(method, {})[resource] = number
            total = sum(methods.values())
        return {"total": total, "methods": dict(methods), "codes": codes, "resources": resources}
