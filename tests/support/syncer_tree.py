# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files of the syncer's image, as its Containerfile copies them, in a directory of this machine."""

from __future__ import annotations

import glob
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import jeepney

from tests.tools.env import ROOT

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


class Tree(NamedTuple):
    """``command`` runs the program, or what is put in the place of ``program``, as the image does."""

    program: Path
    command: list[str]
    environ: dict[str, str]


def build_tree(target: Path, python: str = sys.executable) -> Tree:
    """Do what the Containerfile does with the jeepney that is installed; ``python`` runs the program."""
    environ: dict[str, str] = {}
    command: list[str] = []
    for words in instructions():
        if words[0] == "COPY" and not words[1].endswith(".whl"):
            _copy(target, *words[1:])
        elif words[0] == "ENV":
            environ.update(
                (name, value) for name, _sign, value in (word.partition("=") for word in words[1:])
            )
        elif words[0] == "ENTRYPOINT":
            command = json.loads(" ".join(words[1:]))
    assert jeepney.__file__ is not None
    program = (target / command[-1].lstrip("/")).with_suffix(".py")
    ignored = shutil.ignore_patterns("tests", "__pycache__")
    shutil.copytree(Path(jeepney.__file__).parent, program.parent / "jeepney", ignore=ignored)
    tree = Tree(program, [python, *command[1:-1], "-X", f"pycache_prefix={target}/compiled", ""], environ)
    subprocess.run([*tree.command[:-1], str(program.with_name("compile.py"))], check=True)
    return tree._replace(command=[*tree.command[:-1], str(program.with_suffix(".pyc"))])


def _copy(target: Path, *words: str) -> None:
    *sources, directory = words
    inside = target / directory.lstrip("/")
    inside.mkdir(parents=True, exist_ok=True)
    for pattern in sources:
        files = glob.glob(pattern, root_dir=ROOT)
        assert files, f"there is no {pattern}"
        for name in files:
            shutil.copy(ROOT / name, inside)
