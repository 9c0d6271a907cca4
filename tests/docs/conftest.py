# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fixture that copies the checkout for tests that run a document's commands."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs import session
from tests.tools import env

pytest.register_assert_rewrite("tests.docs.examples.world")


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """A copy of the checkout; stops the lab in it if the test started one."""
    env.make("runtime", sys.executable)  # once: all copies share it
    (tmp_path / "home").mkdir()
    (tmp_path / "tmp").mkdir()
    copy = session.copy_checkout(tmp_path / "checkout")
    yield copy
    if (copy / ".lab").exists():
        subprocess.run(
            ["make", "lab-down"],
            cwd=copy,
            env=session.clean_environment(copy),
            check=True,
            capture_output=True,
        )
