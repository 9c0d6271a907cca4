# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kill -9 before each step of the work, in each order of steps, with a file that stands for kubelet.

On a real node: ``tests/node/real/test_killed.py``.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet import (
    sync as kubelet_sync,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime import atomic_file
from tests.node.unit.story import OS_CALLS, STORIES, kill
from tests.support.nightly import some

# Functions that change neither a file nor kubelet.
_HARMLESS = {
    "environ", "fspath", "fstat", "geteuid", "getegid", "getxattr", "lstat", "path", "read", "stat",
    "strerror", "urandom",
}  # fmt: skip


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """In memory if possible: the files are synced thousands of times."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else tmp_path) as made:
        yield Path(made)


@pytest.fixture(scope="module")
def process() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as made:
        yield made


def test_no_step_is_overlooked() -> None:
    """Every function of ``os`` that the node's code calls is a step or listed as harmless."""
    package = Path(kubelet_sync.__file__).parent
    used = set()
    for path in [Path(atomic_file.__file__), *package.glob("*.py")]:
        text = path.read_text()
        used |= set(re.findall(r"\bos\.([a-z]+)\b", text))
        assert not re.search(r"\bopen\(", text.replace("os.open(", "").replace("_open(", "")), path
        assert "shutil" not in text
    assert used <= set(OS_CALLS) | _HARMLESS
    assert set(OS_CALLS) <= used


def ways() -> Iterator[tuple[str, str]]:
    for story, (old, earlier, desired, _state) in STORIES.items():
        yield "module", story
        # The order of its steps only differs where it merges or rolls back.
        if old is not None and not earlier:
            yield "role", story
        # This story never removes what it wrote.
        if desired is not None:
            yield "syncer", story


@pytest.mark.parametrize(
    ("way", "story"),
    some(ways(), ("syncer", "made")),
)
def test_every_step(directory: Path, process: ProcessPoolExecutor, way: str, story: str) -> None:
    assert process.submit(kill, directory, way, story).result() > 30, "too few steps"
