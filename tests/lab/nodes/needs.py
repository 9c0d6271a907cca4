# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether this machine can have nodes, and what has to be installed for them."""

from __future__ import annotations

import os
import sys

from tests.lab.supervisor import LabError
from tests.tools import apt, env

COMMANDS = ("systemd-nspawn", "mmdebstrap", "nsenter", "ip")


def lacking() -> str | None:
    """Say in a few words why there can be no nodes here; None when there can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "root on Linux"
    absent = apt.missing(COMMANDS)
    if absent and not apt.can_install():
        return f"{', '.join(absent)} (or apt-get to install them)"
    return None


def provide(*more: str) -> None:
    """Install what the nodes need, and more commands by name; LabError when that cannot be."""
    reason = lacking()
    if reason:
        raise LabError(f"nodes need what this machine lacks: {reason}")
    try:
        apt.provide([*COMMANDS, *more])
    except env.ToolError as error:
        raise LabError(str(error)) from None
