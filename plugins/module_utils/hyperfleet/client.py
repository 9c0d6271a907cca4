# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The reading half of the HyperFleet API's client.

Many clusters are read in few requests: ``search=id in [...]``, a hundred at a time.  Lists stand
in brackets since June 2026 and in parentheses in builds before; where neither is taken, and for
each cluster that a search does not find, the caller gets by with single reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional
from urllib.parse import quote, urlencode

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    ConfigurationError,
    PullSecretError,
    Unavailable,
    missing_package,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hyperfleet.connection import (
    Connection,
    TokenFile,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hyperfleet.errors import (
    BeingDeleted,
    RequestRefused,
    translate,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import Deadline, Retrier
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.waiting import within

__all__ = ["HyperFleetClient", "check_alive", "check_cluster_id", "imports"]

Cluster = dict[str, Any]

# The API's limits: items on a page, and characters of a search of which it adds 22 itself.
_PAGE = 100
_LONGEST_SEARCH = 4000
_LISTS = ("[{}]", "({})")
# Nothing that could end a quoted string of the search, or leave the path.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")


def check_cluster_id(cluster_id: str) -> str:
    """The id, if it can be one: the API's are UUIDs, the earlier design's such as ``cls-123``."""
    if not _ID.match(cluster_id):
        raise ConfigurationError("hyperfleet.cluster_id is not letters, digits, dots, dashes and underscores")
    return cluster_id


def check_alive(cluster: Mapping[str, Any]) -> None:
    """A deleted cluster is answered with 200 until its adapters have cleaned up.

    :raises BeingDeleted: this is one.
    """
    if cluster.get("deleted_time"):
        raise BeingDeleted(f"cluster {cluster.get('id')} is being deleted")


def imports() -> Any:
    """What a client needs, which most modules never do: each would pay 35 ms for it."""
    try:
        import urllib3
    except ImportError as error:
        raise missing_package(error, "urllib3") from None
    return urllib3


class HyperFleetClient:
    """One API.  Thread-safe.

    :param retrier: the one retry policy; urllib3's own is off.  ``Deadline.on_retry`` is told of retries.
    :param api_timeout: seconds for one request.
    :param connections: how many requests are made at once.
    """

    def __init__(
        self, connection: Connection, *, retrier: Retrier, api_timeout: float = 30.0, connections: int = 16
    ) -> None:
        self._urllib3 = urllib3 = imports()
        self._connection = connection
        self._retrier = retrier
        self._api_timeout = api_timeout
        self._token = TokenFile(connection.token_file) if connection.token_file else None
        self._list_form = 0
        options: dict[str, Any] = {"maxsize": max(connections, 1)}
        if connection.base.startswith("https:"):
            options["cert_reqs"] = "CERT_REQUIRED" if connection.validate_certs else "CERT_NONE"
            options["ca_certs"] = connection.ca_cert
        self._pool = urllib3.PoolManager(**options)

    def get_cluster(self, cluster_id: str, deadline: Deadline) -> Cluster:
        """One cluster, also one that is being deleted.

        :raises NotFound: there is none.
        """
        path = f"/clusters/{quote(check_cluster_id(cluster_id), safe='')}"
        cluster = self._get(path, f"cluster {cluster_id}", deadline)
        if cluster.get("id") != cluster_id:
            raise Unavailable(
                f"cluster {cluster_id} at {self._connection.place}: the answer is not that cluster"
            )
        return cluster

    def list_clusters(self, deadline: Deadline, search: Optional[str] = None) -> Iterator[Cluster]:
        """The clusters that a search (TSL) finds, all without one; page by page.

        :raises RequestRefused: the API does not take that search.
        """
        page = 1
        while True:
            # Ids are in the order of creation, so that a new cluster does not move the pages.
            query = [("page", str(page)), ("size", str(_PAGE)), ("order", "id")]
            items, total = self._page(query + ([("search", search)] if search else []), deadline)
            yield from items
            if not items or page * _PAGE >= total:
                return
            page += 1

    def find_clusters(self, cluster_ids: Sequence[str], deadline: Deadline) -> dict[str, Cluster]:
        """Those of at most ``batch_size`` clusters that one search finds.

        A cluster that is not in the answer may still exist: ask for it by itself.

        :raises RequestRefused: this API has no such search.
        """
        wanted = {check_cluster_id(cluster_id) for cluster_id in cluster_ids}
        values = ",".join(f"'{cluster_id}'" for cluster_id in cluster_ids)
        for form in range(self._list_form, len(_LISTS)):
            query = [("size", str(_PAGE)), ("search", "id in " + _LISTS[form].format(values))]
            try:
                items, _total = self._page(query, deadline)
            except RequestRefused:
                if form + 1 == len(_LISTS):
                    raise
                continue
            self._list_form = form
            found = {str(item.get("id")): item for item in items}
            if not wanted.issuperset(found):
                raise RequestRefused(f"clusters at {self._connection.place}: the search is ignored")
            return found
        raise RequestRefused(f"clusters at {self._connection.place}: no search by id")

    @staticmethod
    def batches(cluster_ids: Sequence[str]) -> Iterator[list[str]]:
        """The ids in lists that each fit one ``find_clusters``."""
        batch: list[str] = []
        length = 0
        for cluster_id in cluster_ids:
            added = len(cluster_id) + len("'',")
            if batch and (len(batch) == _PAGE or length + added > _LONGEST_SEARCH):
                yield batch
                batch, length = [], 0
            batch.append(cluster_id)
            length += added
        if batch:
            yield batch

    def _page(self, query: Sequence[tuple[str, str]], deadline: Deadline) -> tuple[list[Cluster], int]:
        """(the page's clusters, how many there are on all pages)"""
        answer = self._get("/clusters?" + urlencode(query, quote_via=quote), "clusters", deadline)
        items, total = answer.get("items"), answer.get("total")
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise Unavailable(f"clusters at {self._connection.place}: the answer is not a list of clusters")
        return items, total if isinstance(total, int) else len(items)

    def _get(self, path: str, what: str, deadline: Deadline) -> dict[str, Any]:
        return self._retrier.call(
            lambda timeout: self._get_once(path, what, timeout),
            deadline=deadline,
            api_timeout=self._api_timeout,
        )

    def _get_once(self, path: str, what: str, timeout: float) -> dict[str, Any]:
        headers = {**self._connection.headers, "Accept": "application/json, application/problem+json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token.token()}"
        where = f"{what} at {self._connection.place}"
        try:
            response = within(
                timeout,
                lambda: self._pool.request(
                    "GET",
                    self._connection.base + path,
                    headers=headers,
                    timeout=self._urllib3.Timeout(total=timeout),
                    retries=False,
                    redirect=False,
                ),
                Unavailable(f"{where}: no whole answer in time"),
            )
        except self._urllib3.exceptions.HTTPError as error:
            raise self._no_answer(error, where) from None
        if response.status != 200:
            content_type = response.headers.get("Content-Type") or ""
            raise translate(
                response.status,
                content_type,
                response.data,
                what,
                self._connection.place,
                response.headers.get("Retry-After"),
            )
        try:
            answer = json.loads(response.data)
        except (ValueError, RecursionError):
            # The decoder's error holds the document.
            raise Unavailable(f"{where}: the answer is not JSON") from None
        if not isinstance(answer, dict):
            raise Unavailable(f"{where}: the answer is not an object")
        return answer

    def _no_answer(self, error: Exception, where: str) -> PullSecretError:
        """urllib3's text holds addresses and at times the URL, search and all: its type is enough."""
        name = type(error).__name__
        if isinstance(error, self._urllib3.exceptions.SSLError):
            return ConfigurationError(
                f"{where}: no trusted connection ({name})", "check hyperfleet.url and ca_cert"
            )
        if isinstance(error, self._urllib3.exceptions.LocationParseError):
            return ConfigurationError(f"{where}: hyperfleet.url cannot be used ({name})")
        return Unavailable(f"{where}: no answer ({name})")
