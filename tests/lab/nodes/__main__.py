# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start and end nodes by hand, and end what killed tests left."""

from __future__ import annotations

import argparse
import sys
import time

from tests.lab.nodes import needs
from tests.lab.nodes.inventory import write_inventory
from tests.lab.nodes.lab import claim, labs_root, sweep
from tests.lab.nodes.rootfs import rootfs
from tests.lab.supervisor import LabError


def up(count: int) -> None:
    started = time.monotonic()
    needs.provide()
    rootfs()
    sweep()
    lab = claim()
    try:
        lab.add(count)
        lab.start()
    except BaseException:
        lab.remove()
        raise
    print(f"nodes: lab {lab.number} is up after {time.monotonic() - started:.1f} s")
    for node in lab:
        print(f"nodes: {node.name}: nsenter --all --target={node.leader}, tree {node.root}")
    print(f"nodes: inventory {write_inventory(lab.directory / 'inventory', lab)}")


def down() -> None:
    ended = sweep(all_kept=True)
    print(f"nodes: ended {', '.join(f'lab {number}' for number in ended)}" if ended else "nodes: none to end")


def status() -> None:
    for directory in sorted(labs_root().glob("*/")):
        print(f"nodes: lab {directory.name} in {directory}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.nodes", description=__doc__)
    parser.add_argument("command", choices=("up", "down", "status"))
    parser.add_argument("--count", type=int, default=3, help="how many nodes")
    arguments = parser.parse_args()
    try:
        if arguments.command == "up":
            up(arguments.count)
        else:
            {"down": down, "status": status}[arguments.command]()
    except LabError as error:
        print(f"nodes: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
