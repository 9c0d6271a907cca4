# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lab raises the host's limit of inotify instances for its nodes and restores it after the last one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.nodes import room


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that stands in for the kernel setting."""
    path = tmp_path / "setting"
    path.write_text("128\n")
    monkeypatch.setattr(room, "SETTING", path)
    return path


def test_a_low_limit_is_raised_and_put_back(setting: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    room.make_room(saved)
    assert setting.read_text() == "1024\n"
    room.make_room(saved)  # The second lab reads the raised limit and must not store it as the original one.
    room.put_back(saved)
    assert setting.read_text() == "128\n"
    assert not saved.exists()
    room.put_back(saved)
    assert setting.read_text() == "128\n"


def test_a_high_limit_is_left(setting: Path, tmp_path: Path) -> None:
    setting.write_text("8192\n")
    room.make_room(tmp_path / "saved")
    room.put_back(tmp_path / "saved")
    assert setting.read_text() == "8192\n"


def test_a_machine_without_the_setting_is_left(setting: Path, tmp_path: Path) -> None:
    setting.unlink()
    room.make_room(tmp_path / "saved")
    assert not setting.exists()
    assert not (tmp_path / "saved").exists()
