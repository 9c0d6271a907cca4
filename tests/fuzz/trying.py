# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tries inputs, each in its own processes, which this process ends; and judges their output."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fuzz.guard.sitecustomize import install
from tests.fuzz.inputs import ROOT, Input
from tests.fuzz.values import HERE
from tests.fuzz.world import fill, serve
from tests.support.secrecy.canary import Canary
from tests.support.secrecy.needles import Evidence, Needles

__all__ = ["BAD", "Verdict", "sandbox", "tried"]

# Limits of CPU time and of wall time. Right inputs wait for some seconds.
_CPU_SECONDS, _SECONDS = 60, 150.0
_MEMORY = 4 << 30
_LARGEST = 1 << 20
_PR_SET_PDEATHSIG = 1
BAD = ("traceback", "internal error", "hang", "canary", "escape")
_TRACEBACK = re.compile(
    r"Traceback \(most recent call last\)|MODULE FAILURE|Unexpected failure during module"
    r"|Unexpected Exception, this|Task failed: Unexpected|Module result deserialization failed"
)
_INTERNAL = re.compile(r"internal error|kind\W+internal\b|please report this")
_OURS = re.compile(r"hyperfleet[./]pull_secret|extensions[./]eda")
# Ansible's own task before a role's first task. It evaluates the role's variables before the collection can.
_ANSIBLES_TASK = " : Validating arguments against arg spec"


@dataclass(frozen=True)
class Verdict:
    """The result of an input: ``done``, ``refused`` or one of ``BAD``, with the text that shows it."""

    kind: str
    says: str = ""

    @property
    def is_bad(self) -> bool:
        return self.kind in BAD


@contextlib.contextmanager
def sandbox() -> Iterator[Path]:
    """Yield a directory for the inputs' directories, with Ansible's settings of this process in it."""
    root = Path(tempfile.mkdtemp(prefix="pull-secret-fuzz-")).resolve()
    (root / "ansible.cfg").write_text("[defaults]\n")
    before = dict(os.environ)
    os.environ.update(
        {
            "HOME": str(root),
            "TMPDIR": str(root),
            "ANSIBLE_CONFIG": str(root / "ansible.cfg"),
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
            "ANSIBLE_HOME": str(root / "ansible"),
            "ANSIBLE_LOCAL_TEMP": str(root / "ansible" / "tmp"),
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
            "ANSIBLE_NOCOLOR": "true",
            "ANSIBLE_CALLBACK_PLUGINS": str(ROOT / "tests" / "secrecy" / "callback"),
            "ANSIBLE_CALLBACKS_ENABLED": "canary_recorder",
            "ANSIBLE_REMOTE_TEMP": str(root / "ansible" / "remote"),
            "GRPC_ENABLE_FORK_SUPPORT": "false",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(
                [str(Path(__file__).parent / "guard"), os.environ.get("PYTHONPATH", "")]
            ),
        }
    )
    tempfile.tempdir = None
    sys.dont_write_bytecode = True
    try:
        yield root
    finally:
        for name in set(os.environ) - set(before):
            del os.environ[name]
        os.environ.update(before)
        tempfile.tempdir = None
        shutil.rmtree(root, ignore_errors=True)


def tried(
    inputs: Iterable[tuple[int, Input]],
    root: Path,
    canary: Canary,
    runners: Mapping[str, Callable[[Any], Any]],
    *,
    at_once: int = 2,
    seconds: float = _SECONDS,
) -> Iterator[tuple[int, Input, Verdict]]:
    """Yield each input with its number and its verdict, in the order in which they end."""
    needles = Needles([canary])
    running: dict[int, tuple[int, Input, int, Path, float]] = {}
    waiting = iter(inputs)
    ended = False
    try:
        while not ended or running:
            while not ended and len(running) < at_once:
                following = next(waiting, None)
                if following is None:
                    ended = True
                    break
                number, given = following
                here = root / f"n{number}"
                here.mkdir()
                child = _forked(lambda: _try(given, here, canary, runners))  # noqa: B023 - forked here and now
                running[os.pidfd_open(child)] = (number, given, child, here, time.monotonic() + seconds)
            if not running:
                continue
            first = min(until for *_rest, until in running.values())
            ready, _write, _odd = select.select(list(running), [], [], max(0.0, first - time.monotonic()))
            late = [one for one in running if one not in ready and running[one][-1] <= time.monotonic()]
            for handle in (*ready, *late):
                number, given, child, here, _until = running.pop(handle)
                status = _end(handle, child)
                try:
                    yield number, given, _judged(here, status, needles, is_late=handle in late)
                finally:
                    _remove(here)
    finally:
        for handle, (_number, _given, child, _here, _until) in running.items():
            _end(handle, child)


def _forked(work: Callable[[], None]) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    try:
        # A killed run leaves no processes.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # Collecting the parent's gRPC objects in a child that was forked ends it by a signal.
        gc.freeze()
        work()
    except BaseException:  # noqa: BLE001 - nothing of this may go on in the parent's code
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _end(handle: int, child: int) -> int:
    """End the input's process group; return the status of its first process."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    _child, status = os.waitpid(child, 0)
    os.close(handle)
    return status


def _try(given: Input, here: Path, canary: Canary, runners: Mapping[str, Callable[[Any], Any]]) -> None:
    """Run the input; called in its own process."""
    os.setsid()
    shown = os.open(here / "stdout", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(shown, 1)
    os.dup2(os.open(here / "stderr", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    addresses = _served(canary, _placed(given.clusters, here)) if given.world else None
    inside = here / "w"
    inside.mkdir()
    os.environ.update(fill(inside, canary, addresses))
    tempfile.tempdir = None
    os.chdir(inside / "a" / "b" / "cwd")
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ.update(FUZZ_GUARD=str(here.parent), FUZZ_ESCAPES=str(here / "escapes"))
    install(os.environ["FUZZ_GUARD"], os.environ["FUZZ_ESCAPES"])
    outcome: dict[str, Any] = {}
    try:
        outcome = {"kind": "done", "shown": repr(runners[given.runner](_placed(given.data, inside)))}
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        if type(error).__name__ == "Refused":
            outcome = {"kind": "refused", "shown": str(error)}
        else:
            outcome = {"kind": "traceback", "shown": traceback.format_exc()}
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
    text = json.dumps(outcome)
    (here / "outcome").write_text(text[:_LARGEST] if outcome.get("kind") == "traceback" else text)


def _served(canary: Canary, clusters: Any) -> dict[str, str]:
    """Fork the stand-ins, which end with the input's process group."""
    taken, given = os.pipe()

    def work() -> None:
        os.write(given, json.dumps(dict(serve(canary, clusters))).encode())
        os.close(given)
        signal.pause()

    _forked(work)
    os.close(given)
    with os.fdopen(taken) as stream:
        addresses: dict[str, str] = json.loads(stream.read() or "{}")
    if not addresses:
        raise RuntimeError("the stand-ins do not start")
    return addresses


def _placed(value: Any, here: Path) -> Any:
    """Return the value with the input's own directory in place of ``@HERE@``."""
    if isinstance(value, str):
        return value.replace(HERE, str(here)) if HERE in value else value
    if isinstance(value, dict):
        return {_placed(key, here): _placed(one, here) for key, one in value.items()}
    if isinstance(value, list):
        return [_placed(one, here) for one in value]
    return value


def _judged(here: Path, status: int, needles: Needles, *, is_late: bool) -> Verdict:
    shown = {name: _read(path) for name, path in _seen(here).items()}
    leaks = needles.leaks(Evidence("shown", name, data) for name, data in shown.items())
    if leaks:
        return Verdict("canary", "; ".join(map(str, leaks)))
    if is_late or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)):
        return Verdict("hang", (shown["stderr"] or shown["stdout"])[-500:].decode("utf-8", "replace"))
    try:
        outcome = json.loads(shown["outcome"])
    except ValueError:
        return Verdict(
            "traceback", f"ended with status {status}: " + shown["stderr"][-2000:].decode("utf-8", "replace")
        )
    if outcome["kind"] == "traceback":
        return Verdict("traceback", outcome["shown"])
    text = "\n".join(data.decode("utf-8", "replace") for data in shown.values())
    for kind, pattern in (("traceback", _TRACEBACK), ("internal error", _INTERNAL)):
        for found in pattern.finditer(text):
            around = text[max(0, found.start() - 300) : found.end() + 2500]
            task = text[: found.start()].rpartition("\nTASK [")[2]
            if kind != "traceback" or (_OURS.search(around) and _ANSIBLES_TASK not in task):
                return Verdict(kind, around)
    if shown["escapes"]:
        return Verdict("escape", shown["escapes"].decode("utf-8", "replace"))
    if outcome["kind"] == "done" and re.search(
        rb'"failed": true|\'failed\': True', text.encode("utf-8", "replace")
    ):
        return Verdict("refused", outcome["shown"])
    return Verdict(outcome["kind"], outcome["shown"])


def _seen(here: Path) -> dict[str, Path]:
    names = ("stdout", "stderr", "outcome")
    return {name: here / name for name in names} | {
        "record": here / "w" / "record",
        "escapes": here / "escapes",
    }


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _remove(here: Path) -> None:
    with contextlib.suppress(OSError):
        (here / "w" / "unreadable").chmod(0o600)
    shutil.rmtree(here, ignore_errors=True)
