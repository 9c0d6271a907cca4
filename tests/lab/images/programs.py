# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Builds the images of the collection's programs with buildah, on a base made of Debian packages.

No public base image can be had everywhere: the base is made here, once a machine. pip in a build knows nothing
of this machine's settings: wheels are fetched here and copied in.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.lab.cache import made_once
from tests.lab.images.archive import write_archive
from tests.lab.nodes.rootfs import debian_sources, extract_packages
from tests.lab.supervisor import LabError, run
from tests.tools import apt, env

ROOT = Path(__file__).resolve().parents[3]
BASE_PACKAGES = ("base-files", "python3", "dash", "coreutils")
COMMANDS = ("buildah", "skopeo", "mmdebstrap")
KEPT = 4


@dataclass(frozen=True)
class _Program:
    """A program of the collection: its image's name, its directory below ``extensions``, the wheel it needs."""

    name: str
    extension: str
    package: str


def build_job() -> Path:
    """Return the job's image as a tar (``docker-archive``), built when what it is made of has changed."""
    return _built(_Program("pullsecret-job", "job", "google-crc32c"), ROOT)


def build_syncer(root: Path = ROOT) -> Path:
    """Return the syncer's image in the same way.

    ``root`` is the checkout, or another tree with a Containerfile in that place.
    """
    return _built(_Program("syncer", "syncer", "jeepney"), root)


def _built(program: _Program, root: Path) -> Path:
    apt.provide(COMMANDS)
    base = python_base()
    with tempfile.TemporaryDirectory(prefix=f"pull-secret-{program.name}-") as scratch:
        context = Path(scratch) / "context"
        # What the Containerfile may copy: no file in it differs from one build to another.
        for part in (f"extensions/{program.extension}", "plugins/module_utils"):
            shutil.copytree(root / part, context / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(_wheels(program.package), context / "build" / "wheels")
        return made_once(
            f"{program.name}-{fingerprint(context, base)}.tar",
            lambda target: _build(program, context, base, target),
        )


def python_base(packages: Sequence[str] = BASE_PACKAGES) -> Path:
    """Return an image (``docker-archive``) of Python and a shell, made once a machine; 80 MB."""
    apt.provide(["mmdebstrap"])
    text = repr((debian_sources(), packages))
    name = f"python-base-{hashlib.sha256(text.encode()).hexdigest()[:16]}.tar"
    return made_once(name, lambda target: _build_base(packages, target))


def _build_base(packages: Sequence[str], target: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        layer = Path(scratch) / "layer.tar"
        extract_packages(layer, packages)
        write_archive(target, "localhost/python:lab", layer.read_bytes())


def _wheels(package: str) -> Path:
    """The directory of the wheel, in the version that the collection pins."""
    pins = (env.REQUIREMENTS / "libraries.txt").read_text()
    found = re.search(rf"^{re.escape(package)}==\S+", pins, re.MULTILINE)
    if not found:
        raise LabError(f"requirements/libraries.txt pins no {package}")
    pip = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:")
    return made_once(f"wheels-{found[0]}", lambda target: run(*pip, f"--dest={target}", found[0]))


def fingerprint(context: Path, base: Path) -> str:
    digest = hashlib.sha256(base.name.encode())
    for path in sorted(path for path in context.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(context)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _build(program: _Program, context: Path, base: Path, target: Path) -> None:
    build_image(
        "--timestamp=0",
        f"--build-arg=BASE=docker-archive:{base}",
        name=f"localhost/{program.name}:lab",
        containerfile=context / "extensions" / program.extension / "Containerfile",
        context=context,
        target=target,
    )
    forget_old(program.name, target.parent)


def build_image(*options: str, name: str, containerfile: Path, context: Path, target: Path) -> None:
    """Build an image with buildah, and write it to ``target`` as a tar (``docker-archive``)."""
    with tempfile.TemporaryDirectory(prefix="pull-secret-storage-") as storage:
        store = (f"--root={storage}/root", f"--runroot={storage}/run", "--storage-driver=vfs")
        build = ("buildah", *store, "bud", "--quiet", "--isolation=chroot")
        run(*build, *options, f"--file={containerfile}", f"--tag={name}", str(context))
        run("buildah", *store, "push", "--quiet", name, f"docker-archive:{target}:{name}")


def forget_old(name: str, cache: Path) -> None:
    """Every change of a program makes another image: only the last few are kept."""
    with env.lock(f"{name}-old"):  # the images of two checkouts may be built at the same time
        images = sorted(cache.glob(f"{name}-*.tar"), key=lambda path: path.stat().st_mtime)
        for path in images[: 1 - KEPT]:
            path.unlink()
