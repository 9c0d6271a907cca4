# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The README's blocks, and how a person at a terminal would type them: in one shell, one after the other."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.tools import tree

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
_BLOCK = re.compile(
    r"^(?:<!-- run: (?P<marker>[^>]*?) -->\n)?```(?P<language>[^\n]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    """``marker`` is what ``<!-- run: ... -->`` in front of it says, or empty; ``line`` is its fence's."""

    line: int
    language: str
    marker: str
    text: str


class Ran(NamedTuple):
    """What became of a block: its output, and the status of every command in it that did not end with 0."""

    block: Block
    output: str
    statuses: list[int]


def blocks(markdown: str) -> list[Block]:
    """All fenced blocks, in their order."""
    return [
        Block(
            markdown.count("\n", 0, found.start("language")) + 1,
            found["language"],
            found["marker"] or "",
            found["text"],
        )
        for found in _BLOCK.finditer(markdown)
    ]


def expected_statuses(block: Block) -> list[int]:
    """``lab, exit 2``: one command ends with 2; without that, none ends with anything but 0."""
    return [int(number) for number in re.findall(r"\bexit (\d+)\b", block.marker)]


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


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    """A login's variables with another HOME: nothing of Ansible, the lab or an activated environment."""
    ours = ("ANSIBLE_", "K8S_", "SECRET_MANAGER_", "HYPERFLEET_", "PYTEST", "MAKE", "MFLAGS", "XDG_", "GIT_")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(ours) and name not in ("KUBECONFIG", "VIRTUAL_ENV", "LAB", "PYTHONPATH")
    }
    # make puts .venv first for nobody.
    path = os.pathsep.join(p for p in kept["PATH"].split(os.pathsep) if Path(p) != ROOT / ".venv" / "bin")
    return {**kept, "PATH": path, "HOME": str(home), **more}


def run(
    steps: Sequence[Block], checkout: Path, environment: Mapping[str, str], *, limit: float = 300
) -> list[Ran]:
    """Run the blocks in one bash, which goes on after an error as a person's does; ``limit`` in seconds.

    Bash's trap on ERR notes each simple command, pipeline or list that failed and was not asked about.
    """
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
