# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The image of a program that only waits: for pods' sandboxes, and for pods that need do nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from tests.lab.control_plane.build import cache_root
from tests.lab.images.archive import write_archive, write_tar
from tests.lab.supervisor import LabError, locked

HERE = Path(__file__).resolve().parent / "pause_program"


def pause_archive(name: str) -> Path:
    """Return the image as a tar, made once a machine and name."""
    program = _program()
    target = program.with_name(f"{program.name}-{hashlib.sha256(name.encode()).hexdigest()[:8]}.tar")
    if not target.exists():
        partial = target.with_suffix(f".{os.getpid()}")
        write_archive(partial, name, _layer(), config={"Entrypoint": ["/pause"]})
        partial.replace(target)
    return target


def small_image(target: Path, name: str) -> Path:
    """Write an image of 1 MB whose pods stay Running; each name makes an image that no node has seen."""
    config = {"Entrypoint": ["/pause"], "Labels": {"name": name}}
    return write_archive(target, name, _layer(), config=config)


def _layer() -> bytes:
    return write_tar({"pause": _program().read_bytes()}, 0o755)


def _program() -> Path:
    source = b"".join((HERE / name).read_bytes() for name in ("go.mod", "main.go"))
    target = cache_root() / f"pause-{hashlib.sha256(source).hexdigest()[:16]}"
    if target.exists():
        return target
    go = shutil.which("go")
    if go is None:
        raise LabError("the pause image is built from source and needs Go (1.24 or newer) on PATH")
    with locked(cache_root() / "pause.lock"):
        partial = target.with_suffix(".partial")
        command = [go, "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", str(partial), "."]
        env = {**os.environ, "CGO_ENABLED": "0"}
        done = subprocess.run(command, cwd=HERE, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"go build of pause failed:\n{done.stderr}")
        partial.replace(target)
    return target
