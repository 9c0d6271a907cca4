# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release needs the same version in its tag, galaxy.yml and changelog, and never shows its token."""

from __future__ import annotations

import hashlib
import json
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tools import artifact, release

NOTES = """# Release Notes

<a id="v1-2-0"></a>
## v1\\.2\\.0

<a id="release-summary"></a>
### Release summary

Something new\\.

<a id="v1-1-0"></a>
## v1\\.1\\.0

Something old\\.
"""
TOKEN = "example-token"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout of version 1.2.0, ready to be released."""
    (tmp_path / "changelogs" / "fragments").mkdir(parents=True)
    (tmp_path / "changelogs" / "fragments" / "one.yml").touch()
    (tmp_path / "galaxy.yml").write_text("version: 1.2.0\n")
    (tmp_path / "CHANGELOG.md").write_text(NOTES)
    write_releases(tmp_path, {"1.1.0": [], "1.2.0": ["one.yml"]})
    return tmp_path


def write_releases(root: Path, fragments: dict[str, list[str]]) -> None:
    releases = {version: {"fragments": names} for version, names in fragments.items()}
    (root / "changelogs" / "changelog.yaml").write_text(yaml.safe_dump({"releases": releases}))


def test_a_released_version_passes(root: Path) -> None:
    assert release.complaints(root, "1.2.0") == []


@pytest.mark.parametrize("tag", ["", "1.2.1", "v1.2.0", "main"])
def test_a_tag_that_is_not_the_version_is_refused(root: Path, tag: str) -> None:
    (line,) = release.complaints(root, tag)
    assert line.startswith(f"tag: {tag!r} is not the version of galaxy.yml, 1.2.0")


def test_a_version_without_an_entry_is_refused(root: Path) -> None:
    write_releases(root, {"1.1.0": ["one.yml"]})
    assert release.complaints(root, "1.2.0") == ["changelog: it has no release 1.2.0; run make release-notes"]


def test_a_version_without_notes_is_refused(root: Path) -> None:
    (root / "CHANGELOG.md").write_text(NOTES.replace("1\\.2\\.0", "1\\.3\\.0"))
    assert release.complaints(root, "1.2.0") == ["changelog: it has no release 1.2.0; run make release-notes"]


def test_a_fragment_that_no_release_has_is_refused(root: Path) -> None:
    (root / "changelogs" / "fragments" / "two.yml").touch()
    assert release.complaints(root, "1.2.0") == [
        "changelog: two.yml is in no release; run make release-notes"
    ]


def test_the_notes_of_a_version_are_its_own() -> None:
    assert release.section(NOTES, "1.2.0") == "### Release summary\n\nSomething new\\."
    assert release.section(NOTES, "1.3.0") == ""


class Galaxy(BaseHTTPRequestHandler):
    """The part of Galaxy's API that `ansible-galaxy collection publish` uses."""

    authorizations: list[str]
    uploads: list[bytes]

    def do_GET(self) -> None:
        self.authorizations.append(self.headers["Authorization"])
        if "imports" in self.path:
            self.reply({"state": "completed", "finished_at": "2026-01-01T00:00:00Z", "messages": []})
        else:
            self.reply({"available_versions": {"v3": "v3/"}})

    def do_POST(self) -> None:
        self.authorizations.append(self.headers["Authorization"])
        self.uploads.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.reply({"task": "/api/v3/imports/collections/7/"})

    def reply(self, document: dict[str, Any]) -> None:
        content = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def galaxy() -> Iterator[str]:
    Galaxy.authorizations, Galaxy.uploads = [], []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Galaxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/api/"
    server.shutdown()
    server.server_close()


def test_publishing_sends_the_tarball_and_shows_the_token_to_galaxy_only(
    galaxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(artifact, "DIST", tmp_path)
    with tarfile.open(artifact.path(), "w:gz"):
        pass
    for name, value in {"GALAXY_TOKEN": TOKEN, "GALAXY_URL": galaxy, "HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    started: list[list[str]] = []

    def run(command: list[str], *, check: bool = False, **options: Any) -> subprocess.CompletedProcess[str]:
        started.append(command)
        return real_run(command, check=check, **options)

    real_run = subprocess.run
    monkeypatch.setattr(subprocess, "run", run)
    assert release.publish() == 0
    assert len(Galaxy.uploads) == 1
    assert hashlib.sha256(artifact.path().read_bytes()).hexdigest().encode() in Galaxy.uploads[0]
    assert set(Galaxy.authorizations) == {f"Token {TOKEN}"}
    assert TOKEN not in str(started)
    assert TOKEN not in "".join(capfd.readouterr())


def test_publishing_without_a_token_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GALAXY_TOKEN", raising=False)
    assert release.publish() == 1
    assert "GALAXY_TOKEN" in capsys.readouterr().out


def test_the_release_on_github_has_the_notes_and_the_tarball(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test replaces GitHub's program gh."""
    program = tmp_path / "gh"
    program.write_text(
        '#!/bin/sh\nprintf "%s\\n" "$@" > "$SEEN"\nfor last; do :; done\ncat "$last" >> "$SEEN"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    monkeypatch.setenv("TAG", "0.1.0")
    assert release.github() == 0
    seen = (tmp_path / "seen").read_text()
    assert seen.startswith(f"release\ncreate\n0.1.0\n{artifact.path()}\n--verify-tag\n")
    assert "### Release summary\n" in seen
