# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is said about the system's errors about a file."""

from __future__ import annotations

import errno
import os

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.atomic_file import file_error

NO_ROOM = "mount the file system writable, free some space, or choose another path"
NAMED = "correct the cause that the system names"


@pytest.mark.parametrize(
    ("number", "kind", "hint"),
    [
        (errno.EACCES, "permission_denied", "change its owner or mode, or run the task as another user"),
        (errno.ENOTDIR, "not_found", "check the path and its directories"),
        (errno.EFBIG, "invalid_document", "name a docker config"),
        (errno.ELOOP, "configuration", "name a regular file"),
        (errno.ETIMEDOUT, "timeout", "wait for the other process"),
        *((number, "file_system", NO_ROOM) for number in (errno.EROFS, errno.ENOSPC, errno.EDQUOT)),
        *(
            (number, "file_system", NAMED)
            for number in (
                errno.EMFILE,
                errno.ENOMEM,
                errno.EAGAIN,
                errno.EINTR,
                errno.EBUSY,
                errno.EIO,
                9999,
            )
        ),
    ],
)
def test_the_remedy_fits_the_cause(number: int, kind: str, hint: str) -> None:
    error = file_error("file:/a", "read", OSError(number, os.strerror(number)))
    assert (error.kind, str(error)) == (kind, f"file:/a cannot be read: {os.strerror(number)}; {hint}")


def test_an_error_without_a_number() -> None:
    assert str(file_error("file:/a", "read", OSError())) == f"file:/a cannot be read: OSError; {NAMED}"
