# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs on a node in kubelet's place: it is well, unless its file has the registry ``bad.example``.

Then it does what its argument says: ``exit``, ``crash`` (after two seconds), ``unready`` (no READY=1),
``unhealthy`` (healthz answers 500).  ``slow`` takes three seconds to start in any case; ``missing`` is its
unit's (``World.install``).
"""

from __future__ import annotations

import http.server
import os
import socket
import sys
import threading
import time
from pathlib import Path

MODE = sys.argv[1]
FILE = Path("/var/lib/kubelet/config.json")
BAD = FILE.is_file() and "bad.example" in FILE.read_text()


class Healthz(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(500 if BAD and MODE == "unhealthy" else 200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


def say_ready() -> None:
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stream:
            stream.sendto(b"READY=1", "\0" + address[1:] if address.startswith("@") else address)


if MODE == "slow":
    # A test has this long to act in the middle of the start.
    time.sleep(3)
if BAD and MODE == "exit":
    sys.exit(1)
server = http.server.HTTPServer(("127.0.0.1", 10248), Healthz)
threading.Thread(target=server.serve_forever, daemon=True).start()
if not (BAD and MODE == "unready"):
    say_ready()
if BAD and MODE == "crash":
    # It has said that it is ready: only a watch of the kubelet sees this end.
    time.sleep(2)
    sys.exit(1)
threading.Event().wait()
