# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in as a process: it writes its address to a file, and ends on SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import json
import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

__all__ = ["options_of", "serve"]

_Lab = TypeVar("_Lab")


def options_of(name: str) -> argparse.ArgumentParser:
    """The options that every stand-in has: the parser of ``python -m tests.stand_ins.NAME``."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.stand_ins.{name}")
    parser.add_argument("--ready-file", type=Path, required=True, help="gets the address, as JSON")
    return parser


def serve(
    lab: AbstractContextManager[_Lab], ready: Path, address: Callable[[_Lab], dict[str, str | None]]
) -> None:
    """Run the stand-in until a signal ends it; ``address`` says what clients need to know."""
    ending = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ending)  # before threads start: they inherit it
    with lab as running:
        # Renamed into place: a waiting process never reads half of the file.
        partial = ready.with_name(f"{ready.name}.part")
        partial.touch(mode=0o600)
        partial.write_text(json.dumps({**address(running), "pid": os.getpid()}))
        partial.replace(ready)
        signal.sigwait(ending)
