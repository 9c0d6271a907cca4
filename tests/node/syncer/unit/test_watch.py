# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The watch of one Secret, against a server that fails in every way."""

from __future__ import annotations

import base64
import json
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer import watch
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.backoff import Backoff
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.syncer.watch import (
    SecretState,
    SecretWatch,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.wire import HttpConnection
from tests.node.syncer.unit.scripted import Handler, Scripted, Talk

NAME = "global-pull-secret"
LIMIT = 60


def thing(version: int, content: bytes | None = b"{}", name: str = NAME) -> dict[str, Any]:
    data = {} if content is None else {".dockerconfigjson": base64.b64encode(content).decode()}
    return {"metadata": {"name": name, "resourceVersion": str(version)}, "data": data}


def listing(version: int, *items: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"resourceVersion": str(version)}, "items": list(items)}


class Watched:
    """A watch in a thread, and what it delivers."""

    def __init__(self, server: Scripted, directory: Path, **options: Any) -> None:
        self.delivered: queue.Queue[SecretState | None] = queue.Queue()
        self.troubles: queue.Queue[str] = queue.Queue()
        self.server = server
        self._watch = SecretWatch(
            server.api(directory, timeout=60),
            "kube-system",
            NAME,
            self.delivered.put,
            self.troubles.put,
            **{"backoff": Backoff(0.01, 0.05), **options},
        )
        self._thread = threading.Thread(target=self._watch.run)
        self._thread.start()

    def next(self) -> str:
        """The version of the next state, or ``gone``."""
        secret = self.delivered.get(timeout=LIMIT)
        return secret.resource_version if secret else "gone"

    def trouble(self) -> str:
        return self.troubles.get(timeout=LIMIT)

    def stop(self) -> None:
        self._watch.stop()
        self._thread.join(LIMIT)
        assert not self._thread.is_alive()


Start = Callable[..., Watched]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts a server with these handlers and a watch of it."""
    running: list[tuple[Scripted, Watched]] = []

    def begin(*handlers: Handler, **options: Any) -> Watched:
        server = Scripted(*handlers)
        watched = Watched(server, tmp_path, **options)
        running.append((server, watched))
        return watched

    yield begin
    for server, watched in running:
        watched.stop()
        server.close()


def stays(*events: tuple[str, dict[str, Any]], first: dict[str, Any] | None = None) -> Handler:
    """A list if ``first`` is given, then a watch with these events that stays open."""

    def handler(talk: Talk) -> None:
        if first is not None:
            talk.request()
            talk.answer(first)
        talk.request()
        talk.begin()
        for kind, it in events:
            talk.event(kind, it)
        talk.until_gone()

    return handler


def breaks(first: dict[str, Any], *rest: bytes) -> Handler:
    """A list, then the head of a watch, these bytes and the end of the connection."""

    def handler(talk: Talk) -> None:
        talk.request()
        talk.answer(first)
        talk.request()
        talk.begin()
        for data in rest:
            talk.send(data)

    return handler


def targets(watched: Watched) -> list[str]:
    return [asked.target.partition("?")[2] for asked in watched.server.asked]


def test_what_is_there_then_every_change(start: Start) -> None:
    watched = start(
        stays(
            ("MODIFIED", thing(11)),
            ("DELETED", thing(12)),
            ("ADDED", thing(13)),
            first=listing(10, thing(9)),
        )
    )
    assert [watched.next() for _event in range(4)] == ["9", "11", "gone", "13"]
    assert watched.server.connections == 1, "the watch must reuse the list's connection"
    first, second = watched.server.asked
    assert first.target == (
        "/api/v1/namespaces/kube-system/secrets?fieldSelector=metadata.name%3Dglobal-pull-secret"
    )
    assert "watch=1" in second.target
    assert "fieldSelector=metadata.name%3Dglobal-pull-secret" in second.target
    assert "resourceVersion=10" in second.target
    assert "allowWatchBookmarks=true" in second.target


def test_a_secret_that_is_not_there_yet(start: Start) -> None:
    watched = start(stays(("ADDED", thing(11)), first=listing(10)))
    assert [watched.next(), watched.next()] == ["gone", "11"]


def test_other_secrets_are_none_of_ours(start: Start) -> None:
    others = listing(10, thing(8, name="other"))
    watched = start(stays(("ADDED", thing(11, name="other")), ("ADDED", thing(12)), first=others))
    assert [watched.next(), watched.next()] == ["gone", "12"]


def test_content_that_is_missing_or_no_base64(start: Start) -> None:
    bad = thing(11)
    bad["data"][".dockerconfigjson"] = "***"
    watched = start(stays(("MODIFIED", bad), first=listing(10, thing(9, None))))
    for _event in range(2):
        secret = watched.delivered.get(timeout=LIMIT)
        assert secret is not None
        assert secret.content is None


def test_a_broken_watch_goes_on_where_it_was(start: Start) -> None:
    line = b'{"type":"MODIFIED","object":{"metadata":{"name":"global-pull-secret","resourceVersion":"11"}}}\n'
    whole = b"%x\r\n%s\r\n" % (len(line), line)
    watched = start(breaks(listing(10, thing(9)), whole), stays(("MODIFIED", thing(12))))
    assert [watched.next() for _event in range(3)] == ["9", "11", "12"]
    assert "resourceVersion=11&" in targets(watched)[-1]
    assert len(watched.server.asked) == 3, "must not list again"


@pytest.mark.parametrize(
    "half",
    [
        b"40\r\n" + b'{"type":"MODIF',
        b'e\r\n{"type":"MODIF\r\n0\r\n\r\n',
        b"9\r\nnot json\n\r\n",
        b"3\r\n[]\n\r\n",
        b'd\r\n{"type":"x"}\n\r\n',
    ],
)
def test_half_a_line_or_nonsense_is_a_broken_watch(start: Start, half: bytes) -> None:
    watched = start(breaks(listing(10, thing(9)), half), stays(("MODIFIED", thing(12))))
    assert [watched.next(), watched.next()] == ["9", "12"]
    assert watched.trouble()
    assert watched.trouble() == "", "the end of the problem must be reported"
    assert "resourceVersion=10&" in targets(watched)[-1]


def test_bookmarks_move_the_version_on(start: Start) -> None:
    def handler(talk: Talk) -> None:
        talk.request()
        talk.answer(listing(10, thing(9)))
        talk.request()
        talk.begin()
        talk.event("BOOKMARK", {"metadata": {"resourceVersion": "40"}})
        talk.chunk(b"")  # the regular end

    watched = start(handler, stays(("MODIFIED", thing(41))))
    assert [watched.next(), watched.next()] == ["9", "41"]
    assert "resourceVersion=40&" in targets(watched)[-1]
    assert watched.troubles.empty(), "a regular end is no problem"


def gone_event(talk: Talk) -> None:
    talk.request()
    talk.answer(listing(10, thing(9)))
    talk.request()
    talk.begin()
    talk.event("ERROR", {"kind": "Status", "code": 410, "message": "too old resource version"})


def gone_status(talk: Talk) -> None:
    talk.request()
    talk.answer(listing(10, thing(9)))
    talk.request()
    talk.answer({"kind": "Status", "code": 410, "message": "too old resource version"}, 410)


@pytest.mark.parametrize("gone", [gone_event, gone_status])
def test_410_means_list_again(start: Start, gone: Handler) -> None:
    watched = start(gone, stays(first=listing(60, thing(55))))
    assert [watched.next(), watched.next()] == ["9", "55"]
    assert "watch" not in targets(watched)[2]


@pytest.mark.parametrize(
    "answer",
    [
        {"kind": "Status", "message": "no code"},
        {"kind": "Status", "code": "410"},
        {"kind": "Status", "code": 504, "message": "Too large resource version"},
        [],
    ],
)
def test_whatever_ends_a_watch_with_an_error_makes_us_list_again(start: Start, answer: Any) -> None:
    """A server restored from a backup would reject our version forever."""
    line = json.dumps({"type": "ERROR", "object": answer}).encode() + b"\n"
    ended = breaks(listing(90, thing(80)), b"%x\r\n%s\r\n" % (len(line), line))
    watched = start(ended, stays(first=listing(60, thing(55))))
    assert [watched.next(), watched.next()] == ["80", "55"]
    assert watched.trouble()


def test_a_version_that_is_refused_makes_us_list_again(start: Start) -> None:
    def refuses(talk: Talk) -> None:
        talk.request()
        talk.answer({"message": "Too large resource version"}, 504)

    watched = start(breaks(listing(90, thing(80))), refuses, stays(first=listing(60, thing(55))))
    assert [watched.next(), watched.next()] == ["80", "55"]


def test_a_watch_that_says_nothing_at_all_is_followed_by_a_list(start: Start) -> None:
    """The version may be from before a restore, so no event would ever come."""

    def nothing(talk: Talk) -> None:
        talk.request()
        talk.begin()
        talk.chunk(b"")

    watched = start(breaks(listing(90, thing(80))), nothing, stays(first=listing(60, thing(55))))
    assert [watched.next(), watched.next()] == ["80", "55"]


class Waits(Backoff):
    """Counts the pauses and makes them short."""

    def __init__(self) -> None:
        super().__init__(0.01, 0.02)
        self.count = 0

    def wait(self) -> float:
        self.count += 1
        return super().wait()


def ends_in_order(talk: Talk) -> None:
    talk.request()
    talk.answer(listing(10, thing(9)))
    talk.request()
    talk.begin()
    talk.chunk(b"")


@pytest.mark.parametrize("handler", [gone_event, gone_status, ends_in_order])
def test_what_never_stands_is_asked_less_and_less_often(start: Start, handler: Handler) -> None:
    waits = Waits()
    watched = start(*[handler] * 5, stays(first=listing(60, thing(55))), backoff=waits)
    assert [watched.next(), watched.next()] == ["9", "55"]
    assert waits.count == 5


@pytest.mark.parametrize(
    "listed",
    [
        {"metadata": {"resourceVersion": "10"}, "items": 5},
        {"metadata": {"resourceVersion": "10"}, "items": {"a": 1}},
        {"metadata": {"resourceVersion": 10}, "items": []},
        {"metadata": {"resourceVersion": "9" * 5000}, "items": []},
        {"metadata": [], "items": []},
        {"items": [{"metadata": {"name": NAME}}], "metadata": {"resourceVersion": "10"}},
        b"[" * 100_000,
        b'{"items": [',
        b"\x1f\x8b\x08\x00 gzip",
        b'"\\ud800"',
        b"",
    ],
)
def test_an_invalid_list(start: Start, listed: Any) -> None:
    def answers(talk: Talk) -> None:
        talk.request()
        talk.answer(listed)

    watched = start(answers, stays(first=listing(10, thing(9))))
    assert watched.next() == "9"
    assert watched.trouble()


@pytest.mark.parametrize(
    "event",
    [
        b'{"type":"BOOKMARK","object":{}}',
        b'{"type":"BOOKMARK","object":{"metadata":null}}',
        b'{"type":"MODIFIED","object":null}',
        b'{"type":["MODIFIED"],"object":{}}',
        b"[" * 100_000,
        b"\xff\xfe",
        b"\x1f\x8b\x08",
        b"1" * 5000,
    ],
)
def test_an_invalid_event(start: Start, event: bytes) -> None:
    line = event + b"\n"
    watched = start(
        breaks(listing(10, thing(9)), b"%x\r\n%s\r\n" % (len(line), line)), stays(("MODIFIED", thing(12)))
    )
    assert [watched.next(), watched.next()] == ["9", "12"]
    assert watched.trouble()


def test_the_last_of_two_equal_keys_counts(start: Start) -> None:
    line = (
        b'{"type":"ADDED","type":"MODIFIED","object":{"metadata":{"name":"other","name":"'
        + NAME.encode()
        + b'","resourceVersion":"11"},"data":{}}}\n'
    )
    watched = start(breaks(listing(10, thing(9)), b"%x\r\n%s\r\n" % (len(line), line)))
    assert [watched.next(), watched.next()] == ["9", "11"]


def test_a_line_without_end(start: Start) -> None:
    chunk = b"%x\r\n%s\r\n" % (1 << 20, b"x" * (1 << 20))
    watched = start(breaks(listing(10, thing(9)), *[chunk] * 5), stays(("MODIFIED", thing(12))))
    assert [watched.next(), watched.next()] == ["9", "12"]
    assert "too long" in watched.trouble()


@pytest.mark.parametrize("error", [MemoryError, RecursionError, KeyError])
def test_an_error_of_our_own_does_not_end_the_watch(
    start: Start, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """The text of the error is not logged: it could contain a value."""
    content_of = watch._content_of
    failed: list[Any] = []

    def fails(found: dict[str, Any]) -> bytes | None:
        if not failed:
            failed.append(found)
            raise error("example-password")
        return content_of(found)

    monkeypatch.setattr(watch, "_content_of", fails)
    watched = start(stays(first=listing(10, thing(9))))
    assert watched.next() == "9"
    trouble = watched.trouble()
    assert error.__name__ in trouble
    assert "example-password" not in trouble


def test_an_unchanged_secret_is_delivered_once(start: Start) -> None:
    watched = start(gone_event, stays(("MODIFIED", thing(61)), first=listing(60, thing(9))))
    assert [watched.next(), watched.next()] == ["9", "61"]


def test_deleted_and_recreated_between_two_watches(start: Start) -> None:
    watched = start(gone_event, gone_event, stays(first=listing(60)))
    assert [watched.next(), watched.next()] == ["9", "gone"]


def test_a_server_that_goes_silent_is_left(start: Start) -> None:
    """The connection stays open, nothing arrives, and the watch's time is over."""
    watched = start(
        stays(first=listing(10, thing(9))),
        stays(("MODIFIED", thing(12))),
        watch_seconds=(0, 0),
        grace=0.2,
    )
    assert [watched.next(), watched.next()] == ["9", "12"]
    assert "did not answer in time" in watched.trouble()


def test_after_a_watch_that_stood_for_long_the_first_wait_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a node with an early failure would wait long forever after."""
    monkeypatch.setattr(watch, "_STOOD_SECONDS", 0.0)

    class Counted(Backoff):
        resets = 0

        def reset(self) -> None:
            Counted.resets += 1
            super().reset()

    def closes(talk: Talk) -> None:
        talk.request()
        talk.begin()

    with Scripted(breaks(listing(10, thing(9))), closes, stays(("MODIFIED", thing(12)))) as server:
        watched = Watched(server, tmp_path, backoff=Counted(0.01, 0.05))
        assert [watched.next(), watched.next()] == ["9", "12"]
        # Once for each watch that was established and broke; the event resets it too.
        resets = Counted.resets
        watched.stop()
    assert resets >= 2


def test_only_its_own_thread_closes_the_connection(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of a closed socket is the next connection's, whose response a waiting read would take."""
    closed_by: set[int] = set()
    close = HttpConnection.close

    def noted(connection: HttpConnection) -> None:
        closed_by.add(threading.get_ident())
        close(connection)

    monkeypatch.setattr(HttpConnection, "close", noted)
    watched = start(stays(first=listing(10, thing(9))))
    assert watched.next() == "9"
    watched.stop()
    assert closed_by
    assert threading.get_ident() not in closed_by


def test_a_server_that_sends_bookmarks_no_more_is_left_sooner(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "_SILENCE_WITH_BOOKMARKS", 0.2)
    bookmark = ("BOOKMARK", {"metadata": {"resourceVersion": "40"}})

    watched = start(stays(bookmark, first=listing(10, thing(9))), stays(("MODIFIED", thing(41))))
    assert [watched.next(), watched.next()] == ["9", "41"]


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_a_refusal_is_said_and_tried_again(start: Start, status: int) -> None:
    def refuses(talk: Talk) -> None:
        talk.request()
        talk.answer({"message": "not now"}, status)

    watched = start(refuses, refuses, stays(first=listing(10, thing(9))))
    assert watched.next() == "9"
    assert "not now" in watched.trouble()


def test_a_server_that_closes_at_once_again_and_again(start: Start) -> None:
    """Each attempt begins with a list, because no event was ever seen. The pauses grow."""

    def closes(talk: Talk) -> None:
        talk.request()

    watched = start(*[closes] * 4, stays(first=listing(10, thing(9))))
    assert watched.next() == "9"
    assert watched.server.connections == 5


def test_the_wait_grows_and_is_never_the_same_for_all() -> None:
    backoff = Backoff(1, 8)
    waits = [backoff.wait() for _time in range(6)]
    for wait, most in zip(waits, [1, 2, 4, 8, 8, 8], strict=True):
        assert most / 2 <= wait <= most
    backoff.reset()
    assert backoff.wait() <= 1
    assert len({Backoff(1, 8).wait() for _node in range(50)}) > 25


def test_no_state_shows_its_content() -> None:
    assert "example" not in repr(SecretState("5", b"example-password"))
