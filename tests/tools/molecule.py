# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the scenarios of extensions/molecule, on nodes of the lab: ``python -m tests.tools.molecule``."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.tools import env

EXTENSIONS = env.ROOT / "extensions"


def scenarios() -> list[str]:
    """Return the names of the scenarios."""
    return sorted(path.parent.name for path in (EXTENSIONS / "molecule").glob("*/molecule.yml"))


def run(scenario: str) -> subprocess.CompletedProcess[str]:
    """Run ``molecule test`` for a scenario. The result's output has both streams; the caller prints it."""
    home = env.make("molecule", sys.executable)
    env.link_checkout()
    return subprocess.run(
        [str(home / "bin" / "molecule"), "test", "--scenario-name", scenario],
        cwd=env.ROOT,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")},
            "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "ANSIBLE_COLLECTIONS_PATH": str(env.COLLECTIONS),
            "NO_COLOR": "1",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def main() -> int:
    codes = []
    for scenario in scenarios():
        done = run(scenario)
        print(done.stdout, flush=True)
        codes.append(done.returncode)
    return max(codes, default=1)


if __name__ == "__main__":
    sys.exit(main())
