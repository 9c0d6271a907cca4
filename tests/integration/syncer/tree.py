# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files of the syncer's image, as its Containerfile copies them, in a directory of this machine."""

from __future__ import annotations

import glob
import shutil
import subprocess
import sys
from pathlib import Path

import jeepney

ROOT = Path(__file__).resolve().parents[3]
CONTAINERFILE = ROOT / "extensions/syncer/Containerfile"


def instructions() -> list[list[str]]:
    """The Containerfile's instructions as words, its variables put in."""
    variables: dict[str, str] = {}
    found = []
    text = CONTAINERFILE.read_text().replace("\\\n", " ")
    for line in text.splitlines():
        for name, value in variables.items():
            line = line.replace(f"${{{name}}}", value)
        words = line.split()
        if words and not words[0].startswith("#"):
            found.append(words)
            if words[0] == "ARG" and "=" in words[1]:
                name, _sign, value = words[1].partition("=")
                variables[name] = value
    return found


def build_tree(target: Path, python: str = sys.executable) -> Path:
    """Do what the Containerfile does; gives the program's path. jeepney is the installed one.

    :param python: which one it is compiled for.
    """
    for words in instructions():
        if words[0] != "COPY":
            continue
        *sources, directory = words[1:]
        if sources[0].endswith(".whl"):
            continue
        inside = target / directory.lstrip("/")
        inside.mkdir(parents=True, exist_ok=True)
        for pattern in sources:
            files = glob.glob(pattern, root_dir=ROOT)
            assert files, f"there is no {pattern}"
            for name in files:
                shutil.copy(ROOT / name, inside)
    root = target / "opt/syncer"
    assert jeepney.__file__ is not None
    ignored = shutil.ignore_patterns("tests", "__pycache__")
    shutil.copytree(Path(jeepney.__file__).parent, root / "jeepney", ignore=ignored)
    subprocess.run([python, "-m", "compileall", "-q", str(root)], check=True)
    return root / "main.py"
