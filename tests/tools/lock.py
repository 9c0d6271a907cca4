# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes ``requirements/constraints/NAME.txt``: the exact versions of all direct and indirect requirements.

Run it manually after a change of requirements, with the oldest supported Python: its versions also install with
newer Pythons.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.tools import env

LAYERS = {
    "runtime": ["runtime"],
    "test": ["runtime", "test"],
    "lint": ["lint"],
    "docs": ["docs"],
    "importer": ["importer"],
    "ansible-test": ["ansible-test"],
    "bench": ["bench"],
    "molecule": ["molecule"],
    "rulebook": ["rulebook"],
    "builder": ["builder"],
}
# Packages whose version depends on the supported Python.
FREE = ("ansible-core==", "resolvelib==")
HEADER = "# Made by `make lock`; edit requirements/{name}.txt instead.\n"


def freeze(name: str, files: list[str], scratch: Path) -> str:
    """Resolve ``files`` in an empty environment, and return the pins as text."""
    venv = scratch / name
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    pip = [str(venv / "bin" / "python"), "-m", "pip", "-q", "--disable-pip-version-check"]
    arguments = [part for file in files for part in ("-r", str(env.REQUIREMENTS / f"{file}.txt"))]
    subprocess.run([*pip, "install", *arguments], check=True)
    reply = subprocess.run([*pip, "freeze"], check=True, capture_output=True, text=True)
    pins = [line for line in reply.stdout.splitlines() if "==" in line and not line.startswith(FREE)]
    return HEADER.format(name=name) + "\n".join(sorted(pins, key=str.lower)) + "\n"


def main() -> int:
    names = sys.argv[1:] or list(LAYERS)
    with tempfile.TemporaryDirectory(prefix="pull-secret-lock-") as scratch:
        for name in names:
            target = env.REQUIREMENTS / "constraints" / f"{name}.txt"
            target.parent.mkdir(exist_ok=True)
            target.write_text(freeze(name, LAYERS[name], Path(scratch)))
            print(target.relative_to(env.ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
