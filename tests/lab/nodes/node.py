# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One node: a Debian booted by systemd-nspawn on an overlay of its own, with systemd, D-Bus and a journal."""

from __future__ import annotations

import contextlib
import shlex
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.lab.mounts import remove_tree, unmount
from tests.lab.nodes import cgroups
from tests.lab.supervisor import LabError, Supervisor, run

# What a command on a node finds; nothing of ours goes in with it.
ENVIRONMENT = ("env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root")
NAMESPACES = ("--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup")


def enter(leader: int) -> list[str]:
    """The beginning of a command line that runs the rest on the node of this leader."""
    if not is_leader(leader):
        raise LabError(f"process {leader} is not the first of a node: nothing is run there")
    return ["nsenter", f"--target={leader}", *NAMESPACES, "--", *ENVIRONMENT]


def is_leader(pid: int | None) -> bool:
    """Whether the process is pid 1 of a pid namespace that is not this one's: never the host's own."""
    if pid is None or pid <= 1:
        return False
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return False
    fields = {key: value.split() for key, _sep, value in (line.partition(":") for line in lines)}
    return len(fields["NSpid"]) > 1 and fields["NSpid"][-1] == "1" and fields["State"][0] not in "ZX"


class Node:
    """A node of a lab. ``directory`` holds its overlay, its bus and its log."""

    python = "/usr/bin/python3"

    def __init__(self, name: str, directory: Path, group: str, lower: Path) -> None:
        self.name = name
        self.directory = directory
        self.group = group
        self.lower = lower
        # The node's whole tree, as seen from the host. Its /run and /tmp are elsewhere; links in it that
        # begin with "/" lead to the host's files: use write() and read() for what may be a link.
        self.root = directory / "root"
        self.bus_dir = directory / "bus"  # is /run/dbus on the node, and holds system_bus_socket
        self.leader: int | None = None
        self._supervisor = Supervisor(directory)
        # What a node with a kubelet needs beyond a plain one.
        self.nspawn_arguments: list[str] = ["--private-network"]
        self.nspawn_environment: dict[str, str] = {}
        # Called with the tree in place, before the boot.
        self.prepare: Callable[[Node], None] | None = None

    # Life

    def start(self) -> None:
        """Start the boot and return at once; ``wait`` ends it."""
        for part in ("upper", "work", "root", "bus"):
            (self.directory / part).mkdir(parents=True, exist_ok=True)
        layers = (("lowerdir", self.lower), ("upperdir", "upper"), ("workdir", "work"))
        options = ",".join(f"{key}={self.directory / value}" for key, value in layers)
        run("mount", "-t", "overlay", "overlay", "-o", options, str(self.root))
        if self.prepare:
            self.prepare(self)
        joins = cgroups.create(self.group)
        join = "".join(f"echo $$ > {shlex.quote(str(path))}; " for path in joins)
        command = [
            *("systemd-nspawn", "--quiet", "--boot", f"--directory={self.root}", f"--machine={self.name}"),
            *("--register=no", "--keep-unit", "--link-journal=no", "--console=read-only"),
            *("--kill-signal=SIGRTMIN+4", f"--bind={self.bus_dir}:/run/dbus"),
            *self.nspawn_arguments,
        ]
        self._supervisor.start(
            "nspawn", ["sh", "-ec", f'{join}exec "$@"', "sh", *command], env=self.nspawn_environment
        )

    def wait(self, seconds: float = 60) -> None:
        """Return when the node has booted; LabError when it does not."""
        self._supervisor.wait(self._has_booted, "nspawn", until=f"boot {self.name}", seconds=seconds)

    def stop(self) -> None:
        """End the node as a power cut does, and remove what it wrote."""
        cgroups.kill(self.group)
        self._supervisor.stop("nspawn")
        cgroups.remove(self.group)
        unmount(self.directory)
        self.leader = None
        remove_tree(self.directory)

    def reset(self) -> None:
        """Give the node as it was first: another boot, on an empty overlay (half a second)."""
        self.stop()
        self.start()
        self.wait()

    def is_up(self) -> bool:
        return is_leader(self.leader)

    # Use

    def run(
        self,
        argv: Sequence[str],
        *,
        input: str | bytes | None = None,
        check: bool = False,
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the node as root. With ``check``, LabError unless it ends with 0."""
        data = input.decode() if isinstance(input, bytes) else input
        done = subprocess.run(
            self.command(argv),
            input=data if data is not None else "",
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if check and done.returncode:
            raise LabError(f"{self.name}: {argv[0]} ended with {done.returncode}: {done.stderr.strip()}")
        return done

    def command(self, argv: Sequence[str]) -> list[str]:
        """The host's command line for a command on the node, for ``subprocess.Popen`` and the like."""
        if self.leader is None:
            raise LabError(f"{self.name} is not up")
        return [*enter(self.leader), *argv]

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Write a file on the node; what was there under that name, a link too, is replaced."""
        script = 'mkdir -p "$(dirname "$1")"; rm -rf "$1"; cat > "$1"; chmod "$2" "$1"'
        self.run(["sh", "-ec", script, "sh", path, f"{mode:o}"], input=text, check=True)

    def read(self, path: str) -> str:
        """Return a file's text as the node sees it; LabError when it cannot be read."""
        return self.run(["cat", path], check=True).stdout

    def install_unit(self, name: str, text: str) -> None:
        """Write a unit, in the place of one of that name, and let systemd read it."""
        self.write(f"/etc/systemd/system/{name}", text)
        self.run(["systemctl", "daemon-reload"], check=True)

    def show(self, unit: str, *properties: str) -> dict[str, str]:
        """Return properties of a unit, as systemd has them."""
        wanted = [f"--property={name}" for name in properties]
        told = self.run(["systemctl", "show", unit, *wanted], check=True).stdout
        return {key: value for key, _sep, value in (line.partition("=") for line in told.splitlines())}

    # What the boot does

    def _has_booted(self) -> bool:
        if not is_leader(self.leader):
            self.leader = self._find_leader()
        if self.leader is None:
            return False
        with contextlib.suppress(LabError):
            state = self.run(["systemctl", "is-system-running"]).stdout.strip()
            return state in ("running", "degraded")
        return False

    def _find_leader(self) -> int | None:
        """The child of nspawn that is the first process of its pid namespace, once it is systemd."""
        for pid in cgroups.pids(self.group):
            with contextlib.suppress(OSError):
                if is_leader(pid) and Path(f"/proc/{pid}/comm").read_text().strip() == "systemd":
                    return pid
        return None
