# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start and end nodes by hand, and end what killed tests left.

``up`` boots plain nodes; with ``--kubelet N`` a whole hosted cluster of N nodes, the control plane of its
management cluster and a private registry. ``build`` makes all that takes long, once a machine.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.lab.nodes import cluster, needs
from tests.lab.nodes.inventory import write_inventory
from tests.lab.nodes.lab import NodeLab, claim, end, labs_root, sweep
from tests.lab.nodes.rootfs import rootfs
from tests.lab.supervisor import LabError, listing


def up(count: int, kubelets: int, inventory: Path | None) -> None:
    if kubelets:
        cluster.provide()
    else:
        needs.provide()
        rootfs()
    sweep()
    started = time.monotonic()
    lab = claim()
    try:
        if kubelets:
            _show_cluster(cluster.start(lab, kubelets))
        else:
            lab.add(count)
            lab.start()
    except BaseException:
        end(lab)
        raise
    _show_nodes(lab, inventory)
    print(f"nodes: lab {lab.number} is up after {time.monotonic() - started:.1f} s")


def _show_cluster(world: cluster.ClusterLab) -> None:
    print(f"nodes: hosted cluster: {world.hosted.kubeconfig}")
    print(f"nodes: management cluster: {world.management.kubeconfig}")
    print(f"nodes: registry: {world.registry.endpoint}")


def _show_nodes(lab: NodeLab, inventory: Path | None) -> None:
    for node in lab:
        print(f"nodes: {node.name}: nsenter --all --target={node.leader}, tree {node.root}")
    print(f"nodes: inventory: {write_inventory(inventory or lab.directory / 'inventory', lab)}")


def build() -> None:
    reason = needs.lacking()
    if reason:
        print(f"nodes: nothing is built: they need {reason}")
        return
    started = time.monotonic()
    cluster.provide()
    cluster.provide_images()
    print(f"nodes: all is built, after {time.monotonic() - started:.0f} s")


def down() -> None:
    ended = sweep(kept=True)
    print(f"nodes: ended {', '.join(f'lab {number}' for number in ended)}" if ended else "nodes: none to end")


def status() -> None:
    for directory in listing(labs_root(), "*/"):
        print(f"nodes: lab {directory.name} in {directory}")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.lab.nodes",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("command", choices=("build", "up", "down", "status"))
    parser.add_argument("--count", type=int, default=3, help="how many plain nodes")
    parser.add_argument(
        "--kubelet", type=int, default=0, metavar="N", help="a cluster with this many nodes instead"
    )
    parser.add_argument("--inventory", type=Path, help="where to write Ansible's inventory (ends in .yml)")
    arguments = parser.parse_args()
    try:
        if arguments.command == "up":
            up(arguments.count, arguments.kubelet, arguments.inventory)
        else:
            {"build": build, "down": down, "status": status}[arguments.command]()
    except LabError as error:
        print(f"nodes: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
