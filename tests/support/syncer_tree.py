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
from string import Template
from typing import NamedTuple

import jeepney

from tests.tools.env import ROOT

CONTAINERFILE = ROOT / "extensions/syncer/Containerfile"


class Tree(NamedTuple):
    """``command`` runs the program, or what is put in the place of ``program``, as the image does."""

    program: Path
    command: list[str]
    environ: dict[str, str]


def build_tree(target: Path, python: str = sys.executable) -> Tree:
    """Do what the Containerfile does with the jeepney that is installed; ``python`` runs the program."""
    variables: dict[str, str] = {}
    environ: dict[str, str] = {}
    command: list[str] = []
    for line in CONTAINERFILE.read_text().replace("\\\n", " ").splitlines():
        instruction, _space, rest = Template(line).safe_substitute(variables).partition(" ")
        if instruction in ("ARG", "ENV"):
            for word in rest.split():
                name, _sign, value = word.partition("=")
                (variables if instruction == "ARG" else environ)[name] = value
        elif instruction == "COPY" and ".whl" not in rest:
            _copy(target, *rest.split())
        elif instruction == "ENTRYPOINT":
            command = json.loads(rest)
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
