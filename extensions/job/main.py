# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Starts the job from its directory. The image has it as ``/usr/local/bin/pullsecret-job`` (``compile.py``)."""

from __future__ import annotations

import gc
import os
import signal
import sys


def main() -> int:
    """Return the program's exit code."""
    # A container's first process ignores a signal without a handler, so signals are blocked until the program
    # handles them.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))
    # The program ends before garbage collection would be useful.
    gc.disable()
    # Isolated Python does not search this directory or the working directory by itself.
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.job import program

    return program.main()


if __name__ == "__main__":
    sys.exit(main())
