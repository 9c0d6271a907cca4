# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in answers as AWX 24.6.1 did: `exchanges.jsonl` has recorded requests, and the statuses of the answers.

The recording is reduced to the types of `extensions/awx`. An answer's fields are recorded once for each type. The
numbers of objects differ, so each recorded number stands for one of the stand-in's.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.lab.awx import TYPES, AwxLab

_RECORDED = Path(__file__).parents[1] / "exchanges.jsonl"
EXCHANGES = [json.loads(line) for line in _RECORDED.read_text(encoding="utf-8").splitlines()]
# What the project of the recording contained.
PLAYBOOKS = [
    f"playbooks/{name}.yml"
    for name in ("after", "canary", "facts_cache", "probe", "provision", "provision_fleet", "stats_nolog")
]


class _Numbers:
    """The stand-in's number of each recorded one. AWX counts the templates together, and each other type alone."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int], int] = {}

    @staticmethod
    def _key(endpoint: str, number: int) -> tuple[str, int]:
        return ("templates" if endpoint in TYPES["templates"] else endpoint), number

    def add(self, endpoint: str, recorded: int, number: int) -> None:
        self._numbers[self._key(endpoint, recorded)] = number

    def of(self, endpoint: str, recorded: int) -> int:
        return self._numbers[self._key(endpoint, recorded)]

    def fields(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return values with the stand-in's numbers in the fields that refer to objects."""
        numbers = {
            name: self.of(TYPES["references"][name][0], value)
            for name, value in values.items()
            if name in TYPES["references"] and value is not None
        }
        return {**values, **numbers}


def _target(path: str) -> str:
    """Return the endpoint of the objects that a request creates or associates."""
    endpoint, _number, relation, *_rest = [*path.split("?")[0].strip("/").split("/"), "", ""]
    children = {child: owned[0] for child, owned in TYPES["children"].items()}
    return str({**children, **TYPES["associations"]}.get(relation, relation or endpoint))


def _play(lab: AwxLab) -> list[tuple[int, Any]]:
    """Repeat the requests; return each answer's status, and its recorded fields with actual and expected value."""
    numbers, answers = _Numbers(), []
    for exchange in EXCHANGES:
        path, body, target = exchange["path"], exchange.get("body"), _target(exchange["path"])
        if match := re.match(r"/([a-z_]+)/(\d+)/", path):
            number = numbers.of(match[1], int(match[2]))
            path = f"/{match[1]}/{number}/{path[match.end() :]}"
        if body and set(body) == {"id"}:
            body = {"id": body["id"] and numbers.of(target, body["id"])}
        elif body:
            body = numbers.fields(body)
        status, document = lab.ask(exchange["method"], path, body)
        if "id" in exchange and status == exchange["status"]:
            entry = document["results"][0] if "results" in document else document
            numbers.add(target, exchange["id"], entry["id"])
        expected = numbers.fields(exchange["answer"]) if "answer" in exchange else {}
        answers.append((status, {name: (document.get(name), value) for name, value in expected.items()}))
    return answers


@pytest.fixture(scope="module")
def answers() -> list[tuple[int, Any]]:
    return _play(AwxLab(PLAYBOOKS))


@pytest.mark.parametrize("index", range(len(EXCHANGES)), ids=[exchange["note"] for exchange in EXCHANGES])
def test_exchange(index: int, answers: list[tuple[int, Any]]) -> None:
    status, fields = answers[index]
    assert status == EXCHANGES[index]["status"]
    assert {name: actual for name, (actual, _recorded) in fields.items()} == {
        name: recorded for name, (_actual, recorded) in fields.items()
    }
