# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Labs of nodes: each has a number, which all it makes on the host carries, and an owner.

A lab ends with the process that owns it. What a killed owner left is ended by the next lab that starts, or
by ``python -m tests.lab.nodes down``.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.lab.mounts import remove_tree, unmount
from tests.lab.nodes import cgroups, needs, room
from tests.lab.nodes.network import Network
from tests.lab.nodes.node import Node
from tests.lab.nodes.rootfs import rootfs
from tests.lab.supervisor import LabError, Supervisor, listing, locked, start_time
from tests.tools import env

CHECKOUT = Path(__file__).resolve().parents[3]
NUMBERS = range(1, 251)


def labs_root() -> Path:
    """Where the labs of all checkouts lie: what they make on the host is not a checkout's either."""
    return env.CACHE / "nodes"


class NodeLab:
    """Some nodes. Use ``node_lab``, or ``python -m tests.lab.nodes`` for one that stays."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.directory = labs_root() / str(number)
        self.group = f"hyperfleet-lab-{number}"
        self.nodes: list[Node] = []

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, place: int) -> Node:
        return self.nodes[place]

    def add(self, count: int) -> list[Node]:
        """Make nodes, not yet started."""
        lower = rootfs()
        first = len(self.nodes) + 1
        names = [f"node-{place}" for place in range(first, first + count)]
        added = [Node(name, self.directory / name, f"{self.group}/{name}", lower) for name in names]
        self.nodes += added
        return added

    def start(self) -> None:
        """Start the nodes that are not up, all at the same time; LabError when one does not boot."""
        waiting = [node for node in self.nodes if not node.is_up()]
        for node in waiting:
            node.start()
        for node in waiting:
            node.wait()

    def reset(self, nodes: Sequence[Node]) -> None:
        """Boot these nodes again with their first state, all at the same time."""
        for node in nodes:
            node.stop()
        self.start()

    def remove(self) -> None:
        """End all and remove all, also after a crash, from what the number alone tells."""
        cgroups.kill(self.group)
        for record in [*listing(self.directory, "*.pid"), *listing(self.directory, "*/*.pid")]:
            Supervisor(record.parent).stop(record.stem, 0)  # its data go too
        for node in self.nodes:
            node.leader = None
        cgroups.remove(self.group)
        unmount(self.directory)
        Network(self.number).down()
        remove_tree(self.directory)


def claim(*, owner: int | None = None) -> NodeLab:
    """Give a new lab with a number of its own; ``owner`` None: it stays until this checkout ends it."""
    with _lock():
        for number in NUMBERS:
            lab = NodeLab(number)
            if not lab.directory.exists() and not _is_taken(lab):
                lab.directory.mkdir(parents=True)
                room.make_room(_limit())
                started = start_time(owner) if owner else None
                record = {"pid": owner, "started": started, "checkout": str(CHECKOUT)}
                (lab.directory / "owner.json").write_text(json.dumps(record))
                return lab
    raise LabError("there are too many labs of nodes: python -m tests.lab.nodes down")


def sweep(*, kept: bool = False) -> list[int]:
    """End the labs whose owner is dead, with ``kept`` our checkout's without one; return their numbers."""
    ended = []
    with _lock():
        for directory in listing(labs_root(), "*/"):
            if directory.name.isdecimal() and _is_left(directory, kept):
                NodeLab(int(directory.name)).remove()
                ended.append(int(directory.name))
        _settle()
    return ended


def end(lab: NodeLab) -> None:
    """End a lab; after the last one the host is as it was."""
    with _lock():
        # Without the lock another process could take the number while the directory is still being removed.
        lab.remove()
        _settle()


@contextlib.contextmanager
def node_lab(count: int) -> Iterator[NodeLab]:
    """Give running plain nodes (systemd and D-Bus, no network, no kubelet) for the time of a with block."""
    needs.provide()
    rootfs()  # outside the lock: it may take minutes
    sweep()
    lab = claim(owner=os.getpid())
    try:
        lab.add(count)
        lab.start()
        yield lab
    finally:
        end(lab)


def _settle() -> None:
    if not listing(labs_root(), "*/"):
        room.put_back(_limit())
        with contextlib.suppress(OSError):
            labs_root().rmdir()


def _limit() -> Path:
    return labs_root() / "inotify-instances"


def _lock() -> contextlib.AbstractContextManager[None]:
    return locked(env.CACHE / "nodes.lock")


def _is_taken(lab: NodeLab) -> bool:
    """Whether something of that number is there that no record tells of."""
    has_group = any((root / lab.group).exists() for root in cgroups.hierarchies())
    return has_group or Network(lab.number).has_bridge()


def _is_left(directory: Path, kept: bool) -> bool:
    try:
        record = json.loads((directory / "owner.json").read_text())
    except (OSError, ValueError):
        return True  # killed while it was made: that process would hold the lock that we hold
    if record["pid"] is None:
        return kept and record["checkout"] == str(CHECKOUT)
    return bool(start_time(record["pid"]) != record["started"])
