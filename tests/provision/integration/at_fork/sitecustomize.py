# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Ends ansible-playbook right after it has forked a worker for an action plugin.

The worker writes its process id to the file ``KILLED_AT_FORK``, sends its parent the signal
``KILLED_AT_FORK_SIGNAL``, and goes on when that parent is gone.  ``KILLED_AT_FORK_ACTION`` names the plugin.
"""

from __future__ import annotations

import os
import sys
import time

_ACTIONS = "ansible_collections.hyperfleet.pull_secret.plugins.action."


def _in_child() -> None:
    # ansible-core loads an action plugin before it forks a worker for it.
    if _ACTIONS + os.environ["KILLED_AT_FORK_ACTION"] not in sys.modules:
        return
    with open(os.environ["KILLED_AT_FORK"], "x", encoding="ascii") as stream:
        stream.write(f"{os.getpid()}\n")
    parent = os.getppid()
    os.kill(parent, int(os.environ["KILLED_AT_FORK_SIGNAL"]))
    while os.getppid() == parent:
        time.sleep(0.001)


if "KILLED_AT_FORK" in os.environ:
    os.register_at_fork(after_in_child=_in_child)
