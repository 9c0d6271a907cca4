# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in as a process. SIGTERM or SIGINT stops it at once."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path

from .lab import SecretManagerLab


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stand_ins.secret_manager", description=__doc__)
    parser.add_argument("--ready-file", type=Path, required=True, help="written as JSON when ready")
    parser.add_argument("--grpc-port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--rest-port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--threads", type=int, default=16, help="gRPC calls served at once")
    parser.add_argument("--per-resource", action="store_true", help="count calls by resource, too")
    options = parser.parse_args()

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_args: stop.set())
    lab = SecretManagerLab(
        grpc_port=options.grpc_port,
        rest_port=options.rest_port,
        threads=options.threads,
        per_resource=options.per_resource,
    )
    try:
        lab.start()
    except OSError as error:
        print(f"secret_manager: {error}", file=sys.stderr)
        return 1
    try:
        ready = {"grpc": lab.grpc, "rest": lab.rest, "pid": os.getpid()}
        # Renamed into place: whoever waits for the file never reads half of it.
        partial = options.ready_file.with_name(options.ready_file.name + ".part")
        partial.write_text(json.dumps(ready) + "\n")
        partial.replace(options.ready_file)
        stop.wait()
    finally:
        lab.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
