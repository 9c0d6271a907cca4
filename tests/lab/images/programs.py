# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The images of the collection's programs, the job's and the syncer's.

pip in a build knows nothing of this machine's settings: wheels are fetched here and copied in.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from tests.lab.cache import made_once, run
from tests.lab.images.buildah import ROOT, Recipe, build
from tests.lab.supervisor import LabError
from tests.tools import env


def build_job(root: Path = ROOT) -> Path:
    """Return the job's image as a tar (``docker-archive``), built when what it is made of has changed.

    ``root`` is the checkout, or another tree with a Containerfile in that place.
    """
    return build(_recipe("pullsecret-job", "job", "google-crc32c"), root)


def build_syncer(root: Path = ROOT) -> Path:
    """Return the syncer's image in the same way."""
    return build(_recipe("syncer", "syncer", "jeepney"), root)


def _recipe(name: str, extension: str, package: str) -> Recipe:
    """The wheel of the package lies where the Containerfile looks for it."""
    return Recipe(
        name,
        Path("extensions", extension, "Containerfile"),
        (f"extensions/{extension}", "plugins/module_utils"),
        lambda context: shutil.copytree(_wheels(package), context / "build" / "wheels"),
    )


def _wheels(package: str) -> Path:
    """The directory of the wheel, in the version that the collection pins."""
    pins = (env.REQUIREMENTS / "libraries.txt").read_text()
    found = re.search(rf"^{re.escape(package)}==\S+", pins, re.MULTILINE)
    if not found:
        raise LabError(f"requirements/libraries.txt pins no {package}")
    pip = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:")
    return made_once(
        f"wheels-{found[0]}",
        lambda target: run(f"pip download {found[0]}", *pip, f"--dest={target}", found[0]),
    )
