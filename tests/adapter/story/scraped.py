# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real Prometheus scrapes the adapter: it answers the dashboard's queries and evaluates the alerts."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.lab.prometheus import Prometheus, prometheus
from tests.support import monitoring

# A panel's title and the metric of its query.
Silent = tuple[str, str]
# Longer than the story.
_SPAN = "15m"
_EVERY = "2s"
# Seconds, for one or two scrapes on a busy machine.
_PATIENCE = 15.0


class Scraped:
    """The adapter's metrics and alerts in Prometheus."""

    def __init__(self, server: Prometheus, runner: asyncio.Runner) -> None:
        self._server = server
        self._runner = runner

    def silent(self, expected: set[Silent]) -> set[Silent]:
        """Return the panels without data, when all of them are expected or the wait is over.

        :raises ValueError: Prometheus refuses a query.
        """
        deadline = time.monotonic() + _PATIENCE
        while True:
            found = {
                (query.panel, name)
                for query in monitoring.queries()
                if not monitoring.drawn(self._ask(query.expression))
                for name in monitoring.names(query.expression)
            }
            if found <= expected or time.monotonic() >= deadline:
                return found
            time.sleep(0.5)

    def _ask(self, expression: str) -> list[dict[str, Any]]:
        filled = monitoring.filled_in(expression, interval=_SPAN, span=_SPAN)
        return self._runner.run(self._server.query(filled))

    def trouble(self) -> str:
        """Why the last scrape failed, if it did."""
        (target,) = self._runner.run(self._server.get("targets"))["activeTargets"]
        return str(target["lastError"])

    def choices(self) -> dict[str, list[str]]:
        """The possible values of each variable of the dashboard."""
        found = {}
        for name, metric in monitoring.variables():
            match = {"match[]": metric}
            found[name] = self._runner.run(self._server.get(f"label/{name}/values", **match))
        return found

    def alerts(self) -> dict[str, str]:
        """The state of each alert; ValueError if Prometheus refuses its expression."""
        for rule in monitoring.rules():
            self._runner.run(self._server.query(rule["expr"]))
        groups = self._runner.run(self._server.get("rules"))["groups"]
        return {
            rule["name"]: rule["state"] if rule["health"] == "ok" else rule["health"]
            for group in groups
            for rule in group["rules"]
        }


@contextlib.contextmanager
def scraping(directory: Path, port: int) -> Iterator[Scraped]:
    """Scrape the adapter on this port of loopback until the block ends."""
    place = directory / "prometheus"
    place.mkdir()
    with asyncio.Runner() as runner:
        server = prometheus(
            place,
            [f"127.0.0.1:{port}"],
            labels=monitoring.NAMES,
            rules=[monitoring.ALERTS],
            every=_EVERY,
        )
        try:
            yield Scraped(runner.run(server.__aenter__()), runner)
        finally:
            runner.run(server.__aexit__(None, None, None))
