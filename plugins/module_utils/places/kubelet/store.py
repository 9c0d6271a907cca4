# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``config.json``, its ledger and its backup, under two locks.

One lock is held for the moment of a change, the other while kubelet is restarted and watched. So a newer
secret is written while the older one is still being tried.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TypeVar

from ...model.errors import Conflict, PullSecretError
from ...runtime.atomic_file import file_error, remove_leftover
from ...runtime.clock import Clock
from . import auth_file
from .auth_file import Snapshot
from .ledger import Backup, Ledger
from .records import NewerVersion

__all__ = ["Rehearsal", "Store"]

_Record = TypeVar("_Record", Ledger, Backup)

_MAX_BYTES = 16 * 1024 * 1024

_LOCK_POLL_SECONDS = 0.02
_PRIVATE_MODE = 0o600


class Store:
    """:param path: of ``config.json``; :param patience: seconds to wait for another writer."""

    def __init__(self, path: str, clock: Clock, *, patience: float = 30.0) -> None:
        self.path = os.path.abspath(path)
        self.ledger_path = self.path + ".hyperfleet"
        self.backup_path = self.path + ".hyperfleet-backup"
        self._clock = clock
        self._patience = patience
        # Warnings about the two other files, each once.
        self.warnings: list[str] = []

    def writing(self) -> AbstractContextManager[None]:
        """Hold this for each change of the three files."""
        return self._lock("writing")

    def restarting(self) -> AbstractContextManager[None]:
        """Hold this while kubelet is restarted and watched."""
        return self._lock("restarting")

    def _lock(self, what: str) -> _Lock:
        directory, name = os.path.split(self.path)
        path = os.path.join(directory, f".{name}.hyperfleet-{what}")
        return _Lock(path, self.path, what, self._clock, self._patience)

    def file(self) -> Snapshot:
        """Return ``config.json``."""
        return self._read(self.path)

    def ledger(self) -> Ledger:
        """Return the ledger; a new one if it is missing or damaged: then nothing in the file is ours.

        :raises PullSecretError: it cannot be read, or a later release wrote it.
        """
        why = "not a ledger of this collection: all entries of the node's file count as foreign"
        return self._load(self.ledger_path, Ledger, why)

    def backup(self) -> Backup:
        """Return the backup; an empty one if it is missing or damaged.

        :raises PullSecretError: it cannot be read, or a later release wrote it.
        """
        why = "not a backup of this collection: nothing can be restored from it"
        backup = self._load(self.backup_path, Backup, why)
        if backup.has_lost:
            self._warn(
                f"file:{self.backup_path}: copy this backup to another place if you need it; an earlier release "
                "removed a file, or fields of another program, and only this backup still has them; this release "
                "does not restore them, and its next write removes them from this backup"
            )
        return backup

    def _load(self, path: str, kind: type[_Record], why: str) -> _Record:
        try:
            data = self._read(path).data
            if data is None:
                return kind()
            return kind.from_bytes(data)
        except NewerVersion:
            raise PullSecretError(
                f"file:{path} was written by a later release of this collection",
                "use that release on this node",
            ) from None
        except (auth_file.TooLarge, ValueError):
            self._warn(f"file:{path} is {why}")
        return kind()

    def _warn(self, warning: str) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)

    def save_ledger(self, ledger: Ledger) -> None:
        """Replace the ledger if it has changed."""
        self._save(self.ledger_path, ledger.to_bytes())

    def save_backup(self, backup: Backup) -> None:
        """Replace the backup if it has changed, or remove an empty one.

        :raises PullSecretError: it would be too large to read again.
        """
        data = backup.to_bytes()
        if not backup:
            self._restore(self.backup_path, auth_file.ABSENT)
        elif len(data) > _MAX_BYTES:
            raise PullSecretError(f"file:{self.path} is too large to be backed up")
        else:
            self._save(self.backup_path, data)

    def forget(self) -> None:
        """Remove our files beside the file."""
        self._restore(self.backup_path, auth_file.ABSENT)
        self._restore(self.ledger_path, auth_file.ABSENT)

    def replace(self, found: Snapshot, data: bytes | None) -> None:
        """Write ``data`` to the file, or None: no file.

        :param found: what ``data`` was made from.
        :raises Conflict: a program that does not use our lock has changed the file since.
        """
        if self.file() != found:
            raise Conflict(f"file:{self.path} was changed while it was being merged")
        self.put(found._replace(data=data))

    def check_owner(self, found: Snapshot) -> None:
        """:raises PermissionDenied: the file could not be replaced with its present owner."""
        auth_file.check_owner(self.path, found)

    def put(self, snapshot: Snapshot) -> None:
        """Replace the file by the snapshot, whatever its present content."""
        self._restore(self.path, snapshot)

    def tidy(self) -> None:
        """Remove what killed writers left; only under the lock of ``writing``."""
        for path in (self.path, self.ledger_path, self.backup_path):
            remove_leftover(path)
        self._lock("restarting").tidy()

    # All methods that read and write files.

    def _read(self, path: str) -> Snapshot:
        return auth_file.read(path, beside=self.path)

    def _restore(self, path: str, snapshot: Snapshot) -> None:
        auth_file.restore_snapshot(path, snapshot)

    def _save(self, path: str, data: bytes) -> None:
        try:
            there = auth_file.read(path)
        except auth_file.TooLarge:
            there = auth_file.ABSENT
        if there.data != data or there.mode != _PRIVATE_MODE:
            auth_file.write(path, data, there._replace(mode=_PRIVATE_MODE))


class Rehearsal(Store):
    """Predicts the three files: read from the node, changed in memory only, without locks."""

    def __init__(self, path: str, clock: Clock) -> None:
        super().__init__(path, clock)
        self._files: dict[str, Snapshot] = {}

    def writing(self) -> AbstractContextManager[None]:
        return nullcontext()

    def restarting(self) -> AbstractContextManager[None]:
        return nullcontext()

    def tidy(self) -> None:
        pass

    def _read(self, path: str) -> Snapshot:
        if path not in self._files:
            self._files[path] = super()._read(path)
        return self._files[path]

    def _restore(self, path: str, snapshot: Snapshot) -> None:
        self._files[path] = snapshot

    def _save(self, path: str, data: bytes) -> None:
        self._files[path] = Snapshot(data)


class _Lock(AbstractContextManager[None]):
    """A lock file that ends with its holder: the kernel releases it when the process ends."""

    def __init__(self, path: str, file: str, what: str, clock: Clock, patience: float) -> None:
        self._path = path
        self._file = file
        self._what = what
        self._clock = clock
        self._patience = patience
        self._handle = -1

    def __enter__(self) -> None:
        end = self._clock.monotonic() + self._patience
        while not self._take():
            if self._clock.monotonic() >= end:
                raise Conflict(
                    f"another process holds the lock for {self._what} on this node; waited {self._patience:g} s",
                    "the next run continues",
                )
            self._clock.sleep(_LOCK_POLL_SECONDS)

    def __exit__(self, *_error: object) -> None:
        handle, self._handle = self._handle, -1
        # Removed while it is held: a waiting process sees that, and creates a new one.
        with suppress(OSError):
            os.unlink(self._path)
        os.close(handle)

    def tidy(self) -> None:
        """Remove the file of a killed holder."""
        if os.path.lexists(self._path) and self._take():
            self.__exit__()

    def _take(self) -> bool:
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise file_error(f"file:{self._file}", "written", error) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            there, mine = os.stat(self._path), os.fstat(handle)
            if (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino):
                self._handle = handle
                return True
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                os.close(handle)
                raise file_error(f"file:{self._file}", "locked", error) from None
        os.close(handle)
        return False
