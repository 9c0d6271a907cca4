# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All watches of one event source, started and stopped as clusters come and go."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Collection
from functools import partial
from typing import Any

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.accesses import Accesses
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.api import ApiServers, Named
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.batches import Batches
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.clusters import (
    Listed,
    parse_cluster_list,
    parse_clusters,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.recheck import Recheck
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.settings import (
    Clusters,
    SecretWatchSettings,
    Watched,
)
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.watch import LOGGER, Pauses, Watch
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import shown_path
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.atomic_file import read_regular

__all__ = ["Fleet"]

# Seconds between two checks of the file of the clusters.
_LOOK = 1.0


class Fleet:
    """Watches what the settings name, and reports to ``batches``."""

    def __init__(self, settings: SecretWatchSettings, batches: Batches, pauses: Pauses | None = None) -> None:
        self._settings = settings
        self._batches = batches
        self._pauses = pauses or Pauses()
        self._servers = ApiServers(settings.silence)
        self._accesses = Accesses(self._servers.reach)
        self._clusters: Clusters = {}
        self._is_loaded = False
        self._targets: dict[str, dict[str, Any]] = {}
        batches.describe = self._describe
        batches.troubled = self._in_trouble
        self._recheck = Recheck(settings.resync)
        self._tasks: dict[Watched, asyncio.Task[None]] = {}
        # The Secrets that have been listed once, and those that cannot be watched now.
        self._listed: set[Watched] = set()
        self._troubled: set[Watched] = set()
        # The file's state when it was last read, and what was wrong with it.
        self._signature: tuple[int, ...] | None = None
        self._complaint: str | None = None

    async def run(self) -> None:
        """Never returns; cancel it."""
        try:
            if not isinstance(self._settings.clusters, str):
                self.follow(parse_clusters(self._settings.clusters, self._settings.default))
            resynced = time.monotonic()
            while True:
                if isinstance(self._settings.clusters, str):
                    await self._read(self._settings.clusters)
                if 0 < self._settings.resync <= time.monotonic() - resynced:
                    resynced = time.monotonic()
                    self._batches.add(self._ids())
                self._batches.add(self._recheck.due())
                await asyncio.sleep(_LOOK)
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _read(self, path: str) -> None:
        """Read the file if it has changed; an unusable one changes nothing."""
        path = os.path.expanduser(path)
        signature: tuple[int, ...] | None = None
        try:
            status = os.stat(path)
            signature = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
            if signature == self._signature:
                return
            text = (await asyncio.to_thread(read_regular, path))[0]
            found = await asyncio.to_thread(parse_cluster_list, text, path, self._settings.default)
        except OSError as error:
            # The file may be in the middle of a replacement, so try again.
            self._complain(f"{shown_path(path)} cannot be read: {error.strerror or type(error).__name__}")
        except ConfigurationError as error:
            self._signature = signature
            self._complain(error.message)
        except Exception as error:  # noqa: BLE001 - whatever the file holds, the watches continue
            # Its message may quote the file.
            self._signature = signature
            self._complain(f"{shown_path(path)} cannot be used: {type(error).__name__}")
        else:
            self._signature, self._complaint = signature, None
            self.follow(found)

    def _complain(self, text: str) -> None:
        if text != self._complaint:
            self._complaint = text
            until = (
                "the previous list stays in use"
                if self._is_loaded
                else "no cluster is watched until it can be loaded"
            )
            LOGGER.error("cannot load the list of clusters; %s: %s", until, text)

    def _describe(self, clusters: list[str]) -> list[dict[str, Any]]:
        return [self._targets[cluster] for cluster in clusters if cluster in self._targets]

    def _ids(self) -> Collection[str]:
        """Return the ids of all clusters, each once, in the list's order."""
        return dict.fromkeys(one for ids in self._clusters.values() for one in sorted(ids))

    def _in_trouble(self) -> Collection[str]:
        return {one for watched in self._troubled for one in self._clusters.get(watched, ())}

    def follow(self, listed: Listed) -> None:
        """Start and stop watches to match the list."""
        for text in listed.complaints:
            LOGGER.error("not watched: %s", text)
        clusters, self._targets = listed.clusters, listed.targets
        former, self._clusters, self._is_loaded = self._clusters, clusters, True
        for watched in former.keys() - clusters.keys():
            self._tasks.pop(watched).cancel()
            self._listed.discard(watched)
            self._troubled.discard(watched)
        self._recheck.keep_only(self._ids())
        for watched, concerned in clusters.items():
            if watched in former:
                # The watch continues, and does not report clusters that are new to it.
                self._batches.add(sorted(concerned - former[watched]))
                continue
            watch = Watch(
                watched,
                self._servers,
                self._accesses,
                partial(self._changed, watched),
                partial(self._trouble, watched),
                self._pauses,
            )
            self._tasks[watched] = asyncio.create_task(watch.run())
        connections = {watched.connection for watched in clusters}
        managements = {connection.secret.management for connection in connections if connection.secret}
        self._accesses.keep_only(connections | managements)
        LOGGER.info("watching %d secrets", len(clusters))

    def _changed(self, watched: Watched, secret: Named, kind: str | None, version: str | None) -> None:
        concerned = sorted(self._clusters.get(watched, ()))
        self._batches.add(concerned, secret, kind, version)
        if watched in self._listed:
            self._recheck.changed(concerned)
        self._listed.add(watched)

    def _trouble(self, watched: Watched, secret: Named, text: str | None) -> None:
        concerned = sorted(self._clusters.get(watched, ()))
        said = "works again" if text is None else text
        LOGGER.warning("%s: watching %s/%s: %s", ", ".join(concerned[:3]), *secret[:2], said)
        self._batches.problem(concerned, secret, text)
        if text is None:
            self._troubled.discard(watched)
            # Runs during the failure have most likely failed too.
            self._batches.add(concerned)
        else:
            self._troubled.add(watched)
