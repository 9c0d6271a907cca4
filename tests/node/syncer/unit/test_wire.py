# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The syncer's own HTTP client: what it accepts and what it rejects."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer import api as calls
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.api import (
    MERGE_PATCH,
    ApiError,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime import wire
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.wire import (
    HttpConnection,
    WireError,
)
from tests.node.syncer.unit.scripted import TOKEN, Handler, Scripted, Talk


def says(data: bytes) -> Handler:
    """Answers the first request of a connection with these bytes and closes it."""

    def handler(talk: Talk) -> None:
        talk.request()
        talk.send(data)

    return handler


def read(data: bytes) -> tuple[int, bytes]:
    with Scripted(says(data)) as server:
        answer = HttpConnection("127.0.0.1", server.port, timeout=5).request("GET", "/", {})
        return answer.status, answer.read()


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (OK + b"Content-Length: 3\r\n\r\nabcdef", (200, b"abc")),
        (OK + b"Content-Length: 0\r\n\r\n", (200, b"")),
        (OK + b"\r\nuntil the end", (200, b"until the end")),
        (CHUNKED + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n", (200, b"abcde")),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 1\r\n\r\nx", (200, b"x")),
        (b"HTTP/1.1 204 No Content\r\n\r\n", (204, b"")),
        (b"HTTP/1.0 404 Not Found\nContent-Length: 1\n\nx", (404, b"x")),
    ],
)
def test_what_servers_say(data: bytes, expected: tuple[int, bytes]) -> None:
    assert read(data) == expected


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"SSH-2.0-example\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 \xb2\xb2\xb2\r\n\r\n",
        OK + b"Content-Length: +3\r\n\r\nabc",
        OK + b"Content-Length: 1_0\r\n\r\n0123456789",
        OK + b"Content-Length: \xb3\r\n\r\nabc",
        OK + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\nabc",
        CHUNKED + b"0x3\r\nabc\r\n0\r\n\r\n",
        CHUNKED + b"\r\n",
        OK,
        OK + b"Content-Length: 3\r\n\r\nab",
        OK + b"Content-Length: -3\r\n\r\nabc",
        OK + b"Content-Length: x\r\n\r\nabc",
        CHUNKED + b"3\r\nab",
        CHUNKED + b"3\r\nabcd\r\n0\r\n\r\n",
        CHUNKED + b"nonsense\r\n",
        CHUNKED + b"3\r\nabc\r\n",
        OK + b"x" * 40_000,
        OK + b"".join(b"A%d: x\r\n" % n for n in range(200)) + b"\r\n",
        OK + b"Content-Length: 9000000\r\n\r\n" + bytes(9_000_000),
    ],
)
def test_an_invalid_answer(data: bytes) -> None:
    with pytest.raises(WireError):
        read(data)


def drips(talk: Talk) -> None:
    """Sends a byte now and then, so that no single read waits long."""
    talk.request()
    talk.send(OK + b"Content-Length: 1000\r\n\r\n")
    while True:
        talk.send(b"x")
        time.sleep(0.02)  # no single read waits for long


def test_a_server_that_drips_is_given_up() -> None:
    with Scripted(drips) as server:
        answer = HttpConnection("127.0.0.1", server.port, timeout=2).request("GET", "/", {})
        with pytest.raises(WireError, match="did not answer in time"):
            answer.read()


def test_a_port_without_a_server() -> None:
    with socket.socket() as bound:  # it does not listen, and no server can take its port
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(WireError, match=r"cannot connect to 127\.0\.0\.1"):
            HttpConnection("127.0.0.1", bound.getsockname()[1], timeout=5).request("GET", "/", {})


def test_calls_share_a_connection_and_carry_the_token_as_it_is_now(tmp_path: Path) -> None:
    def twice(talk: Talk) -> None:
        for _time in range(2):
            talk.request()
            talk.answer({})

    with Scripted(twice) as server:
        api = server.api(tmp_path)
        api.call("GET", "/a")
        (tmp_path / "token").write_text("rotated-token\n")
        api.call("PATCH", "/b", {"data": {}}, MERGE_PATCH)
        assert server.connections == 1
        first, second = server.asked
        assert first.headers["authorization"] == f"Bearer {TOKEN}"
        assert second.headers["authorization"] == "Bearer rotated-token"
        assert (second.headers["content-type"], second.body) == (MERGE_PATCH, b'{"data":{}}')


def test_a_kept_connection_that_was_closed_meanwhile(tmp_path: Path) -> None:
    def once(talk: Talk) -> None:
        talk.request()
        talk.answer({"n": 1})

    with Scripted(once) as server:
        api = server.api(tmp_path)
        assert [api.call("GET", "/") for _time in range(3)] == [{"n": 1}] * 3
        assert server.connections == 3


def hangs_up(talk: Talk) -> None:
    talk.request()


def test_a_new_connection_that_breaks_is_not_asked_again(tmp_path: Path) -> None:
    with Scripted(hangs_up) as server:
        with pytest.raises(WireError):
            server.api(tmp_path).call("GET", "/")
        assert len(server.asked) == 1


def test_a_refusal_says_what_the_server_said(tmp_path: Path) -> None:
    def refuses(talk: Talk) -> None:
        talk.request()
        talk.answer({"message": "not for you", "reason": "Forbidden"}, 403, "Retry-After: 7")
        talk.request()
        talk.answer(b"<html>", 502)

    with Scripted(refuses) as server:
        api = server.api(tmp_path)
        with pytest.raises(ApiError, match="not for you") as caught:
            api.call("GET", "/")
        assert (caught.value.status, caught.value.reason, caught.value.retry_after) == (403, "Forbidden", 7)
        with pytest.raises(ApiError, match="502"):
            api.call("GET", "/")
        assert server.connections == 1


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("30", 30),
        ("0", 0),
        ("86400", 600),
        ("9" * 5000, 600),
        ("\xb2", 0),
        ("inf", 0),
        ("nan", 0),
        ("-1", 0),
        ("1e9", 0),
        ("Sat, 21 Nov 2026 23:40:00 GMT", 0),
        ("", 0),
    ],
)
def test_what_a_server_asks_us_to_wait(tmp_path: Path, said: str, seconds: float) -> None:
    def refuses(talk: Talk) -> None:
        talk.request()
        body = b"{}"
        head = f"HTTP/1.1 429 X\r\nContent-Length: {len(body)}\r\nRetry-After: {said}\r\n\r\n"
        talk.send(head.encode("latin-1") + body)

    with Scripted(refuses) as server, pytest.raises(ApiError) as caught:
        server.api(tmp_path).call("GET", "/")
    assert caught.value.retry_after == seconds


@pytest.mark.parametrize("content", [None, b"", b"two words", b"\xff\xfe", b"a\nb"])
def test_without_a_token_nothing_is_sent(tmp_path: Path, content: bytes | None) -> None:
    with Scripted(drips) as server:
        api = server.api(tmp_path)
        (tmp_path / "token").unlink()
        if content is not None:
            (tmp_path / "token").write_bytes(content)
        with pytest.raises(WireError, match="token"):
            api.call("GET", "/")
        assert not server.asked


def test_a_token_is_not_sent_in_the_clear() -> None:
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.api import PodApi

    with pytest.raises(ValueError, match="TLS"):
        PodApi("10.0.0.1", 80, tls=False, directory="/nowhere")


def test_a_call_that_is_hurried_ends_and_is_not_made_again(tmp_path: Path) -> None:
    """The server would have had ten minutes."""

    def once(talk: Talk) -> None:
        talk.request()
        talk.answer({})
        talk.request()
        talk.until_gone()

    with Scripted(once) as server, ThreadPoolExecutor(1) as pool:
        api = server.api(tmp_path, timeout=600)
        api.call("GET", "/one")
        call = pool.submit(api.call, "GET", "/two")
        while len(server.asked) < 2:
            time.sleep(0.01)
        api.hurry()
        with pytest.raises(WireError, match="the server did not answer in time"):
            call.result(60)
        assert (server.connections, api.unanswered) == (1, 1)
        api.hurry()


def test_a_call_that_is_not_hurried_waits_longer_than_a_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[OSError] = []
    monkeypatch.setattr(calls, "_HURRY", 0.01)
    is_timeout = wire._is_timeout

    def looked(error: OSError) -> bool:
        looks.append(error)
        return is_timeout(error)

    monkeypatch.setattr(wire, "_is_timeout", looked)

    def slow(talk: Talk) -> None:
        talk.request()
        while len(looks) < 5:
            time.sleep(0.01)
        talk.answer({"a": 1})

    with Scripted(slow) as server:
        assert server.api(tmp_path, timeout=60).call("GET", "/one") == {"a": 1}
