# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the directory of a Go toolchain: the one on PATH, or one that is installed for the project."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tests.tools import env


def main() -> int:
    found = shutil.which("go")
    print(Path(found).parent if found else env.make("go", sys.executable) / "bin")
    return 0


if __name__ == "__main__":
    sys.exit(main())
