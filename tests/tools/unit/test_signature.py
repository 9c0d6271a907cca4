# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A signed tarball can be installed as SECURITY.md says, and a tarball with a wrong signature is refused."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tools import apt, artifact, env, release

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "SECURITY.md").read_text()
VERSION = str(yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"])
README = Path("ansible_collections", "hyperfleet", "pull_secret", "README.md")
GALAXY = str(env.VENV / "bin" / "ansible-galaxy")


def block(word: str, language: str) -> str:
    """Return the code block of SECURITY.md that contains a word."""
    found: str
    (found,) = [
        text
        for text in re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
        if word in text
    ]
    return found


class Galaxy(BaseHTTPRequestHandler):
    """The part of Galaxy's API that `ansible-galaxy collection install` uses, with a single version."""

    tarball: Path

    def do_GET(self) -> None:
        collection = "/api/v3/collections/hyperfleet/pull_secret/"
        versions = f"{collection}versions/"
        content = self.tarball.read_bytes()
        version = {
            "namespace": {"name": "hyperfleet"},
            "collection": {"name": "pull_secret"},
            "version": VERSION,
            "href": f"{versions}{VERSION}/",
            "download_url": f"http://{self.headers['Host']}/{self.tarball.name}",
            "artifact": {"sha256": hashlib.sha256(content).hexdigest()},
            "metadata": {"dependencies": {}},
            "signatures": [],
        }
        documents: dict[str, Any] = {
            "/api/": {"available_versions": {"v3": "v3/"}},
            collection: {"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"},
            versions: {"data": [version], "meta": {"count": 1}, "links": {"next": None}},
            f"{versions}{VERSION}/": version,
        }
        path = self.path.partition("?")[0]
        if path in documents:
            content = json.dumps(documents[path]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        """Print nothing."""


@pytest.fixture
def galaxy(scratch: Path) -> Iterator[str]:
    Galaxy.tarball = scratch / artifact.path().name
    server = ThreadingHTTPServer(("127.0.0.1", 0), Galaxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/api/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A short path, because it contains the socket of gpg's agent."""
    with tempfile.TemporaryDirectory(prefix="sign-") as name:
        yield Path(name)


def build(into: Path, description: str) -> None:
    """Build a small collection with the same name and version."""
    source = into / description
    (source / "meta").mkdir(parents=True)
    (source / "README.md").write_text(f"{description}\n")
    (source / "meta" / "runtime.yml").write_text('requires_ansible: ">=2.18.0"\n')
    metadata = {"namespace": "hyperfleet", "name": "pull_secret", "version": VERSION, "readme": "README.md"}
    (source / "galaxy.yml").write_text(yaml.safe_dump({**metadata, "authors": ["somebody"]}))
    command = [GALAXY, "collection", "build", "--force", "--output-path", str(into), str(source)]
    subprocess.run(command, check=True, capture_output=True)


def test_the_pinned_version_is_this_one() -> None:
    document = yaml.safe_load(block("requirements.yml", "yaml"))
    assert document == {"collections": [{"name": "hyperfleet.pull_secret", "version": VERSION}]}


@pytest.mark.real
@pytest.mark.alone
@pytest.mark.nightly
def test_a_signed_tarball_is_installed_and_another_one_is_not(
    scratch: Path, galaxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    apt.provide(["gpg"])
    home = scratch / "gnupg"
    home.mkdir(mode=0o700)
    for name, value in {"GNUPGHOME": str(home), "HOME": str(scratch), "TAG": VERSION}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", f"{env.VENV / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(artifact, "DIST", scratch)
    key = ["gpg", "--batch", "--passphrase", "", "--quick-generate-key", "Example <maintainer@example.com>"]
    subprocess.run(key, check=True, capture_output=True)
    with (scratch / "maintainers.asc").open("wb") as handle:
        subprocess.run(["gpg", "--armor", "--export"], check=True, stdout=handle)
    build(scratch, "ours")
    assert release.main(["sign"]) == 0

    command, count = re.subn(r"https://github\.com/\S+/", f"file://{scratch}/", block("--keyring", "sh"))
    assert count == 1

    def install(collections: Path) -> subprocess.CompletedProcess[str]:
        # The tests' own collections path leads to the checkout, where nothing must be installed.
        return subprocess.run(
            ["bash", "-euc", command],
            cwd=scratch,
            env={
                **os.environ,
                "ANSIBLE_COLLECTIONS_PATH": str(collections),
                "ANSIBLE_GALAXY_SERVER": galaxy,
                "ANSIBLE_HOME": f"{collections}-home",
            },
            capture_output=True,
            text=True,
            check=False,
        )

    done = install(scratch / "first")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (scratch / "first" / README).read_text() == "ours\n"

    build(scratch, "another")
    refused = install(scratch / "second")
    assert refused.returncode != 0
    assert "signature" in (refused.stdout + refused.stderr).lower()
    assert not (scratch / "second" / README).exists()
