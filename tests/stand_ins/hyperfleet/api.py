# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The routes: from a request to (status, document), without HTTP.

Today's form answers by default; the adapter contract's form (`flavour="seed"`) has POST statuses, answered
200 or 201 and never discarded silently, camelCase in reports, and `status.adapters` on the cluster.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.stand_ins.http_server import Request

from .conditions import Report
from .problems import ApiError
from .requests import parse_cluster, parse_patch, parse_report
from .search import ListForm, compile_search
from .store import PREFIX, Store
from .times import format_time

__all__ = ["Api", "Flavour", "Options"]

Flavour = Literal["today", "seed"]
# HTTP status and the document, None for an answer without a body.
_Answer = tuple[int, Any]

_ONE = re.compile(re.escape(PREFIX) + r"/clusters/([^/]+)")
_STATUSES = re.compile(re.escape(PREFIX) + r"/clusters/([^/]+)/statuses")


@dataclass(frozen=True)
class Options:
    """How the API behaves.

    :param required_adapters: whose reports make a cluster Reconciled, and whose Finalized lets it go.
    :param tokens: bearer tokens that are accepted; if empty, no token is required.
    :param required_headers: names and values without which the answer is 403 (tenancy).
    :param search_lists: how `in` lists are written: brackets today, parentheses before June 2026.
    """

    required_adapters: tuple[str, ...] = ("pullsecret",)
    tokens: frozenset[str] = field(default=frozenset(), repr=False)
    required_headers: Mapping[str, str] = field(default_factory=dict)
    flavour: Flavour = "today"
    search_lists: ListForm = "brackets"


class Api:
    """Answers requests from a store, or raises ApiError."""

    def __init__(self, store: Store, options: Options) -> None:
        self.store = store
        self.options = options

    def answer(self, request: Request) -> _Answer:
        if request.path.startswith(PREFIX):
            self._check_access(request)
        if request.path == f"{PREFIX}/clusters":
            if request.method == "GET":
                return 200, self._list(request)
            if request.method == "POST":
                return 201, self._shown(self.store.create(**parse_cluster(request.body)))
        if match := _ONE.fullmatch(request.path):
            return self._one(request, match[1])
        if match := _STATUSES.fullmatch(request.path):
            if request.method == "GET":
                return 200, self._statuses(request, match[1])
            if request.method == ("POST" if self._seed else "PUT"):
                return self._report(request, match[1])
        raise self._no_route(request)

    @property
    def _seed(self) -> bool:
        return self.options.flavour == "seed"

    @staticmethod
    def _no_route(request: Request) -> ApiError:
        return ApiError("NTF-000", f"The requested endpoint '{request.path}' does not exist")

    def _check_access(self, request: Request) -> None:
        if self.options.tokens:
            given = request.headers.get("authorization")
            if given is None:
                raise ApiError("AUT-001", "no bearer token")
            scheme, _blank, token = given.partition(" ")
            if scheme.lower() != "bearer" or token.strip() not in self.options.tokens:
                raise ApiError("AUT-002", "this bearer token is not known")
        for name, value in self.options.required_headers.items():
            if request.headers.get(name.lower()) != value:
                raise ApiError("AUZ-001", "a required header is missing or has another value")

    def _one(self, request: Request, cluster_id: str) -> _Answer:
        if request.method == "GET":
            return 200, self._shown(self.store.get(cluster_id))
        if request.method == "PATCH":
            return 200, self._shown(self.store.patch(cluster_id, parse_patch(request.body)))
        if request.method == "DELETE":
            return 202, self._shown(self.store.delete(cluster_id))
        raise self._no_route(request)

    def _list(self, request: Request) -> dict[str, Any]:
        page, size = _paging(request.query)
        search = request.query.get("search", "").strip()
        wanted = compile_search(search, self.options.search_lists) if search else None
        by_id = request.query.get("order") == "id"
        items, total = self.store.select(wanted, by_id, (page - 1) * size, size)
        return {
            "items": [self._shown(item) for item in items],
            "page": page,
            "size": len(items),
            "total": total,
        }

    def _statuses(self, request: Request, cluster_id: str) -> dict[str, Any]:
        page, size = _paging(request.query)
        reports = self.store.statuses(cluster_id)
        items = [self._shown_report(report) for report in reports[(page - 1) * size : page * size]]
        return {"items": items, "page": page, "size": len(items), "total": len(reports)}

    def _report(self, request: Request, cluster_id: str) -> _Answer:
        new = parse_report(request.body, self.store.clock(), seed=self._seed)
        report, first = self.store.report(cluster_id, new)
        if self._seed:
            return (201 if first else 200), None if report is None else self._shown_report(report)
        return (204, None) if report is None else (201, self._shown_report(report))

    def _shown(self, cluster: dict[str, Any]) -> dict[str, Any]:
        """The cluster, in the contract's form with each adapter's report."""
        if not self._seed:
            return cluster
        adapters = {}
        for report in self.store.statuses(cluster["id"]):
            available = report.condition("Available")["status"]
            adapters[report.adapter] = {"available": available, "data": report.data}
        return {**cluster, "status": {**cluster["status"], "adapters": adapters}}

    def _shown_report(self, report: Report) -> dict[str, Any]:
        since = "lastTransitionTime" if self._seed else "last_transition_time"
        shown: dict[str, Any] = {
            "adapter": report.adapter,
            "observedGeneration" if self._seed else "observed_generation": report.generation,
            "lastUpdated" if self._seed else "last_report_time": format_time(report.observed),
            "conditions": [
                {
                    **{key: value for key, value in condition.items() if key != "last_transition_time"},
                    since: format_time(condition["last_transition_time"]),
                }
                for condition in report.conditions
            ],
            "data": report.data,
        }
        if not self._seed:
            shown["created_time"] = format_time(report.created)
        if report.metadata is not None:
            shown["metadata"] = report.metadata
        return shown


def _paging(query: Mapping[str, str]) -> tuple[int, int]:
    try:
        page, size = int(query.get("page", "1")), int(query.get("size", "20"))
    except ValueError:
        page = size = 0
    if page < 1 or not 1 <= size <= 100:
        raise ApiError("VAL-000", "page or size is out of range")
    return page, size
