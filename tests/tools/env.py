# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creates the project's Python environments: ``python -m tests.tools.env NAME`` prints the environment's path.

``runtime`` and ``test`` are layers of ``.venv``. Every other environment is in the user's cache, with a link in
``.venvs/NAME``. Its name contains the Python version and the hash of its requirements, so all checkouts share it.
The check of an existing environment takes a few milliseconds.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "requirements"
VENV = ROOT / ".venv"
VENVS = ROOT / ".venvs"
COLLECTIONS = ROOT / ".collections"
CACHE = (
    Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").expanduser() / "hyperfleet-pull-secret"
)

# The ansible-cores that the collection supports: version, and the Pythons that run it.
CORES = {
    "2.18": ("2.18.19", ("3.11", "3.12", "3.13")),
    "2.19": ("2.19.14", ("3.11", "3.12", "3.13")),
    "2.20": ("2.20.10", ("3.12", "3.13", "3.14")),
    "2.21": ("2.21.5", ("3.12", "3.13", "3.14")),
}
# The oldest and the newest ansible-core: tests that start Ansible run on both.
ENDS = ("2.18", "2.21")


class ToolError(Exception):
    """A tool cannot run on this machine. The message is a sentence for the person at the terminal."""


@contextmanager
def lock(name: str) -> Generator[None, None, None]:
    """Lock ``name`` against other processes, because several checkouts share the cache."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def run(*command: str | Path, **options: object) -> None:
    """Run a command with its output on standard error, because standard output is for this program's result."""
    # In a test, sys.stderr may be an object without a file.
    subprocess.run([str(part) for part in command], check=True, stdout=2, **options)  # type: ignore[call-overload]


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def find_python(versions: Sequence[str]) -> str | None:
    """Return the path of the first Python of ``versions`` that runs here, from PATH or from pyenv's versions."""
    # Also search in this Python's directory, because pyenv may be in another user's home.
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    roots = dict.fromkeys([pyenv, Path(sys.base_prefix).parent])
    for version in versions:
        pythons = [
            path for root in roots for path in sorted(root.glob(f"{version}.*/bin/python"), reverse=True)
        ]
        candidates = [f"python{version}", *map(str, pythons)]
        for candidate in [*candidates, "python3"]:
            found = python_version(candidate)
            if found == version:
                return shutil.which(candidate)
    return None


def python_version(python: str | Path) -> str | None:
    """Return a version such as ``3.11``; None if the Python is missing, broken or only a shim."""
    try:
        reply = subprocess.run(
            [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return None
    return reply.stdout.strip() if reply.returncode == 0 else None


def _constraints(name: str) -> Path:
    return REQUIREMENTS / "constraints" / f"{name}.txt"


def _fingerprint(files: Sequence[str], extra: Sequence[str], version: str) -> str:
    digest = hashlib.sha256(version.encode())
    # Other files include the first three.
    for name in ["core", "libraries", "shellcheck", *files]:
        for path in (REQUIREMENTS / f"{name}.txt", _constraints(name)):
            digest.update(path.read_bytes() if path.exists() else b"-")
    digest.update("\n".join(extra).encode())
    return digest.hexdigest()[:16]


def _create(target: Path, python: str) -> None:
    reply = subprocess.run([python, "-m", "venv", str(target)], capture_output=True, text=True, check=False)
    if reply.returncode != 0:
        shutil.rmtree(target, ignore_errors=True)
        raise ToolError(
            f"{python} cannot make an environment: {(reply.stdout + reply.stderr).strip()}\n"
            "On Debian and Ubuntu the package python3-venv is needed."
        )


def _install(target: Path, files: Sequence[str], extra: Sequence[str]) -> None:
    arguments: list[str] = []
    for name in files:
        arguments += ["-r", str(REQUIREMENTS / f"{name}.txt")]
        if _constraints(name).exists():
            arguments += ["-c", str(_constraints(name))]
    run(
        target / "bin" / "python",
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        *arguments,
        *extra,
    )


def main_layer(layer: str, python: str) -> Path:
    """Create or update ``.venv`` with the layer ``runtime``, or with ``test`` on top of it."""
    files = ["runtime"] if layer == "runtime" else ["runtime", layer]
    with lock("main-" + hashlib.sha256(str(ROOT).encode()).hexdigest()[:16]):
        version = python_version(VENV / "bin" / "python")
        if version is None:
            shutil.rmtree(VENV, ignore_errors=True)
            say(f"making .venv with {python}")
            _create(VENV, python)
            version = python_version(VENV / "bin" / "python") or ""
        stamp = VENV / f".installed-{layer}"
        fingerprint = _fingerprint(files, [], version)
        if not stamp.exists() or stamp.read_text() != fingerprint:
            say(f"installing requirements/{layer}.txt into .venv")
            _install(VENV, files, [])
            stamp.write_text(fingerprint)
        link_checkout()
    return VENV


def link_checkout() -> None:
    """Link the checkout from ``.collections``, which ansible.cfg names."""
    link = COLLECTIONS / "ansible_collections" / "hyperfleet" / "pull_secret"
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(Path("..", "..", ".."), target_is_directory=True)


def cached(name: str, python: str, files: Sequence[str], extra: Sequence[str] = ()) -> Path:
    """Return an environment in the cache, linked from ``.venvs/name``; create it if necessary."""
    version = python_version(python)
    if version is None:
        raise ToolError(f"{python} does not run")
    target = CACHE / "venvs" / f"{name}-py{version}-{_fingerprint(files, extra, version)}"
    with lock(f"venv-{target.name}"):
        if not (target / ".complete").exists() or python_version(target / "bin" / "python") != version:
            shutil.rmtree(target, ignore_errors=True)
            say(f"making the environment {name} (Python {version})")
            target.parent.mkdir(parents=True, exist_ok=True)
            _create(target, python)
            _install(target, files, extra)
            (target / ".complete").touch()
        link = VENVS / name
        if not link.is_symlink() or link.readlink() != target:
            VENVS.mkdir(exist_ok=True)
            fresh = VENVS / f".{name}.{os.getpid()}"
            fresh.symlink_to(target, target_is_directory=True)
            fresh.replace(link)
    return link


def core(name: str, files: Sequence[str], label: str) -> Path | None:
    """Return an environment with one of the supported ansible-cores; None if no Python here can run it.

    It prefers the version of the current Python, so that CI chooses the version by the Python of `.venv`.
    """
    version, pythons = CORES[name]
    own = "{}.{}".format(*sys.version_info)
    python = find_python([own, *pythons] if own in pythons else pythons)
    if python is None:
        return None
    return cached(f"{label}-{name}", python, files, [f"ansible-core=={version}"])


def make(name: str, python: str) -> Path:
    if name in ("runtime", "test"):
        return main_layer(name, python)
    if not (REQUIREMENTS / f"{name}.txt").exists():
        raise ToolError(f"requirements/{name}.txt does not exist")
    return cached(name, str(VENV / "bin" / "python") if VENV.exists() else python, [name])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="a file of requirements/, without its ending")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    try:
        print(make(options.name, options.python))
    except ToolError as error:
        say(f"error: {error}")
        return 1
    except subprocess.CalledProcessError as error:
        say(f"error: {error.cmd[0]} ended with {error.returncode}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
