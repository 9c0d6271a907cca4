# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading a file that any user may have put there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.atomic_file import read_regular
from tests.lab.supervisor import listing

LARGEST = 16 * 1024 * 1024


@pytest.mark.parametrize("size", [0, 1, 64 * 1024, 64 * 1024 + 1, LARGEST])
def test_it_is_read_whole(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(os.urandom(size))
    path.chmod(0o640)
    assert read_regular(str(path)) == (path.read_bytes(), 0o640)


def test_one_that_says_no_size_is_read_whole() -> None:
    """The kernel's own files report the size 0."""
    content, _mode = read_regular("/proc/self/status")
    assert content.startswith(b"Name:")
    assert content.endswith(b"\n")


def test_one_byte_too_many(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(LARGEST + 1))
    with pytest.raises(OSError, match="larger than 16 MiB"):
        read_regular(str(path))


def test_what_is_refused_is_not_kept_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        read_regular(str(tmp_path))
    with pytest.raises(OSError, match="not a regular file"):
        read_regular(str(tmp_path / "pipe"))
    # Other files of this process may be opened and closed at any time.
    opened = {os.path.realpath(path) for path in listing(Path("/proc/self/fd"), "*")}
    assert not [path for path in opened if path.startswith(str(tmp_path))]
