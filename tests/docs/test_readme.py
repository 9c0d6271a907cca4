# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every command in the README is run as written and prints what the README shows.

Only ``/tmp`` and HOME differ from a user's. :mod:`tests.docs.blocks` explains the markers of blocks.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs import commands, session
from tests.docs.session import Ran
from tests.support import blocks
from tests.support.blocks import README, ROOT, Block
from tests.tools import env

TEXT = README.read_text()
BLOCKS = blocks.blocks(README)
PROSE = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
CODE = re.findall(r"`([^`]+)`", PROSE)
# An additional command: checks that the lab uses the kind of API server that the test wants.
KIND = Block(
    README, 0, "sh", "run", "lab", "if [ -e .lab/control-plane ]; then echo real; else echo stand-in; fi\n"
)
# Where the collection's plugins, roles and playbooks are.
NAMED = (
    "plugins/modules/*.py",
    "plugins/lookup/*.py",
    "plugins/filter/*.yml",
    "plugins/callback/*.py",
    "roles/*",
    "playbooks/*.yml",
    "extensions/eda/rulebooks/*.yml",
    "extensions/eda/plugins/event_source/*.py",
)


def _assert_done(ran: Ran, checkout: Path) -> None:
    where = f"{ran.block.where} printed:\n{ran.output}"
    assert ran.statuses == ran.block.statuses, where
    origin = next((block for block in BLOCKS if block.line == ran.block.line), None)
    for shown in session.shown_after(origin, BLOCKS) if origin else ():
        assert session.shows(session.moved(shown, checkout).text, ran.output), (
            f"{shown.where} differs; {where}"
        )


@pytest.mark.parametrize(
    "lab",
    [
        pytest.param("stand-in", marks=[pytest.mark.real(), pytest.mark.alone]),
        pytest.param("real", marks=[pytest.mark.real("go"), pytest.mark.nightly]),
    ],
)
def test_lab_commands_work_as_written(lab: str, checkout: Path) -> None:
    """Run all lab blocks in one shell, with the stand-ins and with a real API server."""
    steps = [session.moved(block, checkout) for block in BLOCKS if block.session.startswith("lab")]
    assert [steps[0].session, steps[-1].session] == ["lab-up", "lab-down"]
    steps.insert(1, KIND)
    real = {"LAB": "real", "XDG_CACHE_HOME": str(env.CACHE.parent)} if lab == "real" else {}
    done = session.run(steps, checkout, session.clean_environment(checkout, **real))
    for ran in done:
        _assert_done(ran, checkout)
    assert len(done) == len(steps)
    assert done[1].output == f"{lab}\n"
    assert not (checkout / ".lab" / "env").exists()


@pytest.mark.real
@pytest.mark.alone
def test_quickstart_works_as_written(checkout: Path) -> None:
    block = next(block for block in BLOCKS if block.text == "make quickstart\n")
    (ran,) = session.run([block], checkout, session.clean_environment(checkout))
    _assert_done(ran, checkout)
    lines = ran.output.splitlines()
    # Four runs: check mode, the first run, a repeated run, a run after one secret was rotated.
    assert [line for line in lines if line.startswith("5 clusters: ")] == [
        "5 clusters: 3 would change, 2 would fail",
        "5 clusters: 3 changed, 2 failed",
        "5 clusters: 0 changed, 2 failed",
        "5 clusters: 1 changed, 2 failed",
    ]
    assert sum(line.startswith("CLUSTER  ") for line in lines) == 4
    assert sum(line.startswith("cls-81c2 ") and line.endswith(" changed") for line in lines) == 3


@pytest.mark.nightly
def test_install_works_as_written(checkout: Path) -> None:
    """Install into the existing environment; ``make install-test`` does the same in a fresh one."""
    block = next(block for block in BLOCKS if block.session == "install")
    # Without an index, pip finds everything in .venv or fails: the test changes no environment.
    venv = env.VENV / "bin"
    world = session.clean_environment(checkout, PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    world["PATH"] = f"{venv}:{world['PATH']}"
    (ran,) = session.run([block], checkout, world)
    _assert_done(ran, checkout)
    installed = checkout.parent / "home/.ansible/collections/ansible_collections/hyperfleet/pull_secret"
    assert (installed / "plugins/modules/gcp_pull_secret.py").is_file(), ran.output
    assert not installed.is_symlink()


def test_every_block_is_one_that_a_test_checks() -> None:
    for number, block in enumerate(BLOCKS):
        if block.language == "sh":
            assert block.session in session.SESSIONS, f"{block.where}: needs <!-- run: SESSION -->"
            assert session.is_known(block), f"{block.where}: unknown marker {block.marker!r}"
        else:
            assert block.language == "text", (
                f"{block.where}: no block here may have the language {block.language!r}"
            )
            assert block.kind == "output", f"{block.where}: needs <!-- output -->"
            assert BLOCKS[number - 1].kind == "run", f"{block.where}: output without a command before it"
    assert "```" not in PROSE
    assert len(BLOCKS) == TEXT.count("```") // 2


def test_it_names_what_exists_and_all_of_it() -> None:
    """Check inline code: targets of make, and every plugin, role, playbook and rulebook of the collection."""
    text = "\n".join(CODE)
    assert [*commands.unknown_names(text), *commands.unknown_targets(text)] == []
    names = {path.stem for pattern in NAMED for path in ROOT.glob(pattern) if path.stem != "__init__"}
    assert names - set(CODE) == set()
