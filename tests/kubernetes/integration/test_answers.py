# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Answers that no API server gives: they cost limited memory, and only the target fails."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    k8s_pull_secret,
)
from tests.support.docker_configs import docker_config
from tests.support.kubernetes.running import run_task
from tests.support.nightly import some

MIB = 1 << 20


@contextmanager
def server(answer: Any) -> Iterator[tuple[str, list[int]]]:
    """The server's address, and how many MiB of each answer it could send."""
    sent: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent.append(0)
            answer(self, sent)

        def log_message(self, *_arguments: Any) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{httpd.server_address[1]}", sent
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()


def ask(url: str) -> dict[str, Any]:
    params = {
        "cluster_id": "cls-1",
        "namespace": "clusters",
        "source": {"inline": docker_config(quay_io="one")},
        "kubernetes": {"host": url, "api_key": "example-token"},
        "retry": {"tries": 1},
        "timeout": 30.0,
    }
    result = run_task(k8s_pull_secret, params)
    [target] = result["targets"]
    found: dict[str, Any] = target
    return found


def test_an_endless_object() -> None:
    def endless(request: BaseHTTPRequestHandler, sent: list[int]) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.end_headers()
        try:
            while sent[-1] < 1000:
                request.wfile.write(b" " * MIB)
                sent[-1] += 1
        except OSError:
            pass

    with server(endless) as (url, sent):
        refused = ask(url)
    assert "the answer has more than 16 MiB" in refused["msg"]
    # The rest is in the buffers of the sockets.
    assert max(sent) < 64


@pytest.mark.parametrize("encoding", some(["gzip", "deflate"]))
def test_an_unrequested_encoding_is_not_unpacked(encoding: str) -> None:
    packed = gzip.compress(b'{"a": "' + b" " * 200 * MIB + b'"}', 1)

    def bomb(request: BaseHTTPRequestHandler, sent: list[int]) -> None:
        request.send_response(200)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Encoding", encoding)
        request.send_header("Content-Length", str(len(packed)))
        request.end_headers()
        request.wfile.write(packed)

    with server(bomb) as (url, dummy):
        assert "the answer is not JSON" in ask(url)["msg"]
