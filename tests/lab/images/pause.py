# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The image of a program that only waits: for pods' sandboxes, and for pods that need do nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from tests.lab.cache import made_once
from tests.lab.images.archive import write_archive, write_tar
from tests.lab.supervisor import LabError, run

HERE = Path(__file__).resolve().parent / "pause_program"


def pause_archive(name: str) -> Path:
    """Return the image as a tar, made once a machine and name."""
    program = _program()
    return made_once(
        f"{program.name}-{hashlib.sha256(name.encode()).hexdigest()[:8]}.tar",
        lambda target: write_archive(target, name, _layer(), config={"Entrypoint": ["/pause"]}),
    )


def small_image(target: Path, name: str) -> Path:
    """Write an image of 1 MB whose pods stay Running; each name makes an image that no node has seen."""
    config = {"Entrypoint": ["/pause"], "Labels": {"name": name}}
    return write_archive(target, name, _layer(), config=config)


def _layer() -> bytes:
    return write_tar({"pause": _program().read_bytes()}, 0o755)


def _program() -> Path:
    source = b"".join((HERE / name).read_bytes() for name in ("go.mod", "main.go"))
    return made_once(f"pause-{hashlib.sha256(source).hexdigest()[:16]}", _build)


def _build(target: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise LabError("the pause image is built from source and needs Go (1.24 or newer) on PATH")
    command = (go, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", str(target), ".")
    run(*command, cwd=HERE, env={**os.environ, "CGO_ENABLED": "0"})
