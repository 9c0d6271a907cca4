# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs once during the image build: unpacks the wheels, compiles the program and all modules that it loads,
writes the start program, and deletes the rest, including itself.

``python3 compile.py COMMAND``: the start program is also found under this path.

The compiled files do not depend on time stamps, because an image tool may change those. Python would then compile
the files in memory at each start, because the root is read-only.
"""

from __future__ import annotations

import os
import py_compile
import stat
import sys

_READ = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
_ENTERED = _READ | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def unpack() -> None:
    """Unpack the wheels, which are archives. There may be one wheel per architecture, because the names of
    compiled files contain the architecture.
    """
    import zipfile

    wheels = os.path.join(HERE, "wheels")
    for name in os.listdir(wheels):
        path = os.path.join(wheels, name)
        with zipfile.ZipFile(path) as archive:
            archive.extractall(HERE)
        os.unlink(path)
    os.rmdir(wheels)


def load_all() -> None:
    """Load all modules that the program ever loads."""
    import encodings.ascii
    import encodings.idna
    import encodings.latin_1

    import google_crc32c

    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google import plain
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes import pod
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.job import program

    if not all((encodings.ascii, encodings.idna, encodings.latin_1, google_crc32c, program, pod, plain)):
        raise ImportError


def compile_all() -> None:
    """Write the compiled files beside their sources."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    for module in list(sys.modules.values()):
        source = getattr(module, "__file__", None)
        if source and source.endswith(".py") and module.__name__ != "__main__":
            py_compile.compile(source, doraise=True, invalidation_mode=mode)


def write_start(commands: list[str]) -> None:
    """Write the program that an entry point can name: no shell is needed, and its few lines are not compiled."""
    start = os.path.join(HERE, "pullsecret-job")
    os.rename(os.path.join(HERE, "main.py"), start)
    with open(start, encoding="utf-8") as stream:
        text = stream.read()
    with open(start, "w", encoding="utf-8") as stream:
        # Isolated, without site and without docstrings.
        stream.write(f"#!{sys.executable} -ISOO\n{text}")
    os.chmod(start, _ENTERED)
    for command in commands:
        os.makedirs(os.path.dirname(command), exist_ok=True)
        os.symlink(start, command)


def remove_others() -> None:
    """Delete the files of the collection that the program does not load."""
    needed = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    for directory, dummy, files in os.walk(os.path.join(HERE, "ansible_collections"), topdown=False):
        for name in files:
            path = os.path.join(directory, name)
            if not name.endswith(".pyc") and path not in needed:
                os.unlink(path)
        if not os.listdir(directory):
            os.rmdir(directory)


def open_to_all() -> None:
    """Make all files readable for everyone: a checkout may be private, and the image keeps its modes."""
    for directory, dummy, files in os.walk(HERE):
        for path in (directory, *(os.path.join(directory, name) for name in files)):
            mode = stat.S_IMODE(os.stat(path).st_mode)
            os.chmod(path, mode | (_ENTERED if path == directory else _READ))


if __name__ == "__main__":
    unpack()
    load_all()
    compile_all()
    write_start(sys.argv[1:])
    remove_others()
    os.unlink(__file__)
    open_to_all()
