# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Start, fill and end the lab.

``up`` starts stand-ins of Secret Manager, the HyperFleet API and two Kubernetes clusters (contexts mgmt-1 and
mgmt-2) and writes .lab/env and .lab/kubeconfig. With ``--real`` mgmt-1 is a real control plane.
``seed`` adds namespaces, sample files and a foreign secret. ``namespace`` makes namespaces in mgmt-1, as
``kubectl create namespace`` does. ``put`` adds a version to a secret in Secret Manager, and makes the secret if
there is none. ``down`` ends all and removes what ``up`` and ``seed`` have made.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.lab.supervisor import LabError
from tests.lab.world import Lab


def main() -> int:
    arguments = _parser().parse_args()
    lab = Lab()
    try:
        if arguments.command == "up":
            print("lab: up" if lab.up(real=arguments.real) else "lab: is up")
            print(f"lab: . {lab.env_file}")
        elif arguments.command == "seed":
            print(lab.seed())
        elif arguments.command == "namespace":
            lab.add_namespaces(arguments.name)
            print(f"lab: namespaces in mgmt-1: {', '.join(arguments.name)}")
        elif arguments.command == "put":
            print(_put(lab, arguments))
        elif arguments.command == "down":
            print("lab: down" if lab.down() else "lab: was not up")
        else:
            return _status(lab)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.lab", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="start what does not run")
    up.add_argument("--real", action="store_true", help="a real control plane as mgmt-1 (needs Go, no root)")
    commands.add_parser("seed", help="add samples to try things with")
    namespace = commands.add_parser("namespace", help="make namespaces in mgmt-1")
    namespace.add_argument("name", nargs="+")
    put = commands.add_parser("put", help="add a version to a secret in Secret Manager")
    put.add_argument("project")
    put.add_argument("secret")
    put.add_argument("--file", type=Path, help="what the version holds (default: standard input)")
    put.add_argument("--label", action="append", default=[], metavar="KEY=VALUE", help="of a new secret")
    commands.add_parser("status", help="say what runs")
    commands.add_parser("down", help="end it and remove its files")
    return parser


def _put(lab: Lab, arguments: argparse.Namespace) -> str:
    from tests.lab.samples import put

    address = lab.secret_manager()
    labels = dict(label.partition("=")[::2] for label in arguments.label)
    try:
        data = arguments.file.read_bytes() if arguments.file else sys.stdin.buffer.read()
    except OSError as error:
        raise LabError(f"{arguments.file}: {error.strerror}") from None
    return put(address, arguments.project, arguments.secret, data, labels)


def _status(lab: Lab) -> int:
    status = lab.status()
    for name, runs in status.items():
        print(f"{name:16} {'up' if runs else f'DEAD, see the logs in {lab.directory}'}")
    if not status:
        print("lab: down")
    return 0 if status and all(status.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
