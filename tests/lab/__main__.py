# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start, end and look at the lab: ``python -m tests.lab up [--real] | down | status``.

``up`` starts stand-ins of Secret Manager, the HyperFleet API and two Kubernetes clusters (contexts mgmt-1 and
mgmt-2) and writes .lab/env and .lab/kubeconfig. With ``--real`` mgmt-1 is a real control plane.
"""

from __future__ import annotations

import argparse
import sys

from tests.lab.supervisor import LabError
from tests.lab.world import Lab


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.lab", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("command", choices=("up", "down", "status"))
    parser.add_argument(
        "--real", action="store_true", help="a real control plane as mgmt-1 (needs Go, no root)"
    )
    arguments = parser.parse_args()
    lab = Lab()
    try:
        if arguments.command == "up":
            print("lab: up" if lab.up(real=arguments.real) else "lab: is up")
            print(f"lab: . {lab.env_file}")
        elif arguments.command == "down":
            print("lab: down" if lab.down() else "lab: was not up")
        else:
            status = lab.status()
            for name, runs in status.items():
                print(f"{name:16} {'up' if runs else f'DEAD, see the logs in {lab.directory}'}")
            if not status:
                print("lab: down")
            return 0 if status and all(status.values()) else 1
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
