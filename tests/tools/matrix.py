# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs pytest with the oldest and with the newest ansible-core: ``python -m tests.tools.matrix ARGS``."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.tools import env


def run(name: str, arguments: list[str]) -> int:
    try:
        venv = env.core(name, ["libraries", "test"], "core")
    except (env.ToolError, subprocess.CalledProcessError) as error:
        print(f"ansible-core {name}: no environment: {error}", flush=True)
        return 1
    if venv is None:
        pythons = " or ".join(env.CORES[name][1])
        print(f"ansible-core {name}: left out, no Python {pythons} runs here", flush=True)
        return 1 if os.environ.get("CI") == "true" else 0
    bin_dir = env.ROOT / venv / "bin"
    python = env.python_version(bin_dir / "python")
    print(f"ansible-core {env.CORES[name][0]} on Python {python}", flush=True)
    environment = os.environ | {"PATH": f"{bin_dir}{os.pathsep}{os.environ['PATH']}"}
    command = [str(bin_dir / "python"), "-m", "pytest", *arguments]
    return subprocess.run(command, cwd=env.ROOT, env=environment, check=False).returncode


def main() -> int:
    codes = [run(name, sys.argv[1:]) for name in env.ENDS]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
