# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kubelet's ``config.json`` as a file: read with all data for a rollback, replaced atomically, restored.

Only a regular file is touched. Through a symbolic link, the link or another owner's file would be replaced.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from typing import NamedTuple

from ...model.errors import InvalidDocument, NotFound, OwnershipConflict, PermissionDenied, PullSecretError
from ...runtime.atomic_file import file_error, label_of, read_open, remove_file, replace_file
from ..recognise import other_kind

__all__ = ["ABSENT", "Snapshot", "TooLarge", "check_kind", "check_owner", "read", "restore_snapshot", "write"]

_NEW_MODE = 0o600


class TooLarge(InvalidDocument):
    """The file is larger than any valid one."""


class Snapshot(NamedTuple):
    """A file's earlier state. ``data`` is secret; None is a file that did not exist.

    ``label``: its SELinux label, None if the file system has none.
    """

    data: bytes | None = None
    mode: int = _NEW_MODE
    uid: int = 0
    gid: int = 0
    label: bytes | None = None

    def __repr__(self) -> str:
        return "<Snapshot absent>" if self.data is None else f"<Snapshot of {len(self.data)} bytes>"


ABSENT = Snapshot()


def read(path: str, *, beside: str = "") -> Snapshot:
    """Return the file, or ``ABSENT``.

    :param beside: the user's file, if this is one of ours beside it.
    :raises PullSecretError: it is a link, a directory, a pipe …, cannot be read, or its directory is missing.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        if not os.path.isdir(os.path.dirname(path)):
            raise NotFound(
                f"file:{beside or path}: its directory does not exist", "correct path; is this a node?"
            ) from None
        return ABSENT
    except OSError as error:
        raise _refused(path, error) from None
    try:
        data, status = read_open(handle)
        return Snapshot(data, stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, label_of(handle))
    except OSError as error:
        raise _refused(path, error) from None
    finally:
        os.close(handle)


def _refused(path: str, error: OSError) -> PullSecretError:
    # O_NOFOLLOW fails with ELOOP; opening a socket with ENXIO.
    if error.errno == errno.ELOOP:
        return PullSecretError(
            f"file:{path} is a symbolic link and was not changed", "name the file that it points to"
        )
    if error.errno == errno.EISDIR:
        return PullSecretError(f"file:{path} is a directory and was not changed", "correct path")
    if error.errno in (errno.EINVAL, errno.ENXIO):
        return PullSecretError(f"file:{path} is not a regular file and was not changed", "correct path")
    if error.errno == errno.EFBIG:
        return TooLarge(f"file:{path} cannot be read: {error.strerror}")
    return file_error(f"file:{path}", "read", error)


def write(path: str, data: bytes, like: Snapshot) -> None:
    """Replace the file by ``data``, with mode, owner and label of ``like``.

    :raises PullSecretError: the file is unchanged.
    """
    known = like.data is not None
    try:
        replace_file(
            path,
            data,
            like.mode,
            owner=(like.uid, like.gid) if known else None,
            label=like.label if known else None,
        )
    except OSError as error:
        raise file_error(f"file:{path}", "written", error) from None


def check_kind(path: str, found: Snapshot) -> None:
    """Check, before anything is written, that the file is not another file of Kubernetes.

    :raises OwnershipConflict: names what it seems to be.
    """
    kind = other_kind(found.data or b"")
    if kind:
        raise OwnershipConflict(
            f"file:{path} seems to be {kind}, not a docker config, and was not changed",
            "set path to the docker config that kubelet reads, such as /var/lib/kubelet/config.json or "
            "/root/.docker/config.json",
        )


def check_owner(path: str, found: Snapshot) -> None:
    """Check, before anything is written, that a file of another user can be replaced as that user's.

    :raises PermissionDenied: it belongs to another user, and this process may not change owners.
    """
    ours = (os.geteuid(), os.getegid())
    if found.data is not None and (found.uid, found.gid) != ours and not _may_chown():
        raise PermissionDenied(
            f"file:{path} is owned by {found.uid}:{found.gid} and was not changed: without CAP_CHOWN, "
            f"replacing it "
            f"would change its owner to {ours[0]}:{ours[1]}",
            f"grant CAP_CHOWN, or run chown {ours[0]}:{ours[1]} on the file (kubelet creates it as 0:0)",
        )


def _may_chown() -> bool:
    try:
        handle = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        # Not Linux: the write itself reports it.
        return True
    try:
        found = re.search(rb"^CapEff:\s*([0-9a-f]+)$", os.read(handle, 1 << 16), re.MULTILINE)
    finally:
        os.close(handle)
    return found is None or bool(int(found.group(1), 16) & 1)


def restore_snapshot(path: str, snapshot: Snapshot) -> None:
    """Restore the file's earlier state; a file that did not exist is deleted.

    :raises PullSecretError: the file is unchanged.
    """
    if snapshot.data is not None:
        write(path, snapshot.data, snapshot)
        return
    try:
        remove_file(path)
    except OSError as error:
        raise file_error(f"file:{path}", "removed", error) from None
