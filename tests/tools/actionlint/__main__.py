# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks ``.github/workflows`` with actionlint: ``python -m tests.tools.actionlint SHELLCHECK``.

The version is in ``go.mod`` in this directory. The program is built once, in the cache. If it cannot be built (no
Go, or no Go module proxy), the check is skipped with a line, and in CI it fails.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.tools import env

_HERE = Path(__file__).resolve().parent
_PACKAGE = "github.com/rhysd/actionlint/cmd/actionlint"


def program() -> Path:
    """Return the program, and build it if this version does not exist yet.

    :raises ToolError: there is no Go, or the build failed.
    """
    content = b"".join((_HERE / name).read_bytes() for name in ("go.mod", "go.sum"))
    binary = env.CACHE / f"actionlint-{hashlib.sha256(content).hexdigest()[:16]}"
    if binary.exists():
        return binary
    try:
        found = shutil.which("go")
        go = Path(found) if found else (env.make("go", sys.executable) / "bin" / "go").absolute()
        with env.lock(binary.name):
            partial = binary.with_suffix(f".{os.getpid()}")
            env.say("building actionlint")
            env.run(
                *(go, "build", "-trimpath", "-ldflags=-s -w", "-o", partial, _PACKAGE),
                cwd=_HERE,
                env={**os.environ, "CGO_ENABLED": "0"},
            )
            partial.replace(binary)
    except (OSError, subprocess.CalledProcessError) as error:
        raise env.ToolError(f"cannot build actionlint: {error}") from None
    return binary


def main() -> int:
    try:
        binary = program()
    except env.ToolError as error:
        env.say(f"left out: {error}")
        return 1 if os.environ.get("CI") == "true" else 0
    workflows = sorted((env.ROOT / ".github" / "workflows").glob("*.yml"))
    command = [str(binary), "-no-color", "-shellcheck", sys.argv[1], "-pyflakes", "", *map(str, workflows)]
    print(f"{len(workflows)} workflows")
    return subprocess.run(command, cwd=env.ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
