# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``config.json``, its ledger and its backup, under two locks.

One lock is held for the moment of a change, the other for as long as kubelet is restarted and watched: a
newer secret is written while the older one is still being tried.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TypeVar

from ...model.errors import Conflict, PermissionDenied, PullSecretError
from ...runtime.clock import Clock
from . import auth_file
from .auth_file import Snapshot
from .fields import NewerVersion
from .ledger import Backup, Ledger

__all__ = ["Rehearsal", "Store"]

_Kept = TypeVar("_Kept", Ledger, Backup)

_LARGEST = 16 * 1024 * 1024

_PAUSE = 0.02
_PRIVATE = Snapshot(None, 0o600)


class Store:
    """:param path: of ``config.json``; :param patience: seconds to wait for another writer."""

    def __init__(self, path: str, clock: Clock, *, patience: float = 30.0) -> None:
        self.path = os.path.abspath(path)
        self._clock = clock
        self._patience = patience
        # What was found of the two files beside it, each once.
        self.warnings: list[str] = []

    @property
    def ledger_path(self) -> str:
        """Names and keyed digests."""
        return self.path + ".hyperfleet"

    @property
    def backup_path(self) -> str:
        """Secret."""
        return self.path + ".hyperfleet-backup"

    def writing(self) -> AbstractContextManager[None]:
        """Hold this for each change of the three files."""
        return self._lock("writing")

    def restarting(self) -> AbstractContextManager[None]:
        """Hold this while kubelet is restarted and watched."""
        return self._lock("restarting")

    def _lock(self, what: str) -> _Lock:
        directory, name = os.path.split(self.path)
        return _Lock(os.path.join(directory, f".{name}.hyperfleet-{what}"), what, self._clock, self._patience)

    def file(self) -> Snapshot:
        """``config.json`` as it is."""
        return auth_file.read(self.path)

    def ledger(self) -> Ledger:
        """A fresh one if there is none, or none that can be understood: then nothing in the file is ours.

        :raises PullSecretError: it cannot be read, or is a later release's.
        """
        return self._kept(
            self.ledger_path, Ledger, "no ledger of this collection's: all entries there count as foreign"
        )

    def backup(self) -> Backup:
        """An empty one if there is none, or none that can be understood.

        :raises PullSecretError: it cannot be read, or is a later release's.
        """
        return self._kept(
            self.backup_path, Backup, "no backup of this collection's: nothing of it can be restored"
        )

    def _kept(self, path: str, kind: type[_Kept], why: str) -> _Kept:
        try:
            data = auth_file.read(path).data
            if data is None:
                return kind()
            return kind.from_bytes(data)
        except NewerVersion:
            raise PullSecretError(
                f"file:{path} was written by a later release of this collection", "use that one on this node"
            ) from None
        except (auth_file.TooLarge, ValueError):
            warning = f"file:{path} is {why}"
        if warning not in self.warnings:
            self.warnings.append(warning)
        return kind()

    def save_ledger(self, ledger: Ledger) -> None:
        """Replace it, if it is another one."""
        self._save(self.ledger_path, ledger.to_bytes())

    def save_backup(self, backup: Backup) -> None:
        """Replace it, or remove an empty one.

        :raises PullSecretError: it would be too large to be read again.
        """
        if backup:
            data = backup.to_bytes()
            if len(data) > _LARGEST:
                raise PullSecretError(f"file:{self.path} is too large for a backup of it")
            self._save(self.backup_path, data)
        else:
            auth_file.restore(self.backup_path, auth_file.ABSENT)

    def forget(self) -> None:
        """Leave nothing of ours beside the file."""
        auth_file.restore(self.backup_path, auth_file.ABSENT)
        auth_file.restore(self.ledger_path, auth_file.ABSENT)

    def _save(self, path: str, data: bytes) -> None:
        try:
            there = auth_file.read(path)
        except auth_file.TooLarge:
            there = auth_file.ABSENT
        if there.data != data or there.mode != _PRIVATE.mode:
            auth_file.write(path, data, there._replace(mode=_PRIVATE.mode))

    def replace(self, found: Snapshot, data: bytes | None) -> None:
        """Make the file hold ``data``, or None: no file.

        :param found: what ``data`` was made from.
        :raises Conflict: somebody else, who does not know our lock, has changed the file since.
        """
        if self.file() != found:
            raise Conflict(f"file:{self.path} was changed while it was being merged")
        self.put(found._replace(data=data))

    def check_owner(self, found: Snapshot) -> None:
        """:raises PermissionDenied: what is there could not be replaced as its owner's."""
        auth_file.check_owner(self.path, found)

    def put(self, snapshot: Snapshot) -> None:
        """Make the file that, whatever it is."""
        auth_file.restore(self.path, snapshot)

    def tidy(self) -> None:
        """Remove what killed writers left; only under the lock of ``writing``."""
        for path in (self.path, self.ledger_path, self.backup_path):
            auth_file.tidy(path)
        self._lock("restarting").tidy()


class Rehearsal(Store):
    """What would become of the three files: read from the node, changed in memory only, without locks."""

    def __init__(self, path: str, clock: Clock) -> None:
        super().__init__(path, clock)
        self._file: Snapshot | None = None
        self._ledger: bytes | None = None
        self._backup: bytes | None = None

    def writing(self) -> AbstractContextManager[None]:
        """Nothing is held."""
        return nullcontext()

    def restarting(self) -> AbstractContextManager[None]:
        """Nothing is held."""
        return nullcontext()

    def file(self) -> Snapshot:
        """The file as it would be."""
        self._file = self._file or super().file()
        return self._file

    def ledger(self) -> Ledger:
        """The ledger as it would be."""
        return super().ledger() if self._ledger is None else Ledger.from_bytes(self._ledger)

    def backup(self) -> Backup:
        """The backup as it would be."""
        return super().backup() if self._backup is None else Backup.from_bytes(self._backup)

    def save_ledger(self, ledger: Ledger) -> None:
        """Only here."""
        self._ledger = ledger.to_bytes()

    def save_backup(self, backup: Backup) -> None:
        """Only here."""
        self._backup = backup.to_bytes()

    def forget(self) -> None:
        """Only here."""
        self.save_ledger(Ledger())
        self.save_backup(Backup())

    def put(self, snapshot: Snapshot) -> None:
        """Only here."""
        self._file = snapshot

    def tidy(self) -> None:
        """Nothing is left behind."""


class _Lock(AbstractContextManager[None]):
    """A lock file that goes with its holder: the kernel releases it when the process ends."""

    def __init__(self, path: str, what: str, clock: Clock, patience: float) -> None:
        self._path = path
        self._what = what
        self._clock = clock
        self._patience = patience
        self._handle = -1

    def __enter__(self) -> None:
        end = self._clock.monotonic() + self._patience
        while not self._taken():
            if self._clock.monotonic() >= end:
                raise Conflict(
                    f"another process has been {self._what} on this node for {self._patience:g} s",
                    "the next run does what is left",
                )
            self._clock.sleep(_PAUSE)

    def __exit__(self, *_error: object) -> None:
        handle, self._handle = self._handle, -1
        # Removed while it is held: whoever waits for it finds that it has gone, and makes a new one.
        with suppress(OSError):
            os.unlink(self._path)
        os.close(handle)

    def tidy(self) -> None:
        """Remove the file of a holder that was killed."""
        if os.path.lexists(self._path) and self._taken():
            self.__exit__()

    def _taken(self) -> bool:
        try:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise PermissionDenied(f"file:{self._path} cannot be written: {error.strerror}") from None
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
                raise PermissionDenied(f"file:{self._path} cannot be locked: {error.strerror}") from None
        os.close(handle)
        return False
