# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Installs the built tarball as a user would, reads its documentation, and provisions clusters with it.

All of this runs in a temporary HOME outside the checkout, in an environment without the checkout. The provisioning
is ``tests.tools.install_provision.provision(Installed)``.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.tools import artifact, env

COLLECTION = "hyperfleet.pull_secret"


@dataclass(frozen=True)
class Installed:
    """An installed collection. ``home`` contains nothing else, and ``run`` starts a command there."""

    home: Path
    collections: Path
    bin_dir: Path

    def environment(self, **more: str) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ANSIBLE_", "PYTHON", "VIRTUAL_ENV"))
        }
        return {
            **kept,
            "HOME": str(self.home),
            "PATH": f"{self.bin_dir}{os.pathsep}{os.environ['PATH']}",
            "ANSIBLE_COLLECTIONS_PATH": str(self.collections),
            "ANSIBLE_COLLECTIONS_SCAN_SYS_PATH": "false",
            "ANSIBLE_NOCOLOR": "1",
            **more,
        }

    def run(self, *command: str | Path, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a command with the environment's programs, in ``home``; ``more`` are environment variables."""
        arguments = [str(self.bin_dir / command[0]), *map(str, command[1:])]
        reply = subprocess.run(
            arguments,
            cwd=self.home,
            env=self.environment(**more),
            capture_output=True,
            text=True,
            check=False,
        )
        if reply.returncode:
            raise SystemExit(f"{command[0]} ended with {reply.returncode}\n{reply.stdout}{reply.stderr}")
        return reply


def modules(tarball: Path) -> list[str]:
    with tarfile.open(tarball) as archive:
        names = [Path(member.name) for member in archive]
    return sorted(f"{COLLECTION}.{name.stem}" for name in names if name.match("plugins/modules/*.py"))


def read_documentation(installed: Installed, names: Sequence[str]) -> list[str]:
    """Return the modules without documentation, examples or return values."""
    reply = installed.run("ansible-doc", "--json", *names)
    documented = json.loads(reply.stdout)
    return [
        name
        for name in names
        if not all(documented.get(name, {}).get(part) for part in ("doc", "examples", "return"))
    ]


def main() -> int:
    tarball = artifact.path()
    version = tarball.name.removeprefix("hyperfleet-pull_secret-").removesuffix(".tar.gz")
    bin_dir = (env.ROOT / env.make("install", sys.executable) / "bin").absolute()
    with tempfile.TemporaryDirectory(prefix="pull-secret-install-") as scratch:
        installed = Installed(Path(scratch), Path(scratch, "collections"), bin_dir)
        installed.run(
            "ansible-galaxy", "collection", "install", "--offline", tarball, "-p", installed.collections
        )
        listing = json.loads(installed.run("ansible-galaxy", "collection", "list", "--format", "json").stdout)
        found = [entry[COLLECTION]["version"] for entry in listing.values() if COLLECTION in entry]
        if found != [version]:
            print(f"installed {version}, ansible-galaxy lists {found}")
            return 1
        names = modules(tarball)
        if not names:
            print("the tarball holds no module")
            return 1
        if poor := read_documentation(installed, names):
            print("no documentation, examples or return values: " + ", ".join(poor))
            return 1
        print(f"{COLLECTION} {version} installed; ansible-doc reads {len(names)} modules")
        importlib.import_module("tests.tools.install_provision").provision(installed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
