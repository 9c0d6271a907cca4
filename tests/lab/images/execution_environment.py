# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Builds the execution environment with ansible-builder and buildah, on a base made of Debian packages.

The packages change rarely and the collection often. So the image in the cache has the metadata of a collection, and
the collection of this checkout is a last layer.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import yaml

from tests.lab.cache import made_once
from tests.lab.images.archive import add_layer
from tests.lab.images.programs import (
    BASE_PACKAGES,
    COMMANDS,
    build_image,
    fingerprint,
    forget_old,
    python_base,
)
from tests.lab.supervisor import run
from tests.tools import apt, env

__all__ = ["ENVIRONMENT_IMAGE", "build_execution_environment", "environment_packages"]

ENVIRONMENT_IMAGE = "localhost/execution-environment:lab"
_NAME = "execution-environment"
_COLLECTION = Path("usr/share/ansible/collections/ansible_collections/hyperfleet/pull_secret")
_DEFINITION = yaml.safe_load((env.ROOT / "execution-environment.yml").read_text())
_GALAXY = str(env.VENV / "bin" / "ansible-galaxy")
_PACKAGES = (*BASE_PACKAGES, "bash", "grep", "libc-bin", "libstdc++6", "python3-pip", "sed")
# What Red Hat's image has and these packages lack. dnf has nothing to install: Python and pip are packages, and
# Debian has no ensurepip. A build has no settings of this machine, so pip takes wheels from a mount.
_FILES = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\n",
    "etc/pip.conf": "[global]\nno-index = true\nfind-links = /wheels\ndisable-pip-version-check = true\n",
    "usr/bin/dnf": "#!/bin/sh\n",
    "usr/local/lib/python3.11/dist-packages/ensurepip.py": "",
}
# What the stages of ansible-builder install beside the packages of the definition and the collection.
_TOOLS = ("bindep", "dumb-init==1.2.5", "packaging", "pyyaml")


def build_execution_environment(target: Path) -> None:
    """Write the image of ``execution-environment.yml`` as a tar (``docker-archive``), with this checkout."""
    packages = environment_packages()
    with tempfile.TemporaryDirectory(prefix="pull-secret-environment-") as scratch:
        root = Path(scratch) / "root"
        (root / _COLLECTION).mkdir(parents=True)
        run(_GALAXY, "collection", "build", f"--output-path={scratch}", str(env.ROOT))
        (tarball,) = Path(scratch).glob("*.tar.gz")
        run("tar", "-xf", str(tarball), "-C", str(root / _COLLECTION))
        add_layer(packages, target, root)


def environment_packages() -> Path:
    """Return the same image with a collection that has only metadata; built when its packages have changed."""
    apt.provide(COMMANDS)
    base = python_base(_PACKAGES)
    with tempfile.TemporaryDirectory(prefix="pull-secret-environment-") as scratch:
        project = Path(scratch)
        _write_project(project)
        name = f"{_NAME}-{fingerprint(project, base)}.tar"
        return made_once(name, lambda path: _build(project, base, path))


def _write_project(project: Path) -> None:
    """Write what decides on the packages: the definition and its files, the collection's metadata, the base."""
    files = [entry["src"] for entry in _DEFINITION["additional_build_files"]]
    for file in ("execution-environment.yml", "requirements/builder.txt", *files):
        if not file.startswith("dist/"):
            _write(project / file, (env.ROOT / file).read_text())
    shutil.copytree(env.ROOT / "meta", project / "collection" / "meta")
    settings = yaml.safe_load((env.ROOT / "galaxy.yml").read_text())
    settings = {name: settings[name] for name in ("namespace", "name", "version", "authors", "readme")}
    _write(project / "collection" / "galaxy.yml", yaml.safe_dump(settings))
    _write(project / "collection" / settings["readme"], "")
    for file, text in _FILES.items():
        _write(project / "base" / file, text)
    (project / "base" / "usr" / "bin" / "dnf").chmod(0o755)


def _build(project: Path, base: Path, target: Path) -> None:
    wheels, packages = project / "wheels", _DEFINITION["dependencies"]
    pins = f"--constraint={env.REQUIREMENTS / 'constraints' / 'rulebook.txt'}"
    command = (sys.executable, "-m", "pip", "wheel", "-q", f"--wheel-dir={wheels}", pins)
    ansible = [packages[name]["package_pip"] for name in ("ansible_core", "ansible_runner")]
    run(*command, f"--requirement={env.ROOT / 'meta' / 'ee-requirements.txt'}", *ansible, *_TOOLS)
    run(_GALAXY, "collection", "build", f"--output-path={project / 'dist'}", str(project / "collection"))
    builder = env.make("builder", sys.executable).absolute() / "bin" / "ansible-builder"
    run(str(builder), "create", "--output-filename=Containerfile", cwd=project)
    add_layer(base, project / "base.tar", project / "base")
    build_image(
        *(
            f"--build-arg=EE_BASE_IMAGE=docker-archive:{project / 'base.tar'}",
            f"--volume={wheels}:/wheels:ro",
        ),
        name=ENVIRONMENT_IMAGE,
        containerfile=project / "context" / "Containerfile",
        context=project / "context",
        target=target,
    )
    forget_old(_NAME, target.parent)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
