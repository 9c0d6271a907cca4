# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recorded exchanges: reading them, repeating them against a server, and comparing what comes back.

A server has its own clock and chooses its own ids. So times in requests are moved by a whole number of seconds,
and each recorded time and UUID stands for one of the server throughout the story. What is not compared is in
``compared``; the detail of an error about an unreadable body belongs to it, which quotes the API's decoder.
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
# Who called and with which trace; of a cluster's conditions what the stand-in does not have.
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
    """What is compared of an answer."""
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


def play(url: str, headers: Mapping[str, str]) -> dict[str, Answer]:
    """Each exchange's answer by name, with the recorded ids and times in the place of the server's."""
    parts = urlsplit(url)
    connection = (HTTPSConnection if parts.scheme == "https" else HTTPConnection)(parts.netloc, timeout=30)
    # What the server has for each recorded id and time.
    known: dict[str, str] = {}
    first = datetime.fromisoformat(EXCHANGES[0].response_body["created_time"])
    shift = timedelta(seconds=round((datetime.now(UTC) - first).total_seconds()))

    def moved(match: re.Match[str]) -> str:
        time = (datetime.fromisoformat(match[0]) + shift).isoformat()
        return known.setdefault(match[0], time.rstrip("0").rstrip(".") if "." in time else time)

    answers = {}
    for exchange in EXCHANGES:
        body = exchange.request_body
        if body is not None and not isinstance(body, str):
            body = _TIME.sub(moved, json.dumps(body))
        path = _UUID.sub(lambda match: known.get(match[0], match[0]), exchange.path)
        connection.request(
            exchange.method, path, body, {"Content-Type": exchange.request_content_type, **headers}
        )
        response = connection.getresponse()
        answer = compared(json.loads(response.read() or '""'))
        theirs = _VARYING.findall(json.dumps(compared(exchange.response_body), sort_keys=True))

        def recorded(match: re.Match[str], theirs: list[str] = theirs) -> str:
            their = theirs.pop(0) if theirs else ""
            return their if known.setdefault(their, match[0]) == match[0] else match[0]

        answer = json.loads(_VARYING.sub(recorded, json.dumps(answer, sort_keys=True)))
        answers[exchange.name] = Answer(response.status, response.headers.get("Content-Type"), answer)
    connection.close()
    return answers
