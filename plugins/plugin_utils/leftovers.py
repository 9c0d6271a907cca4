# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Removes files that killed runs left in Ansible's local temporary directories; Ansible does not remove them."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress

__all__ = ["PROGRESS", "remove_leftovers"]

PROGRESS = "pull-secret-progress-"
"""The prefix of the name of a run's progress file."""

# The name that ansible-core and tempfile choose: a process id and eight random characters.
_DIRECTORY = re.compile(r"ansible-local-([0-9]{1,10})[a-z0-9_]{8}\Z", re.ASCII)
# Earlier versions kept the digest key in a file.
_OURS = re.compile(rf"(?:pull-secret-digest-key|{PROGRESS}[0-9a-f]{{12}}(?:\.new)?)\Z", re.ASCII)


def remove_leftovers(directory: str) -> None:
    """Remove the collection's files from the directories of runs whose process is gone.

    Only files of this user, in directories of this user; no link is followed, and the directories stay.

    :param directory: this run's own temporary directory; those of other runs are beside it.
    """
    beside, own = os.path.split(os.path.abspath(directory))
    with suppress(OSError), os.scandir(beside) as entries:
        for entry in entries:
            found = _DIRECTORY.match(entry.name)
            if found and entry.name != own and not _is_running(int(found.group(1))):
                with suppress(OSError):
                    _clean(entry.path)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        # The process belongs to another user.
        return True
    return True


def _clean(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if os.fstat(handle).st_uid != os.geteuid():
            return
        for name in os.listdir(handle):
            if _OURS.match(name) and _is_own_file(name, handle):
                # Another run may remove it at the same time.
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=handle)
    finally:
        os.close(handle)


def _is_own_file(name: str, directory: int) -> bool:
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
