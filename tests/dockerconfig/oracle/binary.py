# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the oracle once for each version of its sources, outside the tree, and asks it questions."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.lab.cache import made_once

HERE = Path(__file__).resolve().parent
_SOURCES = ("go.mod", "go.sum", "main.go")
# containers/image would want gpgme, a C library, for signatures, which are not our subject.
_TAGS = "containers_image_openpgp"


def build() -> Path:
    """The binary; built if these sources have not been built before (minutes, with a cold Go cache)."""
    content = b"".join((HERE / name).read_bytes() for name in _SOURCES)
    return made_once(f"oracle-{hashlib.sha256(content).hexdigest()[:16]}", _compile)


def _compile(target: Path) -> None:
    command = ["nice", "-n", "10", "go", "build", "-trimpath", "-tags", _TAGS, "-ldflags=-s -w"]
    environment = {**os.environ, "CGO_ENABLED": "0"}
    subprocess.run([*command, "-o", str(target), "."], cwd=HERE, env=environment, check=True)


def ask(binary: Path, questions: Iterable[tuple[bytes, str]]) -> list[dict[str, Any]]:
    """The readers' answers, in the order of the questions (document, image)."""
    lines = (
        json.dumps({"document": base64.b64encode(document).decode(), "image": image})
        for document, image in questions
    )
    done = subprocess.run([binary], input="\n".join(lines), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"the oracle failed: {done.stderr[-2000:]}"
    return [json.loads(line) for line in done.stdout.splitlines()]
