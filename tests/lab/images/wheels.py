# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The wheels of our images.

pip in a build knows nothing of this machine's settings: they are fetched here and copied in.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.lab.control_plane.build import cache_root
from tests.lab.supervisor import LabError
from tests.tools import env


def add_wheel(package: str) -> Callable[[Path], object]:
    """Return what puts a package's wheel where the Containerfiles look for it, below a build's root."""
    return lambda context: shutil.copytree(_wheels(package), context / "build" / "wheels")


def _wheels(package: str) -> Path:
    """The directory of the wheel, in the version that the collection pins."""
    pins = (env.REQUIREMENTS / "libraries.txt").read_text()
    found = re.search(rf"^{re.escape(package)}==\S+", pins, re.MULTILINE)
    if not found:
        raise LabError(f"requirements/libraries.txt pins no {package}")
    target = cache_root() / "wheels" / found[0]
    if not target.is_dir():
        partial = target.with_name(f"{target.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        command = [
            *(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"),
            *(f"--dest={partial}", found[0]),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"pip cannot download {found[0]}:\n{done.stderr.strip()}")
        partial.rename(target)
    return target
