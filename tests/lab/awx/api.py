# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects, and the routes: from a request to (status, document), without HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import rules
from .rules import OPTIONS, TYPES, Refused, clean

__all__ = ["Api", "Record"]

_Answer = tuple[int, Any]
_PATH = re.compile(r"/(?P<endpoint>[a-z_]+)/(?:(?P<number>\d+)/(?:(?P<relation>[a-z_]+)/)?)?")


@dataclass
class Record:
    """An object; `links` are its associations by relation, in their order."""

    number: int
    endpoint: str
    values: dict[str, Any]
    links: dict[str, list[int]] = field(default_factory=dict)
    survey: dict[str, Any] | None = None


class Api:
    """Answers requests from its objects, or raises Refused. It begins with the objects that AWX itself makes."""

    def __init__(self, playbooks: frozenset[str]) -> None:
        self.playbooks = playbooks
        self.records: dict[int, Record] = {}
        self._last = 0
        for name, kind in TYPES["managed"].items():
            number = self._add("credential_types", name=name, kind=kind, managed=True)
            if kind == "galaxy":
                self._add("credentials", name="Ansible Galaxy", credential_type=number, managed=True)

    def select(self, endpoint: str, **values: Any) -> list[Record]:
        """Return the objects of an endpoint that have all these values."""
        endpoints = TYPES["templates"] if endpoint == "unified_job_templates" else (endpoint,)
        records = [record for record in self.records.values() if record.endpoint in endpoints]
        return [record for record in records if all(record.values[key] == values[key] for key in values)]

    def answer(self, method: str, path: str, query: Mapping[str, str], body: Any) -> _Answer:
        match = _PATH.fullmatch(path)
        if match is None or match["endpoint"] not in (*OPTIONS, "project_updates", "unified_job_templates"):
            raise Refused({"detail": "The requested resource could not be found."}, 404)
        endpoint, number = match["endpoint"], int(match["number"] or 0)
        if not number:
            return self._collection(method, endpoint, query, body)
        if endpoint == "project_updates":
            return 200, {"id": number, "status": "successful", "failed": False}
        record = self.records.get(number)
        if record is None or record.endpoint != endpoint:
            raise Refused({"detail": "Not found."}, 404)
        if match["relation"]:
            return self._related(method, record, match["relation"], body)
        if method == "PATCH":
            return 200, self._change(record, body)
        if method == "DELETE":
            self._delete(record)
            return 204, None
        return 200, self._shown(record)

    def _collection(self, method: str, endpoint: str, query: Mapping[str, str], body: Any) -> _Answer:
        if method == "OPTIONS":
            return 200, {"actions": {"POST": OPTIONS[endpoint]}}
        if method == "POST" and endpoint in OPTIONS:
            return 201, self._create(endpoint, body)
        return 200, self._listed([each for each in self.select(endpoint) if self._matches(each, query)])

    def _matches(self, record: Record, query: Mapping[str, str]) -> bool:
        shown = self._shown(record)
        conditions: list[bool] = []
        alternatives: list[bool] = []
        for key, text in query.items():
            name = key.removeprefix("or__")
            if name == "page_size":
                continue
            if name not in shown:
                raise Refused({"detail": f"{record.endpoint} has no field named '{name}'"})
            is_equal = text.lower() == str(shown[name]).lower()
            (alternatives if key != name else conditions).append(is_equal)
        return all(conditions) and (any(alternatives) or not alternatives)

    def _listed(self, records: list[Record]) -> dict[str, Any]:
        results = [self._shown(record) for record in records]
        return {"count": len(results), "next": None, "previous": None, "results": results}

    def _add(self, endpoint: str, **values: Any) -> int:
        self._last += 1
        defaults = {name: option.get("default") for name, option in OPTIONS[endpoint].items()}
        self.records[self._last] = Record(self._last, endpoint, {**defaults, **values})
        return self._last

    def _create(self, endpoint: str, body: dict[str, Any]) -> dict[str, Any]:
        values = clean(endpoint, body)
        self._check(endpoint, values)
        record = self.records[self._add(endpoint, **values)]
        shown = self._shown(record)
        if endpoint == "projects" and values["scm_type"]:
            shown["summary_fields"]["current_update"] = {"id": record.number}
        return shown

    def _change(self, record: Record, body: dict[str, Any]) -> dict[str, Any]:
        changes = clean(record.endpoint, body, partial=True)
        is_in_use = self.select("credentials", credential_type=record.number)
        if is_in_use and changes.get("inputs", record.values["inputs"]) != record.values["inputs"]:
            raise Refused({"inputs": ["Modifications to inputs are not allowed for credential types in use"]})
        values = {**record.values, **changes}
        self._check(record.endpoint, values, record)
        record.values = values
        return self._shown(record)

    def _check(self, endpoint: str, values: dict[str, Any], changed: Record | None = None) -> None:
        for name, endpoints in TYPES["references"].items():
            number = values.get(name)
            if number is not None and self._referred(number, endpoints) is None:
                raise Refused({name: [f'Invalid pk "{number}" - object does not exist.']})
        rules.check(self, endpoint, values)
        names = TYPES["unique"].get(endpoint, ())
        same = self.select(endpoint, **{name: values[name] for name in names}) if names else []
        if any(record is not changed for record in same):
            text = f"{endpoint} with this {', '.join(names)} already exists."
            raise Refused({"__all__" if len(names) > 1 else names[0]: [text]})

    def _referred(self, number: int, endpoints: Sequence[str]) -> Record | None:
        record = self.records.get(number)
        return record if record and record.endpoint in endpoints else None

    def _delete(self, record: Record) -> None:
        if self.select("credentials", credential_type=record.number):
            raise Refused({"detail": "Credential types that are in use cannot be deleted"}, 403)
        del self.records[record.number]
        for other, name in list(self._references_to(record)):
            if [other.endpoint, name] in TYPES["children"].values():
                self._delete(other)
            else:
                other.values[name] = None
        for other in self.records.values():
            for numbers in other.links.values():
                numbers[:] = [number for number in numbers if number != record.number]

    def _references_to(self, record: Record) -> Iterator[tuple[Record, str]]:
        for other in self.records.values():
            for name, endpoints in TYPES["references"].items():
                if record.endpoint in endpoints and other.values.get(name) == record.number:
                    yield other, name

    def _related(self, method: str, record: Record, relation: str, body: Any) -> _Answer:
        if relation == "survey_spec":
            return self._survey(method, record, body)
        if relation in TYPES["children"] and method == "POST":
            endpoint, owner = TYPES["children"][relation]
            return 201, self._create(endpoint, {**body, owner: record.number})
        numbers = record.links.setdefault(relation, [])
        if method == "GET":
            return 200, self._listed([self.records[number] for number in numbers])
        other = self._referred(body["id"] or 0, (TYPES["associations"][relation],))
        if other is None:
            raise Refused({"id": ["object does not exist"]})
        if body.get("disassociate"):
            numbers.remove(other.number)
        elif other.number not in numbers:
            rules.check_association(self, record, relation, other)
            numbers.append(other.number)
        return 204, None

    def _survey(self, method: str, record: Record, body: Any) -> _Answer:
        if method == "GET":
            return 200, record.survey or {}
        if method == "POST":
            rules.check_survey(body)
        record.survey = body if method == "POST" else None
        return 200, None

    def _shown(self, record: Record) -> dict[str, Any]:
        """The object as AWX shows it: without the values of secret inputs."""
        url = f"/api/v2/{record.endpoint}/{record.number}/"
        singular = "inventory" if record.endpoint == "inventories" else record.endpoint[:-1]
        shown = {"id": record.number, "type": singular, "url": url, "summary_fields": {}, **record.values}
        shown["related"] = {"survey_spec": f"{url}survey_spec/"}
        shown.setdefault("managed", False)
        if record.endpoint == "inventories":
            shown["pending_deletion"] = False
        if record.endpoint == "projects":
            shown["scm_revision"] = ""
        if record.endpoint == "credentials":
            fields = self.records[shown["credential_type"]].values["inputs"].get("fields", ())
            secret = {
                entry["id"] for entry in fields if entry.get("secret") and shown["inputs"].get(entry["id"])
            }
            shown["inputs"] = {**shown["inputs"], **dict.fromkeys(secret, "$encrypted$")}
        return shown
