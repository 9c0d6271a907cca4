# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The syncer's image.

pip in a build knows nothing of this machine's settings: the wheel is fetched here and copied in.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.lab.control_plane.build import cache_root
from tests.lab.images.buildah import ROOT, Recipe, build
from tests.lab.supervisor import LabError
from tests.tools import env


def build_syncer(root: Path = ROOT) -> Path:
    """Return the image as a tar (``docker-archive``), built when what it is made of has changed.

    ``root`` is the checkout, or another tree with a Containerfile in that place.
    """
    return build(
        Recipe(
            "syncer",
            Path("extensions", "syncer", "Containerfile"),
            ("extensions/syncer", "plugins/module_utils"),
            lambda context: shutil.copytree(_wheels(), context / "build" / "wheels"),
        ),
        root,
    )


def _wheels() -> Path:
    """The directory of jeepney's wheel, in the version that the collection pins."""
    found = re.search(r"^jeepney==\S+", (env.REQUIREMENTS / "libraries.txt").read_text(), re.MULTILINE)
    if not found:
        raise LabError("requirements/libraries.txt pins no jeepney")
    target = cache_root() / "wheels" / found[0]
    if not target.is_dir():
        partial = target.with_name(f"{target.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", f"--dest={partial}", found[0]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"pip cannot download {found[0]}:\n{done.stderr.strip()}")
        partial.rename(target)
    return target
