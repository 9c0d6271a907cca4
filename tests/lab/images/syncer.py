# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The syncer's image, built from this checkout by buildah, on a base made of Debian packages.

No public base image can be had everywhere, and pip in a build knows nothing of this machine's settings: the
base is made here, and the wheel is fetched here and copied in.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.lab.control_plane.build import cache_root
from tests.lab.images.archive import write_archive
from tests.lab.nodes.rootfs import debian_sources, extract_packages
from tests.lab.supervisor import LabError, locked
from tests.tools import apt, env

ROOT = Path(__file__).resolve().parents[3]
CONTAINERFILE = Path("extensions", "syncer", "Containerfile")
# What the Containerfile may copy.
CONTEXT = ("extensions/syncer", "plugins/module_utils")
BASE_PACKAGES = ("base-files", "python3", "dash", "coreutils")
COMMANDS = ("buildah", "skopeo", "mmdebstrap")
KEPT = 4
NAME = "localhost/syncer:lab"


def build_syncer(root: Path = ROOT) -> Path:
    """Return the image as a tar (``docker-archive``), built when what it is made of has changed.

    ``root`` is the checkout, or another tree with a Containerfile in that place.
    """
    apt.provide(COMMANDS)
    base = python_base()
    with tempfile.TemporaryDirectory(prefix="pull-secret-syncer-") as scratch:
        context = _context(root, Path(scratch) / "context")
        target = cache_root() / f"syncer-{_fingerprint(context, base)}.tar"
        if not target.exists():
            with locked(cache_root() / "syncer.lock"):
                if not target.exists():  # another run built it while this one waited
                    _build(context, base, target, Path(scratch) / "storage")
    return target


def python_base() -> Path:
    """Return an image (``docker-archive``) of Python and a shell, made once a machine; 80 MB."""
    apt.provide(["mmdebstrap"])
    text = repr((debian_sources(), BASE_PACKAGES))
    target = cache_root() / f"python-base-{hashlib.sha256(text.encode()).hexdigest()[:16]}.tar"
    if not target.exists():
        with locked(cache_root() / "python-base.lock"), tempfile.TemporaryDirectory() as scratch:
            if not target.exists():
                started = time.monotonic()
                layer = Path(scratch) / "layer.tar"
                extract_packages(layer, BASE_PACKAGES)
                partial = target.with_suffix(".partial")
                write_archive(partial, "localhost/python:lab", layer.read_bytes())
                partial.replace(target)
                print(f"images: base: {time.monotonic() - started:.0f} s", flush=True)
    return target


def _context(root: Path, target: Path) -> Path:
    """The directory the image is built from, with no file in it that differs from one build to another."""
    for part in CONTEXT:
        shutil.copytree(root / part, target / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(_wheels(), target / "build" / "wheels")
    return target


def _wheels() -> Path:
    """The directory of jeepney's wheel, in the version that the collection pins."""
    found = re.search(r"^jeepney==\S+", (env.REQUIREMENTS / "libraries.txt").read_text(), re.MULTILINE)
    if not found:
        raise LabError("requirements/libraries.txt pins no jeepney")
    target = cache_root() / "wheels" / found[0]
    if not target.is_dir():
        partial = target.with_name(f"{target.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", f"--dest={partial}", found[0]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"pip cannot download {found[0]}:\n{done.stderr.strip()}")
        partial.rename(target)
    return target


def _fingerprint(context: Path, base: Path) -> str:
    digest = hashlib.sha256(base.name.encode())
    for path in sorted(path for path in context.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(context)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _build(context: Path, base: Path, target: Path, storage: Path) -> None:
    started = time.monotonic()
    buildah = [
        "buildah",
        f"--root={storage / 'root'}",
        f"--runroot={storage / 'run'}",
        "--storage-driver=vfs",
    ]
    partial = target.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    _run(
        [
            *buildah,
            *("bud", "--quiet", "--isolation=chroot", f"--build-arg=BASE=docker-archive:{base}"),
            *("--timestamp=0", f"--file={context / CONTAINERFILE}", f"--tag={NAME}", str(context)),
        ]
    )
    _run([*buildah, "push", "--quiet", NAME, f"docker-archive:{partial}:{NAME}"])
    partial.replace(target)
    _forget_old(target)
    print(f"images: syncer: {time.monotonic() - started:.0f} s, {target.stat().st_size >> 20} MB", flush=True)


def _forget_old(newest: Path) -> None:
    """Every change of the syncer makes another image: only the last few are kept."""
    found = sorted(newest.parent.glob("syncer-*.tar"), key=lambda path: path.stat().st_mtime)
    for path in found[:-KEPT]:
        path.unlink(missing_ok=True)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise LabError(f"buildah {command[4]} failed:\n{last}")
