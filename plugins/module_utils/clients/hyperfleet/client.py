# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The HyperFleet API's client: reads clusters and statuses, and sends reports.

Many clusters are read in few requests: ``search=id in [...]``, a hundred at a time. Lists are in brackets
since June 2026 and in parentheses in builds before. If the API accepts neither, and for each cluster that a
search does not find, the caller uses single reads.

Statuses are read and sent in today's form of the API or in that of the adapter contract (``flavour``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ...model.encoded import holds_secret
from ...model.errors import ConfigurationError, Unavailable
from ...runtime.retry import Deadline, Retrier
from .api import LARGEST_STATUSES, PAGE, HyperFleetApi
from .connection import HyperFleetConnection
from .errors import BeingDeleted, RequestRefused
from .report_format import ObservedTimes, clock_trouble, find_flavour
from .status_parser import statuses_of_cluster, statuses_of_items
from .statuses import AdapterStatus, Report, Reported

__all__ = ["HyperFleetClient", "check_alive", "check_api_cluster_id"]

# Characters of a search, to which the API adds 22 itself.
_LONGEST_SEARCH = 4000
_LISTS = ("[{}]", "({})")
# Ids are in the order of creation, so that a new cluster does not move the pages.
_ORDER = ("order", "id")
# No character that could end a quoted string of the search, or leave the path.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")


def check_api_cluster_id(cluster_id: str) -> str:
    """Check an id: the API's are UUIDs, those of the adapter contract such as ``cls-123``."""
    if not _ID.match(cluster_id) or holds_secret(cluster_id):
        raise ConfigurationError(
            "hyperfleet.cluster_id must be at most 128 letters, digits, dots, dashes and underscores, beginning "
            "with a letter or digit"
        )
    return cluster_id


def check_alive(cluster: Mapping[str, Any]) -> None:
    """A deleted cluster is returned with 200 until its adapters have cleaned up.

    :raises BeingDeleted: this cluster is being deleted.
    """
    if cluster.get("deleted_time"):
        raise BeingDeleted(f"cluster {cluster.get('id')} is being deleted")


class HyperFleetClient:
    """One API. Thread-safe.

    :param retrier: the one retry policy; urllib3's own is off. It calls ``Deadline.on_retry`` at each retry.
    :param api_timeout: seconds for one request.
    :param connections: maximum number of concurrent requests.
    :param flavour: ``current`` or ``contract``: the form of statuses.
    """

    def __init__(
        self,
        connection: HyperFleetConnection,
        *,
        retrier: Retrier,
        api_timeout: float = 30.0,
        connections: int = 16,
        flavour: str = "current",
    ) -> None:
        self._flavour = find_flavour(flavour)
        self._api = HyperFleetApi(
            connection, retrier=retrier, api_timeout=api_timeout, connections=connections
        )
        self._times = ObservedTimes()
        self._list_form = 0

    def get_cluster(
        self, cluster_id: str, deadline: Deadline, *, traceparent: str | None = None
    ) -> dict[str, Any]:
        """Return one cluster, also if it is being deleted.

        :raises NotFound: it does not exist.
        """
        cluster = self._api.get(_path(cluster_id), f"cluster {cluster_id}", deadline, traceparent)
        if cluster.get("id") != cluster_id:
            raise Unavailable(f"cluster {cluster_id} at {self._api.place}: the answer is not that cluster")
        return cluster

    @property
    def place(self) -> str:
        """The API's address, for messages."""
        return self._api.place

    def page_of_clusters(
        self, number: int, deadline: Deadline, search: str | None = None
    ) -> tuple[list[Any], int | None]:
        """Return the unchecked items on a page, and the total if it is reported.

        :param search: in the API's language (TSL); all clusters without one.
        :raises ConfigurationError: the search is invalid.
        :raises RequestRefused: the API refuses it.
        """
        if search and (len(search) > _LONGEST_SEARCH or not search.isprintable()):
            raise ConfigurationError(f"search must be at most {_LONGEST_SEARCH} printable characters")
        query = [_ORDER] + ([("search", search)] if search else [])
        return self._api.page("/clusters", "clusters", deadline, query, number)

    def statuses(
        self,
        cluster_id: str,
        deadline: Deadline,
        cluster: Mapping[str, Any] | None = None,
        *,
        traceparent: str | None = None,
    ) -> dict[str, AdapterStatus]:
        """Return the latest status of each adapter for a cluster, by the adapter's name.

        :param cluster: as it was read; the contract's form has the statuses in it, and reads it if this is
            None.
        :raises NotFound: the cluster does not exist.
        """
        if self._flavour.on_cluster:
            if cluster is None:
                cluster = self.get_cluster(cluster_id, deadline, traceparent=traceparent)
            return statuses_of_cluster(cluster)
        path, what = _path(cluster_id) + "/statuses", f"statuses of cluster {cluster_id}"
        items = self._api.items(path, what, deadline, traceparent=traceparent, largest=LARGEST_STATUSES)
        return statuses_of_items(items)

    def report(
        self,
        cluster_id: str,
        report: Report,
        deadline: Deadline,
        *,
        after: str | None = None,
        stored: AdapterStatus | None = None,
        traceparent: str | None = None,
    ) -> Reported:
        """Send a report on a cluster.

        Each attempt has its own time, later than that of any report that this client sent for the cluster
        before.

        :param after: ``observed_time`` of the API's status: this report's is later.
        :param stored: that status.
        :raises NotFound: the cluster is gone. After an attempt without a response, this report may be the
            reason: the last ``Finalized`` deletes a cluster.
        :raises RequestRefused: the report is invalid, or its time is, as the hint says.
        :raises ConfigurationError: that URL accepts no such reports.
        """
        path, what = _path(cluster_id) + "/statuses", f"report on cluster {cluster_id}"

        def once(timeout: float) -> Reported:
            observed = self._times.next(cluster_id, after or (stored.observed_time if stored else None))
            body = self._flavour.body(report, observed, stored)
            answer = self._api.send(
                self._flavour.method, path, what, timeout, body=body, traceparent=traceparent
            )
            if answer.status in (200, 201, 204):
                return Reported(answer.status != 204, answer.status, observed)
            error = self._api.refusal(answer, what)
            if isinstance(error, ConfigurationError):
                error.hint = (
                    f"hyperfleet.flavour is {self._flavour.name}, whose reports are sent with "
                    f"{self._flavour.method}; check it and hyperfleet.url"
                )
            elif isinstance(error, RequestRefused):
                error.hint = clock_trouble(observed, answer.headers.get("Date"))
            raise error

        return self._api.with_retries(once, deadline)

    def find_clusters(self, cluster_ids: Sequence[str], deadline: Deadline) -> dict[str, dict[str, Any]]:
        """Return those of at most ``batch_size`` clusters that one search finds.

        A cluster that is not in the result may still exist: read it by itself.

        :raises RequestRefused: this API does not support the search.
        """
        wanted = {check_api_cluster_id(cluster_id) for cluster_id in cluster_ids}
        values = ",".join(f"'{cluster_id}'" for cluster_id in cluster_ids)
        for form in range(self._list_form, len(_LISTS)):
            search = "id in " + _LISTS[form].format(values)
            try:
                items, _total = self._api.page("/clusters", "clusters", deadline, [("search", search)])
            except RequestRefused:
                if form + 1 == len(_LISTS):
                    raise
                continue
            self._list_form = form
            found = {str(cluster.get("id")): cluster for cluster in map(self._cluster, items)}
            if not wanted.issuperset(found):
                raise RequestRefused(f"clusters at {self._api.place}: the API ignored the search")
            return found
        raise RequestRefused(f"clusters at {self._api.place}: the API does not support search by id")

    @staticmethod
    def batches(cluster_ids: Sequence[str]) -> Iterator[list[str]]:
        """Yield the ids in lists that each fit one ``find_clusters``."""
        batch: list[str] = []
        length = 0
        for cluster_id in cluster_ids:
            added = len(cluster_id) + len("'',")
            if batch and (len(batch) == PAGE or length + added > _LONGEST_SEARCH):
                yield batch
                batch, length = [], 0
            batch.append(cluster_id)
            length += added
        if batch:
            yield batch

    def _cluster(self, item: Any) -> dict[str, Any]:
        if not isinstance(item, dict):
            raise Unavailable(f"clusters at {self._api.place}: the answer is not a list of clusters")
        return item


def _path(cluster_id: str) -> str:
    return f"/clusters/{quote(check_api_cluster_id(cluster_id), safe='')}"
