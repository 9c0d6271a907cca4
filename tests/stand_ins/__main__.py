# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in as a process: it writes its addresses to a file, and ends on SIGTERM or SIGINT."""

from __future__ import annotations

import argparse
import json
import os
import signal
from pathlib import Path

from tests.stand_ins.lab import Lab


def _lab(name: str, tls: bool) -> Lab:
    """The stand-in; only what that needs is imported."""
    if name == "secret_manager":
        from tests.stand_ins.secret_manager import SecretManagerLab

        return SecretManagerLab()
    if name == "hyperfleet":
        from tests.stand_ins.hyperfleet import HyperFleetLab

        return HyperFleetLab()
    from tests.stand_ins.kubernetes import KubernetesLab

    # A second stand-in gets other tokens through the environment.
    names = {"admin_token": "LAB_K8S_TOKEN", "viewer_token": "LAB_K8S_VIEWER_TOKEN"}
    tokens = {key: os.environ[name] for key, name in names.items() if name in os.environ}
    return KubernetesLab(**tokens, tls=tls)


def _serve(lab: Lab, ready: Path) -> None:
    ending = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ending)  # before threads start: they inherit it
    with lab:
        # Rename the complete file: a process that waits for it never reads a part.
        partial = ready.with_name(f"{ready.name}.part")
        partial.touch(mode=0o600)
        partial.write_text(json.dumps({**lab.address(), "pid": os.getpid()}))
        partial.replace(ready)
        signal.sigwait(ending)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.stand_ins")
    parser.add_argument("name", choices=["secret_manager", "kubernetes", "hyperfleet"])
    parser.add_argument("--ready-file", type=Path, required=True, help="gets the addresses, as JSON")
    parser.add_argument(
        "--tls", action="store_true", help="kubernetes with a certificate of its own, for kubectl"
    )
    options = parser.parse_args()
    _serve(_lab(options.name, options.tls), options.ready_file)
