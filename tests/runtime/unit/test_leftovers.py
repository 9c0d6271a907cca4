# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What killed runs left in Ansible's local temporary directories."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest
from ansible import constants

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.secrecy import misplaced
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils import batch_action, leftovers

KEY = "pull-secret-digest-key"
PROGRESS = "pull-secret-progress-0123456789ab"


@pytest.fixture
def gone() -> int:
    """The id of no process: Linux gives none above 2**22."""
    return 2**22 + 1


def directory(base: Path, pid: int, *names: str, random: str = "a1b2c3d_") -> Path:
    made = base / f"ansible-local-{pid}{random}"
    made.mkdir(mode=0o700)
    for name in names:
        (made / name).write_text("example")
    return made


def names(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())


def test_files_of_runs_that_are_gone_are_removed(tmp_path: Path, gone: int) -> None:
    own = directory(tmp_path, os.getpid(), PROGRESS)
    left = directory(tmp_path, gone, KEY, PROGRESS, PROGRESS + ".new", "not-ours", KEY + "-not")
    # The random part of the name may begin with digits.
    digits = directory(tmp_path, gone, KEY, random="12345678")
    running = directory(tmp_path, os.getppid(), KEY, PROGRESS)
    for _time in range(2):
        leftovers.remove_leftovers(str(own))
    assert names(left) == ["not-ours", KEY + "-not"]
    assert names(digits) == []
    assert names(running) == [KEY, PROGRESS]
    assert names(own) == [PROGRESS]


def test_only_files_in_directories_are_removed(tmp_path: Path, gone: int) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / KEY).write_text("kept")
    base = tmp_path / "tmp"
    base.mkdir()
    own = directory(base, os.getpid())
    (base / f"ansible-local-{gone}linked__").symlink_to(elsewhere)
    (base / f"ansible-local-{gone}file____").write_text("kept")
    linked = directory(base, gone)
    (linked / KEY).symlink_to(elsewhere / KEY)
    (linked / PROGRESS).mkdir()
    leftovers.remove_leftovers(str(own))
    assert (elsewhere / KEY).read_text() == "kept"
    assert names(linked) == [KEY, PROGRESS]
    assert len(names(base)) == 4


def test_foreign_directories_are_left_alone(
    tmp_path: Path, gone: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = directory(tmp_path, gone, KEY)
    monkeypatch.setattr(os, "geteuid", lambda: left.stat().st_uid + 1)
    leftovers.remove_leftovers(str(directory(tmp_path, os.getpid())))
    assert names(left) == [KEY]


def test_a_directory_that_is_not_there_is_no_problem(tmp_path: Path) -> None:
    leftovers.remove_leftovers(str(tmp_path / "nowhere" / "ansible-local-1abcdefgh"))
    assert names(tmp_path) == []


def test_no_digest_key_is_taken_for_a_credential(monkeypatch: pytest.MonkeyPatch) -> None:
    """The base64 of these keys looks like an encoded login."""
    for number in (10955, 31043, 87801, 94436, 102917):
        key = f"run {number}".encode()
        monkeypatch.setattr(multiprocessing.current_process(), "_config", {"authkey": key})
        assert misplaced(batch_action.with_digest_key({"id": "cls-1"})) == []


def test_the_digest_key_is_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing or full directory is no error, and a killed run leaves no key."""
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path / "nowhere"))
    made = batch_action.with_digest_key({"id": "cls-1"})
    assert made == batch_action.with_digest_key({"id": "cls-1"})
    assert len(made["digest_key"]) == 64
    assert batch_action.with_digest_key({"digest_key": "mine"}) == {"digest_key": "mine"}
    assert names(tmp_path) == []
