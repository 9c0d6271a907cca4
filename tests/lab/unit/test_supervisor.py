# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ports for programs, and listings of directories that other processes change."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

from conftest import ROOT
from tests.lab.supervisor import free_ports, listing

_ASKS = "import json; from tests.lab.supervisor import free_ports; print(json.dumps(free_ports(200)))"


def test_ports_of_two_processes_differ_and_can_be_bound() -> None:
    ports = free_ports(200)
    command = [sys.executable, "-c", _ASKS]
    other = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    assert len({*ports, *json.loads(other.stdout)}) == 400
    for port in ports[:3]:
        with socket.create_server(("127.0.0.1", port)):
            pass


def test_a_listing_is_sorted_and_empty_without_a_directory(tmp_path: Path) -> None:
    for name in ("two", "one"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lock").touch()
    assert listing(tmp_path, "*/lock") == [tmp_path / "one" / "lock", tmp_path / "two" / "lock"]
    assert listing(tmp_path / "three", "*") == []
