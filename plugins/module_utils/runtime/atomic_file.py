# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Replaces a secret file atomically: readers see the old content or the new one, never none or half.

The new content is written beside the file under one fixed name. A killed writer leaves at most one file,
which the next writer uses again. Its lock keeps two writers apart, and ends with its holder.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time

from ..model.errors import (
    ConfigurationError,
    FileSystemError,
    InvalidDocument,
    NotFound,
    PermissionDenied,
    PullSecretError,
    TimedOut,
)

__all__ = [
    "LABEL",
    "file_error",
    "label_of",
    "read_open",
    "read_regular",
    "remove_file",
    "remove_leftover",
    "replace_file",
]

LABEL = "security.selinux"

# Far more than any docker config, or the document around one.
_LARGEST = 16 * 1024 * 1024
_AT_ONCE = 64 * 1024
_LOCK_SECONDS = 30.0
_LOCK_PROBE_SECONDS = 0.05
_DENIED = (PermissionDenied, "change its owner or mode, or run the task as another user")
_MISSING = (NotFound, "check the path and its directories")
_NOT_A_FILE = (ConfigurationError, "name a regular file")
_NO_ROOM = (FileSystemError, "mount the file system writable, free some space, or choose another path")
_UNKNOWN = (FileSystemError, "correct the cause that the system names")
_CAUSES: dict[int, tuple[type[PullSecretError], str]] = {
    errno.EACCES: _DENIED,
    errno.EPERM: _DENIED,
    errno.ENOENT: _MISSING,
    errno.ENOTDIR: _MISSING,
    errno.EFBIG: (InvalidDocument, "name a docker config"),
    errno.EISDIR: _NOT_A_FILE,
    errno.EINVAL: _NOT_A_FILE,
    errno.ELOOP: _NOT_A_FILE,
    errno.ENXIO: _NOT_A_FILE,
    errno.ENAMETOOLONG: _NOT_A_FILE,
    errno.ETIMEDOUT: (TimedOut, "wait for the other process"),
    errno.EROFS: _NO_ROOM,
    errno.ENOSPC: _NO_ROOM,
    errno.EDQUOT: _NO_ROOM,
}


def replace_file(
    path: str,
    payload: bytes,
    mode: int,
    *,
    owner: tuple[int, int] | None = None,
    label: bytes | None = None,
    lock_seconds: float = _LOCK_SECONDS,
) -> None:
    """Write ``payload`` to ``path``, keeping the file's owner and SELinux label.

    :param path: not a symbolic link: the link would be replaced.
    :param mode: the file's permission bits; until it is complete only its owner may read it.
    :param owner: user and group, if the file does not exist to show them.
    :param label: an SELinux label, in the same case.
    :param lock_seconds: how long to wait for another writer.
    :raises TimeoutError: the other writer took longer.
    :raises OSError: nothing has changed.
    """
    temporary = _temporary(path)
    handle = _locked(temporary, lock_seconds)
    try:
        # An earlier writer that was killed may have changed its mode.
        os.fchmod(handle, 0o600)
        # Before the content: a label may be stricter than the mode.
        _set_label(handle, label if label is not None else label_of(path))
        _write(handle, payload)
        os.fchmod(handle, mode)
        _set_owner(handle, owner if owner is not None else _owner_of(path))
        os.fsync(handle)
        # Still under the lock: a waiting writer finds that the file has moved, and creates its own.
        os.replace(temporary, path)
    except BaseException:
        if _is_at(handle, temporary):
            os.unlink(temporary)
        raise
    finally:
        os.close(handle)
    _sync_directory(path)


def file_error(where: str, participle: str, error: OSError) -> PullSecretError:
    """Return our error for the system's error about a file.

    :param where: ``file:PATH`` with the user's path, also if a file of ours beside it is the problem.
    :param participle: what cannot be done: ``read``, ``written`` …
    """
    message = f"{where} cannot be {participle}: {error.strerror or type(error).__name__}"
    kind, hint = _CAUSES.get(error.errno or 0, _UNKNOWN)
    return kind(message, hint)


def remove_file(path: str) -> None:
    """Delete a file for good; do nothing if it does not exist."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    _sync_directory(path)


def remove_leftover(path: str) -> None:
    """Delete what a killed writer left beside ``path``, unless a writer uses it."""
    temporary = _temporary(path)
    if not os.path.lexists(temporary):
        return
    try:
        handle = _open(temporary, os.O_RDWR)
    except OSError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(handle, temporary):
            os.unlink(temporary)
    except OSError:
        # Another process is writing it, or we may not write to the directory.
        return
    finally:
        os.close(handle)


def _temporary(path: str) -> str:
    directory, name = os.path.split(path)
    # A name may be 255 bytes long, this one included.
    return os.path.join(directory, f".{name[:200]}.pull-secret-new")


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)


def _locked(temporary: str, seconds: float) -> int:
    """Open the file, created if necessary, with its lock held."""
    end = time.monotonic() + seconds
    while True:
        handle = _open(temporary, os.O_RDWR | os.O_CREAT)
        try:
            if not _is_ours(handle):
                # Put there by another user, who could read along, in a directory that others may write to.
                os.unlink(temporary)
            else:
                _lock(handle, end)
                if _is_at(handle, temporary):
                    return handle
        except BaseException:
            os.close(handle)
            raise
        # Removed, or renamed to its final name, by the writer that held the lock.
        os.close(handle)


def _lock(handle: int, end: float) -> None:
    """:raises TimeoutError: another process held the lock until that monotonic time."""
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= end:
                raise TimeoutError(errno.ETIMEDOUT, "another process has it locked") from None
        time.sleep(_LOCK_PROBE_SECONDS)


def _is_ours(handle: int) -> bool:
    found = os.fstat(handle)
    return (
        stat.S_ISREG(found.st_mode)
        and found.st_uid == os.geteuid()
        and found.st_nlink <= 1
        and not found.st_mode & 0o077
    )


def _is_at(handle: int, path: str) -> bool:
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        return False
    mine = os.fstat(handle)
    return (mine.st_dev, mine.st_ino) == (there.st_dev, there.st_ino)


def _write(handle: int, payload: bytes) -> None:
    os.ftruncate(handle, 0)
    rest = memoryview(payload)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _owner_of(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_uid, found.st_gid


def _set_owner(handle: int, owner: tuple[int, int] | None) -> None:
    if owner is not None and owner != (os.geteuid(), os.getegid()):
        os.fchown(handle, *owner)


def label_of(path: str | int) -> bytes | None:
    """Return a file's SELinux label; None without one, or without a file."""
    try:
        return os.getxattr(path, LABEL)
    except (OSError, AttributeError):
        # Not every file system or operating system has labels.
        return None


def _set_label(handle: int, label: bytes | None) -> None:
    if label is not None and label != label_of(handle):
        os.setxattr(handle, LABEL, label)


def _sync_directory(path: str) -> None:
    """Make the name as durable as the content; the file is replaced even if that fails."""
    try:
        handle = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        return
    finally:
        os.close(handle)


def read_regular(path: str) -> tuple[bytes, int]:
    """Return a regular file's content and mode.

    It is opened without blocking, because a pipe without a writer would exceed every time limit.

    :raises OSError: also for a pipe, a device, a directory, and a file of more than 16 MiB.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        content, status = read_open(handle)
    finally:
        os.close(handle)
    return content, stat.S_IMODE(status.st_mode)


def read_open(handle: int) -> tuple[bytes, os.stat_result]:
    """Return the content and the status of an open regular file.

    :raises OSError: as ``read_regular``.
    """
    status = os.fstat(handle)
    if stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    content = bytearray()
    # One read for the content, and one for the end; the file may have grown meanwhile.
    while status.st_size <= _LARGEST and len(content) <= _LARGEST:
        part = os.read(handle, max(status.st_size, _AT_ONCE))
        if not part:
            return bytes(content), status
        content += part
    raise OSError(errno.EFBIG, "larger than 16 MiB")
