# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs shellcheck for all shell scripts of the checkout: ``python -m tests.tools.shellcheck PROGRAM``."""

from __future__ import annotations

import subprocess
import sys

from tests.tools.env import ROOT
from tests.tools.tree import sources


def is_shell(text: bytes) -> bool:
    first = text.split(b"\n", 1)[0]
    return first.startswith(b"#!") and first.split(b"/")[-1].split(b" ")[-1] in (b"sh", b"bash")


def main() -> int:
    scripts = [str(path) for path in sources() if is_shell((ROOT / path).read_bytes()[:80] + b"\n")]
    print(f"{len(scripts)} scripts")
    return subprocess.run([sys.argv[1], *scripts], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
