# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Unusable files in place of the list of clusters: existing watches continue."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching import fleet as module
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.batches import Batches
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.fleet import Fleet
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.settings import SecretWatchSettings
from tests.support.nightly import some
from tests.support.secret_events.api_server import CANARY, ApiServer
from tests.support.secret_events.source import entry, running, token_file
from tests.support.waiting import until
from tests.support.yaml_bombs import LAUGHS, MERGES

NAME = ("kube-system", "additional-pull-secret")
MIB = 1024 * 1024


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(100 * MIB)


def content(data: bytes) -> Callable[[Path], Any]:
    return lambda path: path.write_bytes(data)


SECRET = CANARY.encode()
HOSTILE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "deep JSON": (content(b"[" * 100_000), "is nested more than 100 levels deep"),
    "deep JSON, closed": (content(b"[" * 100_000 + b"]" * 100_000), "is nested more than 100 levels deep"),
    "deep YAML": (content(b"- " * 100_000 + b"x"), "is nested more than 100 levels deep"),
    "deep mapping": (
        content("\n".join(" " * depth + "a:" for depth in range(2000)).encode()),
        "is nested more than 100 levels deep",
    ),
    "aliases": (content(LAUGHS.encode()), "values after its aliases are expanded"),
    "merges": (content(MERGES.encode()), "values after its aliases are expanded"),
    "itself": (content(b"clusters: &a [*a]"), "has an alias to a value that contains it (line 1)"),
    "itself in an entry": (
        content(b"clusters: [&a {cluster_id: c, control_plane_namespace: n, policy: *a}]"),
        "has an alias to a value that contains it (line 1)",
    ),
    "NUL": (content(b"clusters: [" + SECRET + b"\0]"), "is neither JSON nor YAML"),
    "only NUL": (content(b"\0" * 1000), "is neither JSON nor YAML"),
    "binary": (content(bytes(range(256)) * 100 + SECRET), "is neither JSON nor YAML"),
    "100 MB": (sparse, "larger than 16 MiB"),
    "a directory": (lambda path: path.mkdir(), "Is a directory"),
    "a pipe": (os.mkfifo, "not a regular file"),
    "nothing": (os.fspath, "No such file"),
    "a loop of links": (lambda path: path.symlink_to(path), "Too many levels"),
    "empty": (content(b""), "must hold a list of clusters"),
    "a text": (content(SECRET), "must hold a list of clusters"),
    "a number": (content(b"1"), "must hold a list of clusters"),
    "a huge number": (content(b"clusters: " + b"9" * 5000), ""),
    "an invalid date": (content(b"clusters: [2001-99-99]"), ""),
    "clusters is a mapping": (content(b"clusters: {a: " + SECRET + b"}"), "must hold a list of clusters"),
    "keys of other types": (content(b"clusters: [{1: 2, null: 3, true: 4}]"), "cluster_id is missing"),
    "unhashable keys": (content(b"{[a]: b, {c: d}: e}"), "is neither JSON nor YAML"),
    "a tag": (content(b"clusters: !!python/object/apply:os.system [" + SECRET + b"]"), "neither JSON nor"),
    "lone surrogates": (content(b'{"clusters": [{"cluster_id": "\\ud800"}]}'), "is not a valid name"),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", some(HOSTILE, "deep YAML", "merges", "itself in an entry", "a pipe", "clusters is a mapping")
)
def test_a_hostile_file_ends_nothing_and_is_not_quoted(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make, complaint = HOSTILE[name]

    async def scenario() -> None:
        async with ApiServer() as server:
            path = tmp_path / "clusters.json"
            listed = json.dumps([entry("cls-1", server.url, token_file(tmp_path))])
            path.write_text(listed)
            async with running(str(path)) as source:
                await until(lambda: server.watches == 1)
                path.unlink()
                make(path)
                async with asyncio.timeout(60):
                    while "not watched" not in caplog.text and "cannot load the list" not in caplog.text:
                        await asyncio.sleep(0.05)
                assert complaint in caplog.text
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
                path.write_text(listed)
                # The existing watch, or the one after the list is valid again.
                version = str(server.change(*NAME))
                await source.until(lambda it: [change[2] for change in it.changes] == [version])

    asyncio.run(scenario())
    assert CANARY not in caplog.text
    assert "internal error" not in caplog.text


def test_it_is_said_whether_anything_is_watched_without_the_list(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "clusters.json"

    async def scenario() -> None:
        async with ApiServer() as server:
            listed = json.dumps([entry("cls-1", server.url, token_file(tmp_path))])
            async with running(str(path)):
                async with asyncio.timeout(60):
                    while "no cluster is watched until it can be loaded: " not in caplog.text:
                        await asyncio.sleep(0.05)
                path.write_text(listed)
                await until(lambda: server.watches == 1)
                path.write_text("1")
                async with asyncio.timeout(60):
                    while "the previous list stays in use: " not in caplog.text:
                        await asyncio.sleep(0.05)

    asyncio.run(scenario())


def test_what_nobody_thought_of_is_named_by_its_class_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*unused: Any) -> None:
        raise MemoryError(CANARY)

    monkeypatch.setattr(module, "parse_cluster_list", fail)

    class Nobody:
        async def put(self, data: Any) -> None:
            raise AssertionError

    async def scenario() -> None:
        (tmp_path / "clusters").write_text("[]")
        settings = SecretWatchSettings(str(tmp_path / "clusters"))
        fleet = Fleet(settings, Batches(Nobody(), 0, 1, lambda: False))
        await fleet._read(str(tmp_path / "clusters"))
        # It has not changed, so it is not parsed again.
        await fleet._read(str(tmp_path / "clusters"))

    asyncio.run(scenario())
    assert caplog.text.count("MemoryError") == 1
    assert CANARY not in caplog.text
