# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every command in the README is run as written, and says what the README says it says.

Only the directory ``/tmp`` and HOME are others. A marker in front of each block, ``<!-- run: ... -->``, tells
how: ``lab-up``, ``lab`` and ``lab-down`` in one shell, ``fresh`` and ``install`` in a checkout of their own.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.docs import blocks, session
from tests.docs.blocks import README, ROOT, Block
from tests.docs.session import Ran
from tests.stand_ins.kubernetes.lab import ADMIN_TOKEN
from tests.tools import env

TEXT = README.read_text()
BLOCKS = blocks.blocks(README)
# What a block of the lab says where the README does not show it, by a part of its commands.
SAYS = {
    "make lab-up": ["lab: up"],
    "-e @clusters.yml": ["2 clusters: 1 changed, 0 failed", "cls-456  1 "],
    "-e clusters_dir=tests/quickstart/fleet/": [
        "5 clusters: ",
        "would change",
        "FAILED",
        "clusters failed: ",
    ],
    "ansible-playbook hyperfleet.pull_secret.hosted_cluster": ["1 cluster: 0 changed, 0 failed"],
    "ansible-playbook hyperfleet.pull_secret.reconcile": [
        "PreconditionsNotMet: Preconditions not met: spec.gcp.projectId is not there; ",
        "changed=0",
        "failed=0",
    ],
    "ansible-playbook hyperfleet.pull_secret.node": ["+registry quay.io", "changed=1", "failed=0"],
    "ansible-playbook hyperfleet.pull_secret.job": ['"message": "Success: Pull secret provisioned"'],
    "make lab-down": ["lab: down"],
}
# Beside the README's own: is the API server the one that was asked for?
TOKEN = Block(README, 0, "sh", "run", "lab", 'echo "$K8S_TOKEN"\n')
AGAIN = "2 clusters: 0 changed, 0 failed"


def _file_name(block: Block) -> str | None:
    found = re.match(r"# (\S+\.ya?ml)\n", block.text)
    return found[1] if found else None


def _is_playbook(block: Block) -> bool:
    plays = yaml.safe_load(block.text)
    return isinstance(plays, list) and all("hosts" in play for play in plays)


def _lab_steps(checkout: Path) -> list[Block]:
    """The blocks of the lab, and for each playbook that the README shows the command that runs it."""
    steps = []
    for block in BLOCKS:
        if block.session.startswith("lab"):
            steps.append(session.moved(block, checkout))
            if block.session == "lab-up":
                steps.append(TOKEN)
        elif block.language == "yaml" and _is_playbook(block):
            name = f"readme-line-{block.line}.yml"
            (checkout / name).write_text(session.moved(block, checkout).text)
            # The emulator's address is the gRPC one; REST has another port.
            world = (
                'SECRET_MANAGER_EMULATOR_HOST="$SECRET_MANAGER_REST" '
                if "transport: rest" in block.text
                else ""
            )
            steps.append(block._replace(text=f"{world}ansible-playbook {name} -e @clusters.yml\n"))
    return steps


def _shown_after(block: Block) -> list[str]:
    """What the README shows as the output of a block."""
    following = [other for other in BLOCKS if other.line > block.line][:1]
    return [other.text for other in following if other.language == "text"]


def _expected(block: Block) -> list[str]:
    shown = _shown_after(block)
    if block.language == "yaml":
        return [AGAIN]
    return shown or [text for part, texts in SAYS.items() if part in block.text for text in texts]


def _assert_done(ran: Ran) -> None:
    where = f"README.md, line {ran.block.line}, said:\n{ran.output}"
    assert ran.statuses == ran.block.statuses, where
    for text in _expected(ran.block):
        assert text in ran.output, f"{text!r} is missing; {where}"
    if "pull_secret.job_log" in ran.block.text:
        assert all(isinstance(json.loads(line), dict) for line in ran.output.splitlines()), where


@pytest.mark.parametrize("lab", ["stand-in", pytest.param("real", marks=pytest.mark.real("go"))])
def test_lab_commands_work_as_written(lab: str, checkout: Path) -> None:
    """In one shell, from ``make lab-up`` to ``make lab-down``, on the stand-ins and on a real API server."""
    for block in BLOCKS:
        if block.language == "yaml" and (name := _file_name(block)):
            (checkout / name).write_text(session.moved(block, checkout).text)
    steps = _lab_steps(checkout)
    real = {"LAB": "real", "XDG_CACHE_HOME": str(env.CACHE.parent)} if lab == "real" else {}
    done = session.run(steps, checkout, session.clean_environment(checkout, **real))
    for ran in done:
        _assert_done(ran)
    assert len(done) == len(steps)
    (token,) = (ran.output for ran in done if ran.block is TOKEN)
    assert (token.strip() == ADMIN_TOKEN) is not bool(real)
    assert not (checkout / ".lab" / "env").exists()


def test_quickstart_works_as_written(checkout: Path) -> None:
    block = next(block for block in BLOCKS if block.text == "make quickstart\n")
    (ran,) = session.run([block], checkout, session.clean_environment(checkout))
    _assert_done(ran)
    lines = ran.output.splitlines()
    # Four runs: what would happen, the first, the same again, after the rotation of one.
    assert [line for line in lines if line.startswith("5 clusters: ")] == [
        "5 clusters: 3 would change, 2 failed",
        "5 clusters: 3 changed, 2 failed",
        "5 clusters: 0 changed, 2 failed",
        "5 clusters: 1 changed, 2 failed",
    ]
    assert sum(line.startswith("CLUSTER  ") for line in lines) == 4
    assert sum(line.startswith("cls-81c2 ") and line.endswith(" changed") for line in lines) == 3


def test_install_works_as_written(checkout: Path) -> None:
    """With what is installed already; ``make install-test`` does the same in a fresh environment."""
    block = next(block for block in BLOCKS if block.session == "install")
    # pip finds everything in .venv or fails: a test changes no environment.
    venv = env.VENV / "bin"
    world = session.clean_environment(checkout, PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    world["PATH"] = f"{venv}:{world['PATH']}"
    (ran,) = session.run([block], checkout, world)
    _assert_done(ran)
    installed = checkout.parent / "home/.ansible/collections/ansible_collections/hyperfleet/pull_secret"
    assert (installed / "plugins/modules/gcp_pull_secret.py").is_file(), ran.output
    assert not installed.is_symlink()


def test_what_is_fresh_is_run_by_ci() -> None:
    """``make quickstart`` by a test above, the rest by ``.ci/run``, the installation by ``make test``."""
    fresh = [line for block in BLOCKS if block.session == "fresh" for line in block.text.splitlines()]
    ci = (ROOT / ".ci" / "run").read_text().splitlines()
    assert fresh
    assert [line for line in fresh if line != "make quickstart" and line not in ci] == []
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^test:.*\n\t.*\binstall-test\b", makefile, re.MULTILINE)
    assert "-r runtime.txt" in (env.REQUIREMENTS / "install.txt").read_text().splitlines()


def test_every_block_is_one_that_a_test_runs() -> None:
    for block in BLOCKS:
        where = f"README.md, line {block.line}"
        if block.language == "sh":
            assert session.is_known(block), f"{where}: neither <!-- run: ... --> nor <!-- not run: REASON -->"
            assert block.session != "lab" or _expected(block), f"{where}: what its output says is not told"
        elif block.language == "yaml":
            assert _file_name(block) or _is_playbook(block), f"{where}: neither a named file nor a playbook"
        else:
            assert block.language == "text", f"{where}: {block.language!r} is no language of a block here"
    unmarked = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    assert "```" not in unmarked
    assert len(BLOCKS) == TEXT.count("```") // 2


def test_commands_in_the_text_are_there() -> None:
    """Inline code: targets of make, and ``ansible-doc`` for every module."""
    prose = re.sub(r"^```.*?^```$", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    code = re.findall(r"`([^`]+)`", prose)
    targets = {found[1] for text in code if (found := re.fullmatch(r"make ([a-z-]+)(?: [A-Z]+=\S+)?", text))}
    makefile = (ROOT / "Makefile").read_text()
    assert targets
    assert [name for name in targets if not re.search(rf"^{name}:.*##", makefile, re.MULTILINE)] == []
    modules = {path.stem for path in (ROOT / "plugins" / "modules").glob("*.py")}
    assert modules <= set(code)
    documented = [text.split()[1:] for text in code if text.startswith("ansible-doc ")]
    assert documented
    for names in documented:
        assert {name.removeprefix("hyperfleet.pull_secret.") for name in names} <= modules


def test_links_lead_somewhere() -> None:
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", TEXT) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
