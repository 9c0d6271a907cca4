# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the built tarball with galaxy-importer, as Galaxy does; an error or a warning is a failure."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.tools import artifact, env

CONFIG = """\
[galaxy-importer]
LOG_LEVEL_MAIN = INFO
RUN_ANSIBLE_DOC = True
RUN_ANSIBLE_LINT = True
RUN_ANSIBLE_TEST = False
RUN_FLAKE8 = False
CHECK_REQUIRED_TAGS = True
REQUIRE_V1_OR_GREATER = False
"""


def main() -> int:
    bin_dir = env.ROOT / env.make("importer", sys.executable) / "bin"
    tarball = artifact.path()
    with tempfile.TemporaryDirectory(prefix="pull-secret-importer-") as scratch:
        config = Path(scratch, "galaxy-importer.cfg")
        config.write_text(CONFIG)
        variables = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
        variables |= {
            "GALAXY_IMPORTER_CONFIG": str(config),
            "PATH": f"{bin_dir}{os.pathsep}{variables['PATH']}",
            "HOME": scratch,
        }
        reply = subprocess.run(
            [str(bin_dir / "python"), "-m", "galaxy_importer.main", str(tarball)],
            cwd=scratch,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    print(reply.stdout, end="")
    complaints = re.findall(r"^(?:WARNING|ERROR|CRITICAL)\b.*$", reply.stdout, re.MULTILINE)
    if reply.returncode or complaints:
        print(f"galaxy-importer ended with {reply.returncode}, {len(complaints)} complaints")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
