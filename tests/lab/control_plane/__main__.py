# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Build, start and end the real control plane by hand."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.lab.control_plane.build import build
from tests.lab.control_plane.cluster import SHARED, ControlPlane
from tests.lab.control_plane.lease import keep
from tests.lab.supervisor import LabError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.control_plane", description=__doc__)
    parser.add_argument("command", choices=("build", "up", "down", "status"))
    parser.add_argument("--state", type=Path, default=SHARED, help="directory of its data and logs")
    parser.add_argument(
        "--audit-level",
        choices=("None", "Metadata", "Request", "RequestResponse"),
        default="Metadata",
        help="what the audit log holds of each request (Request and above hold Secrets)",
    )
    arguments = parser.parse_args()
    plane = ControlPlane(arguments.state, audit_level=arguments.audit_level)
    try:
        if arguments.command == "build":
            print(build())
        elif arguments.command == "up":
            print(f"control plane: up at {plane.up().url}, kubeconfig {plane.directory / 'kubeconfig'}")
            keep(plane)
        elif arguments.command == "down":
            print("control plane: down" if plane.down() else "control plane: was not up")
        else:
            state = plane.state()
            print(f"control plane: up at {state.url}" if state else "control plane: down")
            return 0 if state else 1
    except LabError as error:
        print(f"control plane: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
