# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Builds an image from this checkout with buildah, on a base made of Debian packages.

No public base image can be had everywhere: the base is made here, once a machine.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.lab.cache import made_once, run
from tests.lab.images.archive import write_archive
from tests.lab.nodes.rootfs import debian_sources, extract_packages
from tests.tools import apt

ROOT = Path(__file__).resolve().parents[3]
BASE_PACKAGES = ("base-files", "python3", "dash", "coreutils")
COMMANDS = ("buildah", "skopeo", "mmdebstrap")
KEPT = 4


@dataclass(frozen=True)
class Recipe:
    """An image of ours.

    :param parts: what the Containerfile may copy, below the root; :param add: adds what is elsewhere.
    """

    name: str
    containerfile: Path
    parts: tuple[str, ...]
    add: Callable[[Path], object] = lambda dummy: None


def build(recipe: Recipe, root: Path = ROOT) -> Path:
    """Return the image as a tar (``docker-archive``), built when what it is made of has changed.

    ``root`` is the checkout, or another tree with a Containerfile in that place.
    """
    apt.provide(COMMANDS)
    base = python_base()
    with tempfile.TemporaryDirectory(prefix=f"pull-secret-{recipe.name}-") as scratch:
        context = _context(recipe, root, Path(scratch) / "context")
        return made_once(
            f"{recipe.name}-{_fingerprint(context, base)}.tar",
            lambda target: _build(recipe, context, base, target, Path(scratch) / "storage"),
        )


def python_base() -> Path:
    """Return an image (``docker-archive``) of Python and a shell, made once a machine; 80 MB."""
    apt.provide(["mmdebstrap"])
    text = repr((debian_sources(), BASE_PACKAGES))
    return made_once(f"python-base-{hashlib.sha256(text.encode()).hexdigest()[:16]}.tar", _build_base)


def _build_base(target: Path) -> None:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        layer = Path(scratch) / "layer.tar"
        extract_packages(layer, BASE_PACKAGES)
        write_archive(target, "localhost/python:lab", layer.read_bytes())
    print(f"images: base: {time.monotonic() - started:.0f} s", flush=True)


def _context(recipe: Recipe, root: Path, target: Path) -> Path:
    """The directory the image is built from, with no file in it that differs from one build to another."""
    for part in recipe.parts:
        shutil.copytree(root / part, target / part, ignore=shutil.ignore_patterns("__pycache__"))
    recipe.add(target)
    return target


def _fingerprint(context: Path, base: Path) -> str:
    digest = hashlib.sha256(base.name.encode())
    for path in sorted(path for path in context.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(context)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _build(recipe: Recipe, context: Path, base: Path, target: Path, storage: Path) -> None:
    name = f"localhost/{recipe.name}:lab"
    started = time.monotonic()
    buildah = [
        "buildah",
        f"--root={storage / 'root'}",
        f"--runroot={storage / 'run'}",
        "--storage-driver=vfs",
    ]
    run(
        "buildah bud",
        *buildah,
        *("bud", "--quiet", "--isolation=chroot", f"--build-arg=BASE=docker-archive:{base}"),
        *("--timestamp=0", f"--file={context / recipe.containerfile}", f"--tag={name}", str(context)),
    )
    run("buildah push", *buildah, "push", "--quiet", name, f"docker-archive:{target}:{name}")
    _forget_old(recipe, target.parent)
    print(
        f"images: {recipe.name}: {time.monotonic() - started:.0f} s, {target.stat().st_size >> 20} MB",
        flush=True,
    )


def _forget_old(recipe: Recipe, cache: Path) -> None:
    """Every change of the program makes another image: only the last few are kept."""
    found = sorted(cache.glob(f"{recipe.name}-*.tar"), key=lambda path: path.stat().st_mtime)
    for path in found[: 1 - KEPT]:
        path.unlink(missing_ok=True)
