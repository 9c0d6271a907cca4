# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The largest value of the last minutes, as a gauge.

The adapter contract's alert is ``pullsecret_job_duration_seconds > 300``, so the metric has one value at a time.
The duration of the last Job would not do: a quick Job that ends before the next scrape would hide a slow one. Every
scrape sees the longest Job of the last minutes, and that value expires by itself.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Callable

from prometheus_client.core import GaugeMetricFamily, Metric

__all__ = ["WINDOW", "RecentMaximum"]

# Seconds.
WINDOW = 600.0
_Labels = tuple[str, ...]


class RecentMaximum:
    """A collector of one gauge: by labels, the largest value of the last ``WINDOW`` seconds, if any.

    :param clock: seconds, monotonic.
    """

    def __init__(
        self, name: str, documentation: str, labels: Sequence[str], clock: Callable[[], float]
    ) -> None:
        self._name = name
        self._documentation = documentation
        self._names = tuple(labels)
        self._clock = clock
        self._lock = threading.Lock()
        # Without smaller and older values, so that the first one is the largest.
        self._values: dict[_Labels, deque[tuple[float, float]]] = {}

    def add(self, labels: _Labels, value: float) -> None:
        """Add a value of now."""
        with self._lock:
            values = self._values.setdefault(labels, deque())
            self._drop_old(values)
            while values and values[-1][1] <= value:
                values.pop()
            values.append((self._clock(), value))

    def describe(self) -> Iterable[Metric]:
        """For the registry, which refuses a duplicate name."""
        return [self._family()]

    def collect(self) -> Iterable[Metric]:
        """For the registry."""
        family = self._family()
        with self._lock:
            for labels in list(self._values):
                values = self._values[labels]
                self._drop_old(values)
                if values:
                    family.add_metric(labels, values[0][1])
                else:
                    del self._values[labels]
        return [family]

    def _drop_old(self, values: deque[tuple[float, float]]) -> None:
        # Even if the metric is never collected.
        oldest = self._clock() - WINDOW
        while values and values[0][0] < oldest:
            values.popleft()

    def _family(self) -> GaugeMetricFamily:
        return GaugeMetricFamily(self._name, self._documentation, labels=self._names)
