# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lock of a run's directory, which the event source probes while a run starts."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.action import hyperfleet_adapter
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError


def test_probing_the_lock_does_not_end_a_run(tmp_path: Path) -> None:
    """The event source takes the lock for a moment, several times a second."""
    with open(tmp_path / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        timer = threading.Timer(0.2, lock.close)
        timer.start()
        with hyperfleet_adapter._locked(str(tmp_path)) as directory:
            assert directory == str(tmp_path)
            assert lock.closed
        timer.join()


def test_a_run_that_was_given_up_while_it_waited_does_nothing(tmp_path: Path) -> None:
    """Its directory is deleted between its first step and the lock."""
    with open(tmp_path / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)

        def give_up() -> None:
            (tmp_path / "lock").unlink()
            lock.close()

        timer = threading.Timer(0.2, give_up)
        timer.start()
        with (
            pytest.raises(ConfigurationError, match="gave up this run"),
            hyperfleet_adapter._locked(str(tmp_path)),
        ):
            raise AssertionError("it works in a directory that the event source gave up")
        timer.join()


def test_a_run_that_was_given_up_before_it_began_creates_nothing(tmp_path: Path) -> None:
    """A file that is created during the removal of the directory would keep the directory for ever."""
    for directory in (tmp_path, tmp_path / "gone"):
        with (
            pytest.raises(ConfigurationError, match="gave up this run"),
            hyperfleet_adapter._locked(str(directory)),
        ):
            raise AssertionError("it works in a directory that the event source gave up")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wrong", ["a\udfffb", "a\0b", "a" * 5000])
def test_a_directory_that_no_system_call_takes_is_refused_by_name(wrong: str) -> None:
    with (
        pytest.raises(ConfigurationError, match=r"^run_directory must be a path of at most"),
        hyperfleet_adapter._locked(wrong),
    ):
        raise AssertionError("it works without the directory's lock")
