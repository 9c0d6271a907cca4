# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Watches one Secret: its current state, and every later change.

A LIST of one name returns the current state (also its absence) and the version to watch from. After a
disconnect the watch continues from the last version. If the server does not know that version (410) or
refuses it, the watch lists again.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from ...runtime.wire import HttpConnection, WireError
from .api import ApiError, PodApi, read_object
from .backoff import Backoff, random_between
from .log import error_place

__all__ = ["PendingSecrets", "SecretState", "SecretWatch"]

_KEY = ".dockerconfigjson"
# Seconds after which the server ends a watch, and we start the next one.
_WATCH_SECONDS = (240, 300)
# A server that sends bookmarks sends one every minute or two. After this time the connection counts as dead.
_SILENCE_WITH_BOOKMARKS = 200.0
# A watch of this length was not a failure.
_STOOD_SECONDS = 10.0
_GRACE_SECONDS = 15.0
# Maximum length of a resourceVersion: it goes into a request and into the status.
_LONGEST_VERSION = 100


class SecretState:
    """One state of the Secret. ``content`` is secret. None: it has no such key, or the value is not base64."""

    __slots__ = ("content", "resource_version")

    def __init__(self, resource_version: str, content: bytes | None) -> None:
        self.resource_version = resource_version
        self.content = content

    def __repr__(self) -> str:
        return f"<Secret {self.resource_version}>"


class PendingSecrets:
    """States of the Secret that were not processed yet, passed between threads.

    On a busy machine, changes come faster than they can be written and reported: only the newest state
    counts.
    """

    def __init__(self) -> None:
        self._states: SimpleQueue[tuple[SecretState | None, float]] = SimpleQueue()

    def put(self, secret: SecretState | None, at: float) -> None:
        self._states.put((secret, at))

    def take(self) -> list[tuple[SecretState | None, float]]:
        """Return the newest Secret, followed by None if it is deleted now; empty if nothing is new.

        Before the Secret is deleted, it receives the content that the nodes must keep.
        """
        found: list[tuple[SecretState | None, float]] = []
        while True:
            try:
                state = self._states.get_nowait()
            except Empty:
                return found
            if state[0] is not None:
                found = [state]
            elif not found or found[-1][0] is not None:
                found.append(state)


class SecretWatch:
    """Calls ``deliver`` once with each new state of the Secret (None: it does not exist), in order.

    :param trouble: called with a message for each disconnect that is not the server's ordinary end of a
        watch, and with "" once the watch works again.
    """

    def __init__(
        self,
        api: PodApi,
        namespace: str,
        name: str,
        deliver: Callable[[SecretState | None], None],
        trouble: Callable[[str], None],
        *,
        backoff: Backoff,
        watch_seconds: tuple[float, float] = _WATCH_SECONDS,
        grace: float = _GRACE_SECONDS,
    ) -> None:
        self._api = api
        self._path = f"/api/v1/namespaces/{namespace}/secrets"
        self._selector = f"fieldSelector=metadata.name%3D{name}"
        self._name = name
        self._deliver = deliver
        self._trouble = trouble
        self._backoff = backoff
        self._watch_seconds = watch_seconds
        self._grace = grace
        self._stopped = threading.Event()
        self._connection: HttpConnection | None = None
        self._version = ""  # the version to watch from; "" means that the next step is a LIST
        self._delivered: str | None = None  # the previous version; "" for none
        self._has_listed = False  # on the open connection
        self._in_trouble = False
        self._silence = 0.0
        self._stood_at: float | None = None

    def stop(self) -> None:
        """From another thread: make ``run`` return soon."""
        self._stopped.set()
        connection = self._connection
        if connection is not None:
            connection.interrupt()

    def run(self) -> None:
        """Watch until ``stop``."""
        while not self._stopped.is_set():
            wait = 0.0
            try:
                self._once()
            except ApiError as error:
                wait = self._on_refusal(error)
            except WireError as error:
                if self._was_open_long():
                    self._backoff.reset()
                wait = self._backoff.wait()
                self._report_trouble(str(error))
            except Exception as error:  # noqa: BLE001 - whatever a server sends, the watch continues
                self._version = ""
                wait = self._backoff.wait()
                self._report_trouble(error_place(error))
            finally:
                connection, self._connection = self._connection, None
                if connection is not None:
                    connection.close()
            if wait:
                self._stopped.wait(wait)

    def _on_refusal(self, error: ApiError) -> float:
        """Return how long to wait, in seconds."""
        # Whatever the reason: a server restored from a backup does not know our version either.
        self._version = ""
        if error.status == 410 and not self._has_listed:
            # Expected after a while without a watch.
            return random_between(0.1, 1.0)
        self._report_trouble(str(error))
        return max(self._backoff.wait(), error.retry_after)

    def _report_trouble(self, problem: str) -> None:
        if not self._stopped.is_set():
            self._in_trouble = True
            self._trouble(problem)

    def _watch_is_open(self) -> None:
        if self._in_trouble:
            self._in_trouble = False
            self._trouble("")

    def _once(self) -> None:
        """List if necessary, then watch until the stream ends."""
        self._stood_at = None
        self._connection = connection = self._api.connection()
        self._has_listed = not self._version
        if self._has_listed:
            self._list(connection)
        seconds = int(random_between(*self._watch_seconds))
        target = (
            f"{self._path}?watch=1&{self._selector}&resourceVersion={_quoted(self._version)}"
            f"&allowWatchBookmarks=true&timeoutSeconds={seconds}"
        )
        answer = self._api.send(connection, "GET", target)
        self._watch_is_open()
        self._stood_at = time.monotonic()
        self._silence = seconds + self._grace
        has_events = False
        for line in answer.lines(lambda: self._silence):
            self._event(line)
            has_events = True
            self._backoff.reset()
        if not has_events:
            # Not even a bookmark: the server may reach this version much later.
            self._version = ""
            if not self._was_open_long():
                # A watch that ends at once, again and again, must not cause a flood of requests.
                self._stopped.wait(self._backoff.wait())

    def _was_open_long(self) -> bool:
        return self._stood_at is not None and time.monotonic() >= self._stood_at + _STOOD_SECONDS

    def _list(self, connection: HttpConnection) -> None:
        found = read_object(self._api.send(connection, "GET", f"{self._path}?{self._selector}"))
        version, items = _version_of(found), found.get("items")
        if not isinstance(items, (list, type(None))):
            raise WireError("the answer is not a list")
        mine = [item for item in items or () if _name_of(item) == self._name]
        if mine:
            self._pass_on(mine[0])
        else:
            self._gone()
        self._version = version

    def _event(self, line: bytes) -> None:
        try:
            event = json.loads(line)
            kind, thing = event["type"], event["object"]
            version = _version_of(thing) if kind != "ERROR" else ""
        except (ValueError, KeyError, TypeError, RecursionError):
            event = None
        if event is None:
            # Not chained: the parser's error holds the line.
            raise WireError("invalid watch event")
        if kind == "ERROR":
            code = thing.get("code") if isinstance(thing, dict) else None
            raise ApiError(code if isinstance(code, int) else 500, "", "the watch was ended by the server")
        if kind == "BOOKMARK":
            self._silence = min(self._silence, _SILENCE_WITH_BOOKMARKS)
        elif _name_of(thing) == self._name:
            if kind == "DELETED":
                self._gone()
            elif kind in ("ADDED", "MODIFIED"):
                self._pass_on(thing)
        self._version = version

    def _pass_on(self, thing: dict[str, Any]) -> None:
        version = _version_of(thing)
        if version != self._delivered:
            self._deliver(SecretState(version, _content_of(thing)))
            self._delivered = version

    def _gone(self) -> None:
        if self._delivered != "":
            self._delivered = ""
            self._deliver(None)


def _quoted(text: str) -> str:
    """Quote a version for a query: it is opaque, and need not be a number."""
    return "".join(char if char.isalnum() and char.isascii() else f"%{ord(char):02X}" for char in text)


def _name_of(thing: Any) -> Any:
    metadata = thing.get("metadata") if isinstance(thing, dict) else None
    return metadata.get("name") if isinstance(metadata, dict) else None


def _version_of(thing: Any) -> str:
    metadata = thing.get("metadata") if isinstance(thing, dict) else None
    version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    if not isinstance(version, str) or not version.isascii() or not 0 < len(version) <= _LONGEST_VERSION:
        raise WireError("an object of the API server has no version")
    return version


def _content_of(thing: dict[str, Any]) -> bytes | None:
    data = thing.get("data")
    encoded = data.get(_KEY) if isinstance(data, dict) else None
    if not isinstance(encoded, str):
        return None
    try:
        return base64.b64decode(encoded, validate=True)
    except ValueError:
        return None
