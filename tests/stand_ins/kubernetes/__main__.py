# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.stand_ins.kubernetes --ready-file F``: the stand-in as a process, over TLS; SIGTERM ends it."""

from __future__ import annotations

import argparse
import json
import os
import signal
import threading
from pathlib import Path

from tests.stand_ins.kubernetes.lab import ADMIN_TOKEN, VIEWER_TOKEN, KubernetesLab


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.stand_ins.kubernetes", description=__doc__)
    parser.add_argument(
        "--ready-file", type=Path, help="written as JSON (url, ca, pid, tokens) once it listens"
    )
    parser.add_argument("--port", type=int, default=0, help="0 chooses a free one")
    parser.add_argument("--kubeconfig", type=Path, help="also write a kubeconfig here")
    # Tokens of a loopback stand-in; a second stand-in gets others through the environment.
    arguments = parser.parse_args()
    lab = KubernetesLab(
        port=arguments.port,
        admin_token=os.environ.get("LAB_K8S_TOKEN", ADMIN_TOKEN),
        viewer_token=os.environ.get("LAB_K8S_VIEWER_TOKEN", VIEWER_TOKEN),
        tls=True,
    )
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    with lab:
        assert lab.ca
        if arguments.kubeconfig:
            lab.kubeconfig(arguments.kubeconfig)
        ready = {
            "url": lab.url,
            "ca": lab.ca.decode(),
            "pid": os.getpid(),
            "token": lab.admin_token,
            "viewer_token": lab.viewer_token,
        }
        if arguments.ready_file:
            temporary = arguments.ready_file.with_name(arguments.ready_file.name + ".tmp")
            temporary.touch(mode=0o600)
            temporary.write_text(json.dumps(ready))
            temporary.replace(arguments.ready_file)
        else:
            print(json.dumps(ready), flush=True)
        stopped.wait()


if __name__ == "__main__":
    main()
