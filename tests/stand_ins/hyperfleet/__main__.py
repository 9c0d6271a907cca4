# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the stand-in as a process: `python -m tests.stand_ins.hyperfleet --ready-file F [--port N]`.

Writes {"url", "pid"} to the ready file once it answers, and ends on SIGTERM or SIGINT.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
from pathlib import Path

from .server import HyperFleetLab


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="tests.stand_ins.hyperfleet", description="Stand-in for the HyperFleet API."
    )
    parser.add_argument(
        "--ready-file", type=Path, required=True, help="gets the address once the API answers"
    )
    parser.add_argument("--port", type=int, default=0, help="on 127.0.0.1 (a free one)")
    parser.add_argument("--required-adapter", action="append", help="may be repeated (pullsecret)")
    parser.add_argument("--flavour", choices=("today", "seed"), default="today")
    options = parser.parse_args()

    ending = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ending)  # before threads start: they inherit it
    adapters = tuple(options.required_adapter or ("pullsecret",))
    with HyperFleetLab(port=options.port, required_adapters=adapters, flavour=options.flavour) as lab:
        ready: Path = options.ready_file
        partial = ready.with_name(ready.name + ".tmp")
        partial.write_text(json.dumps({"url": lab.url, "pid": os.getpid()}) + "\n")
        partial.replace(ready)  # whoever waits for the file never reads half of it
        signal.sigwait(ending)


if __name__ == "__main__":
    main()
