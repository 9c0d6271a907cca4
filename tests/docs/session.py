# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs blocks of commands as a person at a terminal would type them: in one shell, one after the other."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from tests.support.blocks import ROOT, Block
from tests.tools import tree

SESSIONS = ("fresh", "install", "lab-up", "lab", "lab-down")
_MARKER = re.compile(rf"({'|'.join(SESSIONS)})(, exit \d+)*")
_END_OF_FILE = "END-OF-FILE"
# What differs from run to run, and what a page shows in its place when the two are compared.
_VARIABLE = (
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"), "TIME"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b"), "DIGEST"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s)\b"), "DURATION"),
    (re.compile(r"\b127\.0\.0\.1:\d+\b"), "ADDRESS"),
)


class Ran(NamedTuple):
    """What became of a block: its output, and the status of every command in it that did not end with 0."""

    block: Block
    output: str
    statuses: list[int]


def is_known(block: Block) -> bool:
    """Whether a block's marker names a session, or says why it is not run."""
    if block.kind == "run":
        return _MARKER.fullmatch(block.marker) is not None
    return block.kind == "not run" and bool(block.marker)


def writes(block: Block) -> Block:
    """For a block with a ``file`` marker, the command that writes it."""
    name = block.marker
    assert re.fullmatch(r"[\w./-]+", name), f"{block.where}: {name!r} is no name of a file"
    assert _END_OF_FILE not in block.text
    command = f"mkdir -p $(dirname {name})\ncat > {name} <<'{_END_OF_FILE}'\n{block.text}{_END_OF_FILE}\n"
    return block._replace(kind="run", marker="lab", text=command)


def moved(block: Block, checkout: Path) -> Block:
    """The block with a ``/tmp`` of its own, beside the checkout."""
    return block._replace(text=re.sub(r"(?<![\w.])/tmp/", f"{checkout.parent}/tmp/", block.text))


def shown_after(block: Block, others: Sequence[Block]) -> list[Block]:
    """The blocks directly behind one that say what it prints."""
    return list(takewhile(lambda other: other.kind == "output", others[others.index(block) + 1 :]))


def shows(shown: str, output: str) -> bool:
    """Whether an output has the lines of a page, in this order and nothing between them.

    A line that is ``...`` stands for any number of lines, and ``…`` for any text in a line. Times, digests,
    durations and local addresses may differ.
    """
    pattern = ""
    for line in _masked(shown).splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += r".*".join(re.escape(part) for part in line.split("…")) + r"\n"
    return re.search(f"^{pattern}", _masked(output) + "\n", re.MULTILINE) is not None


def _masked(text: str) -> str:
    for variable, name in _VARIABLE:
        text = variable.sub(name, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def copy_checkout(target: Path) -> Path:
    """What git has or would have of this checkout, as a repository of its own with the same ``.venv``."""
    for name in tree.sources():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name, follow_symlinks=False)
    (target / ".venv").symlink_to(ROOT / ".venv", target_is_directory=True)
    subprocess.run(["git", "init", "-q"], cwd=target, check=True)
    # .gitignore leaves out the directory, not a link.
    (target / ".git" / "info" / "exclude").write_text("/.venv\n")
    subprocess.run(["git", "add", "-A"], cwd=target, check=True)
    return target


def clean_environment(checkout: Path, **more: str) -> dict[str, str]:
    """A login's variables with another HOME: nothing of Ansible, the lab or an activated environment."""
    ours = ("ANSIBLE_", "K8S_", "SECRET_MANAGER_", "HYPERFLEET_", "PYTEST", "MAKE", "MFLAGS", "XDG_", "GIT_")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(ours) and name not in ("KUBECONFIG", "VIRTUAL_ENV", "LAB", "PYTHONPATH")
    }
    # make puts .venv first on PATH; a login shell does not.
    path = os.pathsep.join(p for p in kept["PATH"].split(os.pathsep) if Path(p) != ROOT / ".venv" / "bin")
    return {**kept, "PATH": path, "HOME": str(checkout.parent / "home"), **more}


def run(
    steps: Sequence[Block], checkout: Path, environment: Mapping[str, str], *, limit: float = 300
) -> list[Ran]:
    """Run the blocks in one bash, which goes on after an error as a person's does; ``limit`` in seconds."""
    record = checkout.with_name(f"{checkout.name}-session")
    record.mkdir()
    script = ["exec 3>statuses", f"cd {checkout}", "trap 'echo \"$block $?\" >&3' ERR"]
    for number, step in enumerate(steps):
        script += [f"exec >{record}/{number} 2>&1", f"block={number}", step.text]
    (record / "script").write_text("\n".join(script))
    # To a file: what the lab leaves running may hold on to its output.
    with (record / "shell").open("w") as output:
        shell = subprocess.Popen(
            ["bash", "script"],
            cwd=record,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            shell.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
            raise
    said = (record / "shell").read_text()
    assert not said, f"bash: {said}"
    failures = [line.split() for line in (record / "statuses").read_text().splitlines()]
    return [
        Ran(
            step,
            (record / str(number)).read_text(),
            [int(code) for block, code in failures if block == str(number)],
        )
        for number, step in enumerate(steps)
        if (record / str(number)).exists()
    ]
