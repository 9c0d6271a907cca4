# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nodes for a Molecule scenario: ``up DIRECTORY`` starts three and writes their inventory there; ``down DIRECTORY``
removes them.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.lab.nodes import needs, write_inventory  # noqa: E402 - needs sys.path
from tests.lab.nodes.lab import NodeLab, claim, sweep  # noqa: E402
from tests.lab.nodes.rootfs import rootfs  # noqa: E402


def up(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    needs.provide()
    rootfs()
    sweep()
    lab = claim()
    (directory / "lab").write_text(str(lab.number))
    lab.add(3)
    lab.start()
    write_inventory(directory / "nodes", lab)


def down(directory: Path) -> None:
    record = directory / "lab"
    if record.exists():
        NodeLab(int(record.read_text())).remove()
        record.unlink()
        (directory / "nodes.yml").unlink(missing_ok=True)


if __name__ == "__main__":
    {"up": up, "down": down}[sys.argv[1]](Path(sys.argv[2]))
