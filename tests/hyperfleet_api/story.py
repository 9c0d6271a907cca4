# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recorded story: reading it, playing it against a server, and comparing what comes back.

What is normalised before the comparison, and nothing else:

- the cluster's id: the recorded one stands for the one that the server chose at `create-cluster`, in paths,
  requests and answers;
- `trace_id`: any UUID of version 7 that no earlier answer carried;
- against a server whose clock is not ours (`shift` is not None): times. Those in requests are moved by a
  whole number of seconds; in answers each recorded time stands for one actual time throughout the story.
  Also the metadata's `version` and `build_time`, and the fields that name the caller: `created_by`,
  `updated_by`, `deleted_by`.

The stand-in runs on the story's clock, so with it every time is compared to the nanosecond.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.stand_ins.hyperfleet.times import ScriptedClock, format_time, parse_time

__all__ = ["EXCHANGES", "Answer", "Exchange", "Player", "instants"]

_UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_TIMES = {"timestamp", "created_time", "updated_time", "deleted_time", "last_report_time"}
_TIMES |= {"last_updated_time", "last_transition_time"}
_CALLERS = {"created_by", "updated_by", "deleted_by"}
_BUILD = {"version", "build_time"}


@dataclass(frozen=True)
class Exchange:
    """One recorded request and its answer; a body that is a string was sent as it is."""

    name: str
    method: str
    path: str
    request_body: Any
    status: int
    content_type: str | None
    response_body: Any
    request_content_type: str = "application/json"


@dataclass(frozen=True)
class Answer:
    status: int
    content_type: str | None
    body: Any


def _read() -> Iterator[Exchange]:
    for line in Path(__file__).with_name("hyperfleet-api.jsonl").read_text(encoding="utf-8").splitlines():
        yield Exchange(**json.loads(line))


EXCHANGES = tuple(_read())
_RECORDED_ID: str = next(e.response_body["id"] for e in EXCHANGES if e.name == "create-cluster")


def instants(exchange: Exchange) -> list[int]:
    """When the recorded server looked at its clock, in order; empty where the answer does not tell."""
    body = exchange.response_body
    if exchange.content_type == "application/problem+json":
        names = ["timestamp"]
    elif exchange.name == "create-cluster":
        names = ["created_time"]
    elif exchange.name == "patch-spec":
        names = ["updated_time"]
    elif exchange.name == "delete-cluster":
        names = ["deleted_time", "updated_time"]
    elif exchange.method == "PUT" and body and "observed_time" not in exchange.request_body:
        names = ["last_report_time"]
    else:
        names = []
    return [parse_time(body[name]) for name in names]


@dataclass
class Player:
    """Plays the exchanges in order against one server.

    :param clock: the server's clock, where it is ours to set.
    :param shift: seconds from the recorded time to the server's, where it is not.
    """

    url: str
    clock: ScriptedClock | None = None
    shift: int | None = None
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    _id: str = ""
    _traces: set[str] = field(default_factory=set)
    _times: dict[str, str] = field(default_factory=dict)
    _callers: set[str] = field(default_factory=set)

    def play(self) -> dict[str, Answer]:
        """Each exchange's answer by name, normalised."""
        parts = urlsplit(self.url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.netloc, timeout=30)
        try:
            return {exchange.name: self._one(connection, exchange) for exchange in EXCHANGES}
        finally:
            connection.close()

    def _one(self, connection: HTTPConnection, exchange: Exchange) -> Answer:
        if self.clock is not None and (script := instants(exchange)):
            self.clock.set(script)
        body, headers = exchange.request_body, dict(self.headers)
        if body is not None:
            headers["Content-Type"] = exchange.request_content_type
            body = body if isinstance(body, str) else json.dumps(self._shifted(body))
        path = exchange.path.replace(_RECORDED_ID, self._id or _RECORDED_ID)
        connection.request(exchange.method, path, body=body, headers=headers)
        response = connection.getresponse()
        raw = response.read()
        answer: Any = json.loads(raw) if raw else ""
        if exchange.name == "create-cluster" and response.status == 201:
            self._id = answer["id"]
            assert _UUID7.fullmatch(self._id)
        if self._id and self._id != _RECORDED_ID:
            answer = json.loads(json.dumps(answer).replace(self._id, _RECORDED_ID))
        return Answer(
            response.status,
            response.headers.get("Content-Type"),
            self._normalised(answer, exchange.response_body),
        )

    def _shifted(self, body: dict[str, Any]) -> dict[str, Any]:
        """The request with its time moved to the server's."""
        moved = dict(body)
        for key in ("observed_time", "observedTime"):
            try:
                instant = parse_time(moved[key]) + (self.shift or 0) * 1_000_000_000
            except (KeyError, ValueError):
                continue  # absent, or wrong on purpose
            if self.shift is not None:
                suffix = "+00:00" if moved[key].endswith("+00:00") else "Z"
                moved[key] = format_time(instant).removesuffix("Z") + suffix
        return moved

    def _normalised(self, actual: Any, recorded: Any) -> Any:
        """The actual body with the recorded value wherever the two may differ."""
        if isinstance(actual, list) and isinstance(recorded, list) and len(actual) == len(recorded):
            return [self._normalised(ours, theirs) for ours, theirs in zip(actual, recorded, strict=True)]
        if not isinstance(actual, dict) or not isinstance(recorded, dict):
            return actual
        return {
            key: recorded[key]
            if self._may_differ(key, value, recorded.get(key))
            else self._normalised(value, recorded.get(key))
            for key, value in actual.items()
        }

    def _may_differ(self, key: str, value: Any, recorded: Any) -> bool:
        if not isinstance(value, str) or not isinstance(recorded, str):
            return False
        if key == "trace_id":
            fresh = value not in self._traces
            self._traces.add(value)
            return fresh and _UUID7.fullmatch(value) is not None
        if self.shift is None:
            return False
        if key in _TIMES:
            return self._times.setdefault(recorded, value) == value and _is_time(value)
        if key in _CALLERS:
            self._callers.add(value)
            return len(self._callers) == 1
        return key in _BUILD


def _is_time(text: str) -> bool:
    try:
        return parse_time(text) > 0
    except ValueError:
        return False
