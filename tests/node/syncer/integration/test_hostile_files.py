# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files that others left in the place of kubelet's file or beside it: the syncer never ends because of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.node.syncer.conftest import NewNode
from tests.node.syncer.world import Cluster, document, eventually
from tests.support.nightly import some

SECRET = "example-password"
AUTH = "cm9ib3Q6ZXhhbXBsZS1wYXNzd29yZA=="

Act = Callable[[Path], object]

FILES: dict[str, bytes] = {
    "nothing": b"",
    "white space": b" \n",
    "NUL": b"\0" * 4096,
    "no UTF-8": b'{"auths":{"\xff":{}}}',
    "UTF-16": '{"auths":{}}'.encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf" + document(),
    "half": document("example-foreign", "foreign.example.com")[:-5],
    "twice": document() * 2,
    "null": b"null",
    "a number": b"5",
    "a number of 5000 digits": b"1" * 5000,
    "such a number in an entry": b'{"auths":{"foreign.example.com":{"auth":%s}}}' % (b"1" * 5000),
    "NaN": b'{"auths":{"foreign.example.com":{"auth":NaN}}}',
    "1e999": b'{"auths":{"foreign.example.com":{"auth":1e999}},"x":-1e999}',
    "nested": b"[" * 200_000,
    "nested beside": b'{"auths":{},"x":' + b'{"x":' * 900 + b"1" + b"}" * 901,
    "nested entry": b'{"auths":{"foreign.example.com":' + b'{"x":' * 5000 + b"1" + b"}" * 5002,
    "a list of auths": b'{"auths":[]}',
    "null auths": b'{"auths":null}',
    "an entry that is a list": b'{"auths":{"foreign.example.com":[]}}',
    "an entry that is null": b'{"auths":{"foreign.example.com":null}}',
    "a lone surrogate in a key": b'{"auths":{"\\ud800":{"auth":"%s"}}}' % AUTH.encode(),
    "a lone surrogate in a value": b'{"auths":{"foreign.example.com":{"auth":"\\udfff"}}}',
    "a lone surrogate in a password": b'{"auths":{"a.example.com":{"username":"x","password":"\\ud800"}}}',
    "a lone surrogate beside": b'{"auths":{},"x":"\\ud800"}',
    "a lone surrogate of a helper": b'{"credHelpers":{"\\ud800":"\\ud800"}}',
    "helpers that are a list": b'{"auths":{},"credHelpers":[]}',
    "an empty key": b'{"auths":{"":{"auth":"%s"}}}' % AUTH.encode(),
    "a key of 64 KiB": b'{"auths":{"%s":{"auth":"%s"}}}' % (b"x" * 65536, AUTH.encode()),
    "control characters in a key": b'{"auths":{"a\\u0000\\n\\u001b[31m":{"auth":"%s"}}}' % AUTH.encode(),
    "one key twice": b'{"auths":{"quay.io":{}},"auths":{"quay.io":5}}',
    "auths in two spellings": b'{"auths":{"quay.io":{}},"AUTHS":{"quay.io":5}}',
    "one registry in a hundred spellings": json.dumps(
        {"auths": {f"https://quay.io{'/' * count}": {"auth": AUTH} for count in range(100)}}
    ).encode(),
    "more than 1 MiB": json.dumps({"auths": {}, "x": "x" * 1_100_000}).encode(),
    "more than 1 MiB of entries": json.dumps(
        {"auths": {f"r{number}.example.com": {"auth": AUTH, "x": "x" * 2000} for number in range(600)}}
    ).encode(),
    "more than 1 MiB of nonsense": b"x" * 1_100_000,
}


def survives(cluster: Cluster, new_node: NewNode, begin: Act, mend: Act) -> None:
    """The syncer reports the problem without any value, and continues once the file is repaired."""
    node = new_node()
    begin(node.path)
    node.start()
    version = cluster.put(document())
    said = eventually(
        lambda: (
            found
            if (found := cluster.status()).get("resourceVersion") == version and found["state"] != "pending"
            else None
        ),
        "it says what there is",
    )
    assert said["state"] == "in-sync" or (said["state"], said.get("by")) == ("failed", "node"), said
    if said["state"] == "in-sync":
        assert "quay.io" in node.auths()
    mend(node.path)
    version = cluster.put(document("example-next"))
    cluster.wait("in-sync", version)
    assert "quay.io" in node.auths()
    assert node.stop() == 0
    told = json.dumps(node.log) + json.dumps(cluster.statuses())
    assert SECRET not in told
    assert AUTH not in told
    assert "\\ud800" not in told.replace("\\\\", "\\")


@pytest.mark.parametrize("name", some(FILES, "nested entry"))
def test_a_file_that_others_wrote(cluster: Cluster, new_node: NewNode, name: str) -> None:
    survives(
        cluster, new_node, lambda path: put(path, FILES[name]), lambda path: path.unlink(missing_ok=True)
    )


def put(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def large(path: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(1 << 32)


PLACES: dict[str, tuple[Act, Act]] = {
    "4 GiB": (large, Path.unlink),
    "a directory": (Path.mkdir, Path.rmdir),
    "a link to nothing": (lambda path: path.symlink_to("nowhere"), Path.unlink),
    "a link to itself": (lambda path: path.symlink_to(path), Path.unlink),
    "a pipe": (os.mkfifo, Path.unlink),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.nightly
def test_something_else_than_a_file(cluster: Cluster, new_node: NewNode, name: str) -> None:
    survives(cluster, new_node, *PLACES[name])


LEDGERS: dict[str, bytes] = {
    "nothing": b"",
    "no object": b"[]",
    "nested": b"[" * 200_000,
    "of another version": b'{"version":99}',
    "its members are not": b'{"version":1,"salt":5}',
    "a lone surrogate": b'{"version":1,"salt":"\\ud800"}',
    "entries that are text": json.dumps(
        {
            "version": 1,
            "salt": "00",
            "entries": {"quay.io": 5},
            "extra": [],
            "was_absent": 0,
            "verified": "",
            "desired": "",
            "pending": None,
            "failed": None,
        }
    ).encode(),
    "what failed is a list": json.dumps(
        {
            "version": 1,
            "salt": "00",
            "entries": {},
            "extra": [],
            "was_absent": 0,
            "verified": "",
            "desired": "",
            "pending": {"id": [], "desired": {}, "content": 5, "phase": "\ud800"},
            "failed": {"desired": [], "times": "x", "at": [], "reason": {}},
        }
    ).encode(),
}


@pytest.mark.parametrize("suffix", some(["hyperfleet", "hyperfleet-backup"]))
@pytest.mark.parametrize("name", some(LEDGERS, "nested", "what failed is a list"))
@pytest.mark.nightly
def test_what_stands_beside_it(cluster: Cluster, new_node: NewNode, name: str, suffix: str) -> None:
    survives(
        cluster,
        new_node,
        lambda path: put(path.with_name(f"{path.name}.{suffix}"), LEDGERS[name]),
        lambda path: path.with_name(f"{path.name}.{suffix}").unlink(missing_ok=True),
    )
