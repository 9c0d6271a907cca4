# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Restricts an input's processes to their scratch directory and to loopback.

Python imports this file at the start of each process with this directory on ``PYTHONPATH``. The process that tries
an input calls ``install`` itself. Each refused access adds a line to the file ``escapes``.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from typing import Any

# Devices, and the open files of processes.
_DEVICES = ("/dev/null", "/dev/tty", "/proc/")
# The default path of a Job's termination message.
_MESSAGE = "/dev/termination-log"
_LOOPBACK = ("localhost", "::1", "0.0.0.0", "::", "")
_state = threading.local()


def install(root: str, escapes: str) -> None:
    """Forbid writes outside of ``root`` and connections to other machines, in this process and its children."""

    def refuse(what: str, error: OSError) -> None:
        _state.busy = True
        try:
            handle = os.open(escapes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(handle, what.encode("utf-8", "replace")[:300] + b"\n")
            os.close(handle)
        finally:
            _state.busy = False
        raise error

    def write(path: Any, directory: Any = -1) -> None:
        if path is None or isinstance(path, int):
            return
        try:
            name = os.fsdecode(path)
            if isinstance(directory, int) and directory >= 0:
                name = os.path.join(os.readlink(f"/proc/self/fd/{directory}"), name)
        except (TypeError, ValueError, OSError):
            return
        full = os.path.abspath(name)
        # Resolve links, which may lead out of the directory.
        real = os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
        if real == root or real.startswith(root + os.sep) or full.startswith(_DEVICES):
            return
        error = PermissionError(13, "outside of the scratch directory", full)
        if full == _MESSAGE:
            raise error
        refuse(f"write {full}", error)

    def connect(address: Any) -> None:
        if isinstance(address, (str, bytes)):
            name = os.fsdecode(address)
            if not name.startswith(root) and name.startswith(("/run", "/var")):
                raise FileNotFoundError(2, "no such socket")
        elif isinstance(address, tuple) and not _is_loopback(address[0]):
            raise ConnectionRefusedError(111, "off this machine")

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event[:3] not in ("ope", "os.", "soc", "shu") or getattr(_state, "busy", False):
            return
        if event == "open":
            path, _mode, flags = arguments
            if flags is not None and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC):
                write(path)
        elif event in ("os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.chown"):
            # The last argument is the directory of a relative path.
            write(arguments[0], arguments[-1])
        elif event in ("os.rename", "os.link", "os.symlink"):
            write(arguments[1], arguments[-1])
        elif event in ("socket.connect", "socket.sendto"):
            connect(arguments[1])
        elif event in ("socket.getaddrinfo", "socket.gethostbyname") and not _is_loopback(arguments[0]):
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    sys.addaudithook(hook)


def _is_loopback(host: Any) -> bool:
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    return host is None or (isinstance(host, str) and (host in _LOOPBACK or host.startswith("127.")))


if os.environ.get("FUZZ_GUARD"):
    install(os.environ["FUZZ_GUARD"], os.environ["FUZZ_ESCAPES"])
