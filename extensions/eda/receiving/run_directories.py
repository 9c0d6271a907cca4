# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A private directory for each run, shared by the run and this process.

``run.json`` is the request. ``lock`` exists from the beginning. The run locks it (flock) from its first step to
its last, and the kernel releases it even if the run is killed. The run writes ``result.json`` before that. A run
without ``lock`` has been given up, and ends.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.batching import Batch
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import shown_path

__all__ = ["RunDirectories", "RunDirectory", "default_base"]

_LOCK, _RESULT, _RUN, _OWNER = "lock", "result.json", "run.json", "owner"
_VERSION = 1


def default_base() -> Path:
    """Return a directory in memory if the system has one for this user, or one for temporary files."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return Path(runtime or tempfile.gettempdir()) / f"hyperfleet-adapter-{os.geteuid()}"


class RunDirectory:
    """The directory of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(cls, path: Path, batch: Batch) -> RunDirectory:
        """Create it for these clusters."""
        path.mkdir(mode=0o700)
        try:
            (path / _RUN).write_text(json.dumps({"clusters": batch.ids, "traceparents": batch.traceparents}))
            (path / _LOCK).touch(mode=0o600)
        except OSError:
            # The disk is full: an incomplete directory would waste space.
            shutil.rmtree(path, ignore_errors=True)
            raise
        return cls(path)

    def clusters(self) -> list[str]:
        """Return the clusters of the run; none if they cannot be read."""
        try:
            found = json.loads((self.path / _RUN).read_text())["clusters"]
        except (OSError, ValueError, KeyError, TypeError):
            return []
        return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []

    def result(self) -> dict[str, Any] | None:
        """Return the run's result; None before its end, and if it cannot be read."""
        try:
            found = json.loads((self.path / _RESULT).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(found, dict) or found.get("version") != _VERSION:
            return None
        rows = found.get("clusters")
        return found if isinstance(rows, list) and all(isinstance(row, dict) for row in rows) else None

    def is_locked(self) -> bool:
        """Return whether the run is working."""
        with self._free() as free:
            return not free

    def remove(self) -> bool:
        """Remove it unless the run is working; return whether it is gone."""
        with self._free() as free:
            if free:
                # A run that has opened the lock and waits for it then sees that the file has been deleted.
                shutil.rmtree(self.path, ignore_errors=True)
            return free

    @contextmanager
    def _free(self) -> Iterator[bool]:
        try:
            stream = (self.path / _LOCK).open("rb")
        except OSError:
            yield True
            return
        with stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True


class RunDirectories:
    """All runs of this process, and those that a killed process left.

    :param base: a private directory of this user, created if necessary.
    """

    def __init__(self, base: Path) -> None:
        self.base = base
        self._number = 0
        self._orphans: list[RunDirectory] = []

    def open(self) -> None:
        """Remove what killed processes left, except runs that are still working.

        :raises ConfigurationError: the base is not a private directory, or cannot be used.
        """
        try:
            self._open()
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else type(error).__name__
            raise ConfigurationError(f"run_dir {shown_path(str(self.base))}: {why}") from None

    def _open(self) -> None:
        self.base.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = self.base.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise ConfigurationError(
                f"run_dir {shown_path(str(self.base))} must be a directory that only this user can access",
                "chmod 700",
            )
        self._orphans = []
        for path in sorted(self.base.iterdir()):
            self._adopt(path)
        self._own = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=self.base))
        # Held until this process ends; its child processes do not inherit it.
        self._owner = (self._own / _OWNER).open("wb")
        fcntl.flock(self._owner, fcntl.LOCK_EX)

    def _adopt(self, path: Path) -> None:
        try:
            owner = (path / _OWNER).open("rb")
        except OSError:
            return
        with owner:
            try:
                fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            runs = [RunDirectory(one) for one in path.iterdir() if one.is_dir()]
            left = [run for run in runs if not run.remove()]
            self._orphans += left
            if not left:
                shutil.rmtree(path, ignore_errors=True)

    def create(self, batch: Batch) -> RunDirectory:
        """Create a directory for the next run.

        :raises OSError: it cannot be created.
        """
        self._number += 1
        try:
            return RunDirectory.create(self._own / str(self._number), batch)
        except FileNotFoundError:
            # Cleaners of temporary files delete files that were not used for days.
            self._owner.close()
            self.open()
            return RunDirectory.create(self._own / str(self._number), batch)

    def orphaned_clusters(self) -> Collection[str]:
        """Return the clusters that runs of killed processes still work on."""
        if not self._orphans:
            return ()
        gone = [run for run in self._orphans if run.remove()]
        self._orphans = [run for run in self._orphans if run not in gone]
        for run in gone:
            with suppress(OSError):
                if {_OWNER}.issuperset(one.name for one in run.path.parent.iterdir()):
                    shutil.rmtree(run.path.parent, ignore_errors=True)
        return {cluster for run in self._orphans for cluster in run.clusters()}

    def close(self) -> None:
        """End: a working run keeps its directory until this process ends, or the next one begins."""
        if not self._empty():
            # Before ansible-rulebook ends, it waits for the playbooks that it started.
            atexit.register(self._empty)
        self._owner.close()

    def _empty(self) -> bool:
        """Remove the directories of finished runs; return whether no run is left."""
        with suppress(OSError):
            runs = [RunDirectory(one) for one in self._own.iterdir() if one.is_dir()]
            if [run for run in runs if not run.remove()]:
                return False
            shutil.rmtree(self._own, ignore_errors=True)
        return True
