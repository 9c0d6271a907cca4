# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The syncer's image."""

from __future__ import annotations

from pathlib import Path

from tests.lab.images.buildah import ROOT, Recipe, build
from tests.lab.images.wheels import add_wheel


def build_syncer(root: Path = ROOT) -> Path:
    """Return the image as a tar (``docker-archive``), built when what it is made of has changed.

    ``root`` is the checkout, or another tree with a Containerfile in that place.
    """
    return build(
        Recipe(
            "syncer",
            Path("extensions", "syncer", "Containerfile"),
            ("extensions/syncer", "plugins/module_utils"),
            add_wheel("jeepney"),
        ),
        root,
    )
