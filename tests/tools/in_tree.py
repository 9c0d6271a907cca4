# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a tool of one of the environments in the copied tree: ``python -m tests.tools.in_tree ENV COMMAND...``

``--keep FILE`` copies a file that the tool has written back to the checkout.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.tools import env, tree


def run(name: str, command: Sequence[str | Path], keep: Sequence[str] = (), **variables: str) -> int:
    """Run the command and return its exit code. The environment is first on PATH, and the tree is the only
    collection path.
    """
    bin_dir = env.ROOT / env.make(name, sys.executable) / "bin"
    with env.lock("in-tree"):
        base = tree.refresh()
        where = base / tree.COLLECTION
        environment = {
            **os.environ,
            "PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}",
            "ANSIBLE_COLLECTIONS_PATH": str(base),
            # ansible-lint prefers what is installed there, such as an earlier version of this collection.
            "ANSIBLE_HOME": str(base / ".ansible"),
            **variables,
        }
        tool = [
            shutil.which(str(command[0]), path=environment["PATH"]) or str(command[0]),
            *map(str, command[1:]),
        ]
        code = subprocess.run(tool, cwd=where, env=environment, check=False).returncode
        for file in keep if code == 0 else ():
            shutil.copyfile(where / file, env.ROOT / file)
    return code


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", action="append", default=[])
    parser.add_argument("environment")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    return run(options.environment, options.command, options.keep)


if __name__ == "__main__":
    sys.exit(main())
