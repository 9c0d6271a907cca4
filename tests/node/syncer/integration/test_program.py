# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The program with only the files of its image."""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

import pytest

from tests.node.syncer.world import Cluster, document, eventually
from tests.support.login import TlsFront
from tests.support.syncer_tree import CONTAINERFILE, Tree, build_tree


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return build_tree(tmp_path_factory.mktemp("image"))


class Process:
    """The program as the DaemonSet starts it: its own environment and arguments, nothing inherited."""

    def __init__(self, tree: Tree, directory: Path, **environ: str) -> None:
        self.log = directory / "log"
        with self.log.open("wb") as stream:
            self._process = subprocess.Popen(
                [*tree.command[:1], "-X", "importtime", *tree.command[1:]],
                env={"PATH": os.environ["PATH"], **tree.environ, **environ},
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=(directory / "imports").open("wb"),
                cwd="/",
            )
        self._imports = directory / "imports"
        self.pid = self._process.pid

    def lines(self) -> list[dict[str, Any]]:
        return [
            json.loads(line) for line in self.log.read_text().splitlines(keepends=True) if line[-1] == "\n"
        ]

    def logged(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.lines() if line["event"] == event]

    def imported(self) -> set[str]:
        return {line.rpartition("|")[2].strip() for line in self._imports.read_text().splitlines()}

    def wait(self, limit: float = 10) -> int:
        return self._process.wait(limit)

    def end(self, limit: float = 10) -> int:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        return self._process.wait(limit)


@pytest.fixture
def environ(cluster: Cluster, tmp_path: Path) -> Iterator[dict[str, str]]:
    """A pod's environment: the API server behind TLS, the service account's files, the node's directory."""
    account, kubelet = tmp_path / "account", tmp_path / "kubelet"
    account.mkdir()
    kubelet.mkdir()
    front = TlsFront(cluster.lab.url.removeprefix("http://"), tmp_path)
    (account / "token").write_text(cluster.lab.admin_token)
    (account / "ca.crt").write_bytes(front.authority.read_bytes())
    yield {
        "NODE_NAME": "node-1",
        "KUBERNETES_SERVICE_HOST": "127.0.0.1",
        "KUBERNETES_SERVICE_PORT": front.url.rpartition(":")[2],
        "SYNCER_NAMESPACE": "kube-system",
        "SYNCER_SECRET": "global-pull-secret",
        "SYNCER_STATUS": "global-pull-secret-status",
        "SYNCER_LEASES": ",".join(cluster.leases),
        "SYNCER_KUBELET_DIR": str(kubelet),
        "SYNCER_ACCOUNT_DIR": str(account),
        "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={tmp_path}/no-bus",
    }
    front.stop()


def test_what_the_image_copies_is_all_it_takes(
    cluster: Cluster, tree: Tree, environ: dict[str, str], tmp_path: Path
) -> None:
    """From TLS to the file and to the D-Bus client; there is no D-Bus here."""
    process = Process(tree, tmp_path, **environ)
    try:
        version = cluster.put(document())
        eventually(lambda: process.logged("written"), "the file is written")
        message = eventually(
            lambda: cluster.status()["message"] if "D-Bus" in str(cluster.status()) else "", "why no restart"
        )
        assert "D-Bus cannot be reached" in message
        assert cluster.status()["resourceVersion"] == version
        assert json.loads((tmp_path / "kubelet/config.json").read_bytes())["auths"].keys() == {"quay.io"}
        assert process.end() == 0
    finally:
        process.end()
    imported = process.imported()
    assert "jeepney.io.blocking" in imported, "the D-Bus client was not imported"
    # Modules that the syncer does not need and that would cost memory on every node.
    heavy = {"http.client", "email.parser", "urllib.request", "asyncio", "logging", "subprocess", "random"}
    assert not heavy & imported


def test_a_server_with_another_authority_gets_no_token(
    cluster: Cluster, tree: Tree, environ: dict[str, str], tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    front = TlsFront(cluster.lab.url.removeprefix("http://"), other)
    port = front.url.rpartition(":")[2]
    calls = len(cluster.lab.calls)
    process = Process(tree, tmp_path, **{**environ, "KUBERNETES_SERVICE_PORT": port})
    try:
        why = eventually(lambda: process.logged("watch broken"), "it is said")[0]["why"]
        assert "certificate" in why.lower()
        assert len(cluster.lab.calls) == calls
    finally:
        process.end()
        front.stop()


def test_settings_that_make_no_sense_end_it(tree: Tree, environ: dict[str, str], tmp_path: Path) -> None:
    process = Process(tree, tmp_path, **{**environ, "SYNCER_RESTART": "sometimes"})
    assert process.wait() == 2
    assert process.lines()[-1]["why"].startswith("SYNCER_RESTART")


def test_whatever_the_image_may_ever_import_is_in_it(tree: Tree) -> None:
    """Including what is imported inside a function long after the start."""
    root = tree.program.parent
    missing = set()
    for source in (root / "ansible_collections").rglob("*.py"):
        package = ".".join(source.relative_to(root).parent.parts)
        for thing in ast.walk(ast.parse(source.read_text())):
            if not isinstance(thing, ast.ImportFrom):
                continue
            module = resolve_name("." * thing.level + (thing.module or ""), package)
            if not module.startswith("ansible_collections."):
                continue
            found = root.joinpath(*module.split("."))
            init = found / "__init__.py"
            defined = init.read_text() if init.is_file() else ""
            for name in [one.name for one in thing.names] if found.is_dir() else []:
                if not (found / f"{name}.py").is_file() and name not in defined:
                    missing.add((source.name, f"{module}.{name}"))
            if not (found.is_dir() or found.with_suffix(".py").is_file()):
                missing.add((source.name, module))
    assert not missing


def test_the_image_is_built_without_a_network() -> None:
    assert "http" not in CONTAINERFILE.read_text().partition("ARG BASE")[2], "the build must not download"
