# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program that the DaemonSet ``global-pull-secret-syncer`` runs on every node."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Mapping

from .api import PodApi
from .intervals import Intervals
from .leases import RestartSlots
from .log import JsonLog, error_place
from .loop import SyncLoop
from .node import Node
from .settings import SyncerSettings, SyncerSettingsError, settings_from_environment
from .status import NodeStatus
from .watch import SecretState, SecretWatch

__all__ = ["SyncerProgram", "main"]

# Seconds for one call of the API server. A change that comes meanwhile waits for up to two calls.
_CALL_SECONDS = 5.0


class SyncerProgram:
    """All parts of the syncer.

    :param node: replaces the node of the settings, for tests; ``pace`` does the same for the intervals.
    """

    def __init__(
        self,
        settings: SyncerSettings,
        log: JsonLog,
        node: Node | None = None,
        pace: Intervals | None = None,
    ) -> None:
        self._log = log
        pace = pace or Intervals(settings)
        self._calls, watch = (
            PodApi(
                settings.host,
                settings.port,
                tls=settings.tls,
                directory=settings.account_dir,
                timeout=_CALL_SECONDS,
            )
            for dummy in range(2)
        )
        self.loop = SyncLoop(
            settings,
            node or Node(settings),
            RestartSlots(
                self._calls,
                settings.namespace,
                settings.leases,
                settings.node,
                duration=settings.lease_seconds,
            ),
            NodeStatus(self._calls, settings.namespace, settings.status, settings.node, backoff=pace.status),
            log,
            rest=self._rest,
            pace=pace,
        )
        self._watch = SecretWatch(
            watch,
            settings.namespace,
            settings.secret,
            self._deliver,
            self._on_trouble,
            backoff=pace.watch,
        )

    def run(self) -> int:
        """Run until ``loop.stop()``, and return the exit code."""
        threading.Thread(target=self._watching, name="watch", daemon=True).start()
        try:
            return self.loop.run()
        finally:
            self._watch.stop()

    def _deliver(self, secret: SecretState | None) -> None:
        """Deliver at once: the node's file does not wait for a status or a Lease of a slow API server."""
        # In this order, so that a call that begins with the change is not shortened.
        self._calls.hurry()
        self.loop.deliver(secret)

    def _rest(self) -> None:
        """Free memory, because no work is left."""
        self._calls.rest()
        gc.collect()

    def _watching(self) -> None:
        try:
            self._watch.run()
        except Exception as error:  # noqa: BLE001 - without the watch there is no syncer
            self.loop.fail(error_place(error))

    def _on_trouble(self, problem: str) -> None:
        if problem:
            self._log.warning("watch broken", why=problem)
        else:
            self._log.info("watching")


def main(environ: Mapping[str, str] | None = None) -> int:
    """Run until SIGTERM. Return 0, or 1 if the syncer cannot continue, or 2 for invalid settings."""
    log = JsonLog()
    try:
        settings = settings_from_environment(os.environ if environ is None else environ)
        syncer = SyncerProgram(settings, log)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_event: syncer.loop.stop())
        log.info("started", node=settings.node, pid=os.getpid(), python=sys.version.split()[0])
        # Objects that exist by now stay, and need no garbage collection.
        gc.collect()
        gc.freeze()
        return syncer.run()
    except SyncerSettingsError as error:
        log.error("ended", why=str(error))
        return 2
    except Exception as error:  # noqa: BLE001 - Python would print its message
        log.error("ended", why=error_place(error))
        return 1
