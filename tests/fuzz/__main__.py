# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.fuzz --seed 7 --inputs 10000 --core 2.18``: try this number of inputs with an ansible-core."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys

from tests.fuzz.trying import sandbox
from tests.tools import env


def main() -> int:
    """Return 0 if there are no findings."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Try wrong options.")
    parser.add_argument("--seed", default="", help="seed of the inputs; random by default")
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument(
        "--core", action="append", default=[], choices=sorted(env.CORES), help="default: this Python's"
    )
    parser.add_argument(
        "--only", default="", help="try only inputs for names that contain this, such as role/node"
    )
    parser.add_argument("--number", type=int, help="try only the input with this number")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--right", action="store_true", help="try only right options, which must all be accepted"
    )
    options = parser.parse_args()
    seed = options.seed or str(random.SystemRandom().randrange(10**9))
    if options.core:
        again = ["--seed", seed, "--inputs", str(options.inputs), "--only", options.only]
        again += ["--at-once", str(options.at_once)]
        again += [] if options.number is None else ["--number", str(options.number)]
        return max(_on(core, again) for core in options.core)
    with sandbox() as root:
        # Import late, because Ansible reads its settings when it is imported.
        from tests.fuzz.run import fuzz, never_done

        if options.right:
            return never_done(seed, root, at_once=options.at_once)
        return fuzz(
            seed, options.inputs, root, only=options.only, number=options.number, at_once=options.at_once
        )


def _on(core: str, arguments: list[str]) -> int:
    """Run this program with one of the supported ansible-cores."""
    venv = env.core(core, ["libraries", "test"], "core")
    if venv is None:
        print(f"ansible-core {core}: no Python {' or '.join(env.CORES[core][1])} runs here", flush=True)
        return 1
    python = env.ROOT / venv / "bin" / "python"
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    command = [str(python), "-m", "tests.fuzz", *arguments]
    return subprocess.run(command, cwd=env.ROOT, env=os.environ | {"PATH": path}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
