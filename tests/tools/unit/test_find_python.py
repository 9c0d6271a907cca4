# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tools find other versions of Python."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.tools.env import find_python


def _python(versions: Path, version: str) -> Path:
    """Write a program that reports the version ``version``, in pyenv's directory for it."""
    path = versions / f"{version}.1" / "bin" / "python"
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\necho {version}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home directory without pyenv."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "usr"))
    return tmp_path


def test_a_python_of_the_homes_pyenv(nowhere: Path) -> None:
    python = _python(nowhere / "home" / ".pyenv" / "versions", "3.99")
    assert find_python(["3.98", "3.99"]) == str(python)


def test_a_python_beside_the_one_that_runs(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = _python(nowhere / "elsewhere", "3.99")
    assert find_python(["3.99"]) is None
    monkeypatch.setattr(sys, "base_prefix", str(nowhere / "elsewhere" / "3.97.2"))
    assert find_python(["3.99"]) == str(python)
