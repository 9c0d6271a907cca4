# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A new test process stops what a killed one left behind, and leaves a living one's processes alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import ROOT
from tests.lab.scratch import supervised, sweep
from tests.lab.supervisor import Supervisor, start_time

HOLDER = """
import sys, time
from tests.lab.scratch import supervised
from tests.lab.supervisor import Supervisor
with supervised("test") as directory:
    print(directory, Supervisor(directory).start("sleeper", ["sleep", "600"]), flush=True)
    time.sleep(600)
"""


def test_what_a_killed_process_left_is_ended() -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLDER], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    name, pid = holder.stdout.readline().split()
    directory = Path(name)
    try:
        sweep()
        assert directory.exists()
        assert start_time(int(pid)) is not None
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert directory.name in sweep()
    assert not directory.exists()
    assert start_time(int(pid)) is None


def test_nothing_is_left_after_the_block() -> None:
    with supervised("test") as directory:
        pid = Supervisor(directory).start("sleeper", ["sleep", "600"])
    assert start_time(pid) is None
    assert not directory.exists()
