# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs one playbook after the other: puts an event, and waits for the end of the run.

ansible-rulebook does not report to a source whether a playbook started, or how it ended. So the run itself
shows its start (a lock) and its end (a file).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.batching import Batch
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.recorder import ActivityRecorder
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.run_directories import (
    RunDirectories,
    RunDirectory,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.batches import Queue
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import shown_path

__all__ = ["LOGGER", "PlaybookRuns"]

LOGGER = logging.getLogger("hyperfleet.pull_secret.cluster_events")

# Seconds between two checks for a result, between two checks of the lock, and after which a long run is
# logged.
_RESULT_POLL_SECONDS = 0.05
_LOCK_PROBE_SECONDS = 0.2
_LONG_RUN_SECONDS = 600.0
# Seconds until a full disk may have room.
_DISK_FULL_PAUSE_SECONDS = 5.0
# Seconds after which an engine that is no longer busy has finished the requested run.
_IDLE_AFTER_WORK_SECONDS = 5.0


class PlaybookRuns:
    """:param start: seconds in which a run must begin while the engine is idle.
    :param busy: returns whether the engine runs an action, as far as that is known.
    """

    def __init__(
        self,
        queue: Queue,
        run_directories: RunDirectories,
        recorder: ActivityRecorder,
        *,
        start: float,
        busy: Callable[[], bool],
        look: float = _RESULT_POLL_SECONDS,
    ) -> None:
        self._queue = queue
        self._run_directories = run_directories
        self._recorder = recorder
        self._start = start
        self._busy = busy
        self._look = look

    async def run(self, batch: Batch) -> dict[str, Any] | None:
        """Run a playbook for these clusters; return its result, or None if it died or did not begin."""
        begun = time.monotonic()
        directory = await self._directory(batch)
        try:
            await self._put(batch, directory)
            result = await self._end(directory)
        except BaseException:
            # Otherwise the metrics would count a run that never ends.
            self._recorder.run_ended(None, time.monotonic() - begun)
            raise
        directory.remove()
        self._recorder.run_ended(result, time.monotonic() - begun)
        return result

    async def _directory(self, batch: Batch) -> RunDirectory:
        while True:
            try:
                return self._run_directories.create(batch)
            except OSError as error:
                LOGGER.error(
                    "run_dir %s: cannot create a directory for a run (%s); trying again",
                    shown_path(str(self._run_directories.base)),
                    error.strerror,
                )
                await asyncio.sleep(_DISK_FULL_PAUSE_SECONDS)

    async def _put(self, batch: Batch, directory: RunDirectory) -> None:
        event = {"cluster_ids": batch.ids, "run": str(directory.path), "traceparents": batch.traceparents}
        while True:
            try:
                await self._queue.put({"cluster_events": event})
                return
            except Exception as error:  # noqa: BLE001 - the end of a source ends the rulebook
                LOGGER.error("an event could not be queued (%s); trying again", type(error).__name__)
                await asyncio.sleep(1.0)

    async def _end(self, directory: RunDirectory) -> dict[str, Any] | None:
        started = False
        idle: float | None = None
        start = self._start
        spoken = probed = time.monotonic()
        while True:
            result = directory.result()
            if result is not None:
                if not started:
                    self._recorder.run_started()
                return result
            now = time.monotonic()
            if now - probed < _LOCK_PROBE_SECONDS:
                # A check takes the lock for an instant, and a run could find it locked. So checks are rare.
                await asyncio.sleep(self._look)
                continue
            probed = now
            if directory.is_locked():
                if not started:
                    self._recorder.run_started()
                started = True
            elif started:
                # The lock may have been released after the check for the result.
                result = directory.result()
                if result is None:
                    LOGGER.error("a run ended without a result; its clusters go into the next run")
                return result
            elif self._busy():
                # The engine is most likely busy with this run, which may fail before its first step.
                idle, start = None, min(start, _IDLE_AFTER_WORK_SECONDS)
            else:
                idle = idle or now
                if now - idle >= start and directory.remove():
                    LOGGER.error(
                        "no playbook started the run in time; its clusters go into the next run; "
                        "check the rulebook's action"
                    )
                    return None
            if now - spoken >= _LONG_RUN_SECONDS:
                spoken = now
                LOGGER.warning("a run has lasted longer than %g s", _LONG_RUN_SECONDS)
            await asyncio.sleep(self._look)
