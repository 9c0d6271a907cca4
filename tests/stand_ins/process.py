# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The command of a stand-in's process."""

from __future__ import annotations

import sys
from pathlib import Path


def stand_in_command(ready: Path, *arguments: str) -> list[str]:
    """Return the command that runs a stand-in, in the checkout.

    :param ready: gets the addresses, as JSON.
    :param arguments: the stand-in's name, and its options.
    """
    return [sys.executable, "-m", "tests.stand_ins", *arguments, "--ready-file", str(ready)]
