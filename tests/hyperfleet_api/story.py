# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recorded exchanges: reading them, repeating them against a server, and comparing what comes back.

A server has its own clock and chooses its own ids. So times in requests are moved by a whole number of seconds,
and each recorded time and UUID stands for one of the server throughout the story, and each of the server's for
one recorded. ``compared`` leaves out what is not compared, for example the detail of an error about an
unreadable body, which quotes the API's decoder.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

__all__ = ["EXCHANGES", "Answer", "Exchange", "compared", "play"]

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?")
_VARYING = re.compile(f"{_UUID.pattern}|{_TIME.pattern}")
# The caller and the trace, and the fields of a cluster's conditions that the stand-in does not have.
_LEFT_OUT = ("created_by", "updated_by", "deleted_by", "trace_id")
_CONDITION_LEFT_OUT = ("created_time", "last_updated_time", "last_transition_time")


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


_RECORDED = Path(__file__).with_name("hyperfleet-api.jsonl")
EXCHANGES = tuple(Exchange(**json.loads(line)) for line in _RECORDED.read_text(encoding="utf-8").splitlines())


def compared(body: Any) -> Any:
    """The answer's body without the parts that are not compared."""
    body = copy.deepcopy(body)
    for document in body.get("items", [body]) if isinstance(body, dict) else ():
        for name in _LEFT_OUT:
            document.pop(name, None)
        if document.get("code") == "HYPERFLEET-VAL-006":
            del document["detail"]
        if document.get("kind") == "Cluster":
            found = [one for one in document["status"]["conditions"] if one["type"] != "LastKnownReconciled"]
            document["status"]["conditions"] = [
                {name: value for name, value in one.items() if name not in _CONDITION_LEFT_OUT}
                for one in found
            ]
    return body


def _shortest(time: datetime) -> str:
    text = time.isoformat()
    return text.rstrip("0").rstrip(".") if "." in text else text


def play(url: str, headers: Mapping[str, str]) -> dict[str, Answer]:
    """Each exchange's answer by name, with the recorded ids and times instead of the server's."""
    parts = urlsplit(url)
    connection = (HTTPSConnection if parts.scheme == "https" else HTTPConnection)(parts.netloc, timeout=30)
    # From each recorded id or time to the server's, and back.
    actual_of: dict[str, str] = {}
    recorded_of: dict[str, str] = {}
    first = datetime.fromisoformat(EXCHANGES[0].response_body["created_time"])
    shift = timedelta(seconds=round((datetime.now(UTC) - first).total_seconds()))

    def is_pair(recorded: str, actual: str) -> bool:
        """Whether these two stand for each other, and for nothing else, since the story began."""
        return (
            actual_of.setdefault(recorded, actual) == actual
            and recorded_of.setdefault(actual, recorded) == recorded
        )

    def moved(match: re.Match[str]) -> str:
        """A request's time on the server's clock; both as answers have them, without zeros at the end."""
        recorded, actual = datetime.fromisoformat(match[0]), datetime.fromisoformat(match[0]) + shift
        assert is_pair(_shortest(recorded), _shortest(actual))
        return _shortest(actual)

    def with_recorded(answer: Any, recorded_answer: Any) -> Any:
        """The answer with the recorded id or time wherever the server's stands for it."""
        recorded_values = iter(_VARYING.findall(json.dumps(recorded_answer, sort_keys=True)))

        def replaced(match: re.Match[str]) -> str:
            recorded = next(recorded_values, None)
            return recorded if recorded is not None and is_pair(recorded, match[0]) else match[0]

        return json.loads(_VARYING.sub(replaced, json.dumps(answer, sort_keys=True)))

    answers = {}
    for exchange in EXCHANGES:
        body = exchange.request_body
        if body is not None and not isinstance(body, str):
            body = _TIME.sub(moved, json.dumps(body))
        path = _UUID.sub(lambda match: actual_of.get(match[0], match[0]), exchange.path)
        connection.request(
            exchange.method, path, body, {"Content-Type": exchange.request_content_type, **headers}
        )
        response = connection.getresponse()
        answer = compared(json.loads(response.read() or '""'))
        answer = with_recorded(answer, compared(exchange.response_body))
        answers[exchange.name] = Answer(response.status, response.headers.get("Content-Type"), answer)
    connection.close()
    return answers
