# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases the tarball in ``dist``: ``python -m tests.tools.release check|publish|github|sign``.

The tag is in TAG or GITHUB_REF_NAME. A token is read from the environment and is never an argument of a program:
GALAXY_TOKEN for ``publish``, GH_TOKEN (which ``gh`` reads itself) for ``github``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from tests.tools import artifact, env

GALAXY = "https://galaxy.ansible.com/"
_SERVER = "release"


def tag() -> str:
    return os.environ.get("TAG") or os.environ.get("GITHUB_REF_NAME") or ""


def complaints(root: Path, name: str) -> list[str]:
    """Return why the checkout in ``root`` cannot be released as the tag ``name``."""
    version = str(yaml.safe_load((root / "galaxy.yml").read_text())["version"])
    if name != version:
        return [
            f"tag: {name!r} is not the version of galaxy.yml, {version}; delete the tag, or change galaxy.yml"
        ]
    releases = yaml.safe_load((root / "changelogs" / "changelog.yaml").read_text()).get("releases") or {}
    notes = (root / "CHANGELOG.md").read_text()
    if version not in releases or not section(notes, version):
        return [f"changelog: it has no release {version}; run make release-notes"]
    released = {fragment for release in releases.values() for fragment in release.get("fragments") or []}
    fragments = sorted(path.name for path in (root / "changelogs" / "fragments").iterdir())
    return [
        f"changelog: {fragment} is in no release; run make release-notes"
        for fragment in fragments
        if fragment not in released
    ]


def section(notes: str, version: str) -> str:
    """Return CHANGELOG.md's section for a version, without its heading; empty if there is none."""
    heading = re.escape("v" + version.replace(".", "\\."))
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", notes, re.MULTILINE | re.DOTALL)
    return re.sub(r'^<a id="[^"]*"></a>\n', "", found.group(1), flags=re.MULTILINE).strip() if found else ""


def check() -> int:
    found = complaints(env.ROOT, tag())
    if not artifact.path().exists():
        found.append("dist: there is no tarball of this version; run make build")
    for line in found:
        print(line)
    return 1 if found else 0


def publish() -> int:
    """Publish the tarball, and wait until Galaxy has imported it."""
    token = os.environ.get("GALAXY_TOKEN")
    if not token:
        print("GALAXY_TOKEN: the variable is not set; it holds the API token of Galaxy")
        return 1
    variables = {name: value for name, value in os.environ.items() if name != "GALAXY_TOKEN"}
    variables |= {
        "ANSIBLE_GALAXY_SERVER_LIST": _SERVER,
        f"ANSIBLE_GALAXY_SERVER_{_SERVER.upper()}_URL": os.environ.get("GALAXY_URL") or GALAXY,
        f"ANSIBLE_GALAXY_SERVER_{_SERVER.upper()}_TOKEN": token,
    }
    command = [str(env.VENV / "bin" / "ansible-galaxy"), "collection", "publish", str(artifact.path())]
    return subprocess.run(command, cwd=env.ROOT, env=variables, check=False).returncode


def signature() -> Path:
    """Return the path of the signature of the tarball's MANIFEST.json."""
    tarball = artifact.path()
    return tarball.with_name(tarball.name.removesuffix(".tar.gz") + "-MANIFEST.json.asc")


def sign() -> int:
    """Sign with the user's own key; SIGNING_KEY names one of several keys."""
    with tarfile.open(artifact.path()) as archive:
        manifest = archive.extractfile("MANIFEST.json")
        assert manifest is not None
        content = manifest.read()
    key = os.environ.get("SIGNING_KEY")
    command = ["gpg", "--yes", "--armor", "--detach-sign", "--output", str(signature())]
    command += ["--local-user", key] if key else []
    return subprocess.run(command, input=content, check=False).returncode


def github() -> int:
    name = tag()
    with tempfile.NamedTemporaryFile("w", suffix=".md") as notes:
        notes.write(section((env.ROOT / "CHANGELOG.md").read_text(), name) + "\n")
        notes.flush()
        command = ["gh", "release", "create", name, str(artifact.path())]
        command += [str(signature())] if signature().exists() else []
        command += ["--verify-tag", "--title", name, "--notes-file", notes.name]
        return subprocess.run(command, cwd=env.ROOT, check=False).returncode


COMMANDS = {"check": check, "publish": publish, "github": github, "sign": sign}


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        print("usage: python -m tests.tools.release " + "|".join(COMMANDS))
        return 2
    return check() or COMMANDS[arguments[0]]()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
