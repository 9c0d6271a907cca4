# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Records what a process shows. Every Python process of a watched run loads this file, from PYTHONPATH.

An audit hook records each program that is started (with arguments and environment), each line for syslog, and each
file that is opened for writing. It copies a file before the file is removed, renamed or truncated, or before a
program starts that could remove it. So the record does not depend on timing. A program that is not Python itself
is recorded only if a Python program starts it: what a shell starts is not seen.

The file also plants bugs: CANARY_BUG names a function that raises an error with its arguments when the collection
calls it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import types
from contextlib import suppress
from typing import Any

_SPY = os.environ.get("CANARY_SPY", "")
_ROOTS = [root for root in os.environ.get("CANARY_ROOTS", "").split(os.pathsep) if root]
_LARGEST = 8 << 20
_busy = threading.local()
_kept: set[tuple[str, int, int, int]] = set()


def _write(name: str, data: bytes, mode: str) -> None:
    """Write in one piece: other processes write to the same directory."""
    with suppress(FileExistsError), open(os.path.join(_SPY, name), mode, buffering=0) as stream:
        stream.write(data)


def _note(kind: str, *what: Any) -> None:
    text = json.dumps({"kind": kind, "what": what}, default=_plain, ensure_ascii=False)
    _write(f"events-{os.getpid()}.jsonl", text.encode("utf-8", "surrogateescape") + b"\n", "ab")


def _plain(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "surrogateescape")
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    try:
        return dict(value)
    except (TypeError, ValueError):
        return repr(value)


def _path(value: Any) -> str | None:
    if isinstance(value, int) or value is None:
        return None
    try:
        return os.path.abspath(os.fsdecode(value))
    except (TypeError, ValueError):
        return None


def _watched(path: str | None) -> bool:
    return path is not None and any(path == root or path.startswith(root + os.sep) for root in _ROOTS)


def _keep(path: str | None) -> None:
    """Copy a watched file, or every file under a watched directory."""
    if path is None or not _watched(path) or os.path.islink(path):
        return
    try:
        if os.path.isdir(path):
            for name in os.listdir(path):
                _keep(os.path.join(path, name))
            return
        state = os.stat(path)
        if not 0 < state.st_size <= _LARGEST or not os.path.isfile(path):
            return
        mark = (path, state.st_ino, state.st_size, state.st_mtime_ns)
        if mark in _kept:
            return
        with open(path, "rb") as stream:
            data = stream.read(_LARGEST)
    except OSError:
        return
    _kept.add(mark)
    digest = hashlib.sha256(path.encode() + b"\0" + data).hexdigest()[:24]
    _write(f"file-{digest}", path.encode() + b"\n" + data, "xb")


def _seen(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open":
        path, _mode, flags = arguments
        if flags & (os.O_WRONLY | os.O_RDWR) and _watched(_path(path)):
            if flags & os.O_TRUNC:
                _keep(_path(path))
            _note("written", path)
    elif event in ("os.remove", "os.rename", "os.rmdir", "os.truncate", "shutil.rmtree"):
        _keep(_path(arguments[0]))
    elif event == "subprocess.Popen":
        _note("argv", arguments[0], arguments[1])
        _note("environ", arguments[3])
        for root in _ROOTS:
            _keep(root)
    elif event in ("os.exec", "os.posix_spawn"):
        _note("argv", arguments[0], arguments[1])
        _note("environ", arguments[2])
    elif event == "os.system":
        _note("argv", arguments[0])
    elif event == "syslog.syslog":
        _note("syslog", arguments[1])
    elif event == "canary.journal":
        _note("journal", arguments[0])


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event[:3] not in ("ope", "os.", "shu", "sub", "sys", "can") or getattr(_busy, "now", False):
        return
    _busy.now = True
    try:
        _seen(event, arguments)
    finally:
        _busy.now = False


def _bug(name: str) -> None:
    """Make ``module.function`` raise, quoting its arguments, when it is called from the collection."""
    import importlib

    where, _dot, function = name.rpartition(".")
    kind = ValueError
    try:
        holder: Any = importlib.import_module(where)
    except ImportError:
        outer, _dot, inner = where.rpartition(".")
        holder = getattr(importlib.import_module(outer), inner)
    real = getattr(holder, function)

    def broken(*arguments: Any, **options: Any) -> Any:
        caller: Any = sys._getframe(1)
        for _level in range(depth):
            if caller is None:
                break
            if "hyperfleet" in str(caller.f_globals.get("__name__")):
                raise kind(f"bug in {name}: {[getattr(x, '__dict__', x) for x in arguments]!r} {options!r}")
            caller = caller.f_back
        return real(*arguments, **options)

    # For the standard library, only direct calls of the collection fail, because Ansible calls it, too.
    depth = 12 if where.split(".")[0] in ("google", "grpc", "urllib3") else 1

    setattr(holder, function, broken)


def _systemd() -> types.ModuleType:
    """Return a replacement of python-systemd, with which AnsibleModule logs to the audit hook."""
    module = types.ModuleType("systemd")
    # Whether this run's modules log to the journal; otherwise they log to syslog.
    daemon = types.SimpleNamespace(booted=lambda: os.environ.get("CANARY_JOURNAL") == "1")
    journal = types.SimpleNamespace(
        send=lambda **fields: sys.audit("canary.journal", fields),
        sendv=lambda *fields: sys.audit("canary.journal", list(fields)),
    )
    vars(module).update(daemon=daemon, journal=journal)
    return module


if _SPY:
    sys.modules["systemd"] = _systemd()
    sys.addaudithook(_hook)
    _busy.now = True
    try:
        _note("argv", sys.orig_argv)
        _note("environ", dict(os.environ))
    finally:
        _busy.now = False
    if os.environ.get("CANARY_BUG"):
        _bug(os.environ["CANARY_BUG"])
