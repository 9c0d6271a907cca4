# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs once during the image build: compiles the program and all Python modules that it ever loads.

The compiled files do not depend on time stamps, because an image tool may change those. Python would then compile
the files in memory at each start, because the root is read-only.
"""

from __future__ import annotations

import os
import py_compile
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def load_all() -> None:
    """Load all modules that the program ever loads, including those for a restart and for a warning."""
    import queue
    import ssl

    import jeepney.auth
    import jeepney.bus
    import jeepney.io.blocking
    import jeepney.wrappers

    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd import dbus
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model import shown
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer import program

    if not all((queue, ssl, jeepney, dbus, program, shown)):
        raise ImportError


def compile_all() -> None:
    """Write the compiled files. The one of ``main.py`` is ``main.pyc`` in the same directory."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    for module in list(sys.modules.values()):
        source = getattr(module, "__file__", None)
        if source and source.endswith(".py") and module.__name__ != "__main__":
            py_compile.compile(source, doraise=True, invalidation_mode=mode)
    start = os.path.join(HERE, "main.py")
    py_compile.compile(start, start + "c", doraise=True, invalidation_mode=mode)


if __name__ == "__main__":
    load_all()
    compile_all()
