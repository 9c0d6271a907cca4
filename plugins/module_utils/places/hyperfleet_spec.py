# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the docker config from a cluster's spec in the HyperFleet API: ``hyperfleet: {cluster_id}``."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ..clients.hyperfleet.api import import_urllib3
from ..clients.hyperfleet.client import HyperFleetClient, check_alive, check_api_cluster_id
from ..clients.hyperfleet.connection import hyperfleet_connection
from ..clients.hyperfleet.errors import RequestRefused
from ..clients.pool import ClientPool
from ..model.cluster_document import pull_secret_of
from ..model.errors import (
    ConfigurationError,
    InvalidDocument,
    NotFound,
    PermissionDenied,
    PullSecretError,
    TimedOut,
    Unavailable,
    copied_error,
    repeated_error,
)
from ..runtime.retry import Deadline
from ..runtime.run_settings import RunSettings
from .base import Source

__all__ = ["HyperFleetSource", "pull_secret"]

_WITHOUT_SOURCE = (
    "a cluster without source or layers is read from the HyperFleet API; if its pull secret is elsewhere, give it "
    "a source"
)
_NOT_HAD = (ConfigurationError, NotFound, PermissionDenied, Unavailable)
# After this many failed searches in a row, the API counts as unavailable and no further search is sent.
_GIVE_UP = 2


def pull_secret(cluster: Mapping[str, Any]) -> bytes:
    """Return ``spec.pullSecret.data`` of a cluster: JSON text unchanged, an object as JSON.

    :raises NotFound: there is none.
    :raises InvalidDocument: it is neither, or both spellings exist and differ.
    :raises BeingDeleted: the cluster is.
    """
    check_alive(cluster)
    name = f"cluster {cluster.get('id')}"
    try:
        found = pull_secret_of(cluster)
    except InvalidDocument as error:
        raise InvalidDocument(f"{name}: {error.message}") from None
    if found is None:
        raise NotFound(f"{name} has no spec.pullSecret.data")
    path, value = found
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, dict):
        return json.dumps(value, sort_keys=True).encode("utf-8")
    raise InvalidDocument(f"{name}: {path} must be a string or an object")


class HyperFleetSource(Source):
    """The pull secret in a cluster's spec. A reference is ``{"cluster_id": ...}``."""

    NAME: ClassVar[str] = "hyperfleet"
    SPEC: ClassVar[dict[str, Any]] = dict(
        type="dict", options=dict(cluster_id=dict(type="str", required=True))
    )
    CONNECTION: ClassVar[dict[str, Any] | None] = {
        "type": "dict",
        "options": {
            "url": {"type": "str"},
            "token_file": {"type": "path"},
            "headers": {"type": "dict", "no_log": True},
            "flavour": {"type": "str", "choices": ["current", "contract"], "default": "current"},
            "ca_cert": {"type": "path"},
            "validate_certs": {"type": "bool", "default": True},
        },
    }

    def __init__(self, settings: RunSettings) -> None:
        super().__init__(settings)
        # One API client, created at first use, as in the other places.
        self._clients: ClientPool[str, HyperFleetClient] = ClientPool(
            lambda dummy: HyperFleetClient(
                hyperfleet_connection(settings.connection(self.NAME)),
                retrier=settings.retrier,
                api_timeout=settings.api_timeout,
                connections=settings.concurrency,
            ),
            imports=import_urllib3,
            seconds=settings.timeout,
            describe=lambda dummy: "the HyperFleet API",
        )
        self._lock = threading.Lock()
        # What was read ahead: the document, or the error.
        self._ahead: dict[str, bytes | PullSecretError] = {}

    @classmethod
    def check(cls, reference: Any) -> None:
        """Check the cluster's id, which is a part of the requested URL."""
        try:
            check_api_cluster_id(str(reference.get("cluster_id") or ""))
        except ConfigurationError as error:
            raise ConfigurationError(f"source.{error.message}") from None

    def has_other_forms(self, reference: Any) -> bool:
        """The adapter passes the same document to the Job, whose contract allows none."""
        return False

    def prepare(self, references: Sequence[Any]) -> None:
        """Read many clusters in few requests. ``read`` does or reports what this cannot find or do."""
        wanted: list[str] = []
        for reference in references:
            try:
                wanted.append(check_api_cluster_id(reference["cluster_id"]))
            except PullSecretError:
                continue  # read reports it
        wanted = sorted(set(wanted))
        if len(wanted) < 2:
            return
        in_a_row, error = 0, None
        for batch in HyperFleetClient.batches(wanted):
            if in_a_row < _GIVE_UP:
                try:
                    found = self._search(batch)
                except RequestRefused:
                    return  # each cluster is read by itself
                except PullSecretError as caught:
                    in_a_row, error = in_a_row + 1, caught
                else:
                    in_a_row, error = 0, None
                    self._ahead.update((name, _reading(cluster)) for name, cluster in found.items())
            # Retried as the policy says: single reads would fail as well, slowly. But the expired time limit
            # was not theirs.
            if error is not None and not isinstance(error, TimedOut):
                self._ahead.update((cluster_id, error) for cluster_id in batch)

    def read(self, reference: Any, deadline: Deadline) -> bytes:
        """Return the document: the first time from what was read ahead, then from the API.

        :raises NotFound: no such cluster, or it has no pull secret.
        :raises BeingDeleted: it is being deleted.
        """
        try:
            return self._read(check_api_cluster_id(reference["cluster_id"]), deadline)
        except _NOT_HAD as error:
            # One error may belong to several targets.
            explained = copied_error(error)
            explained.hint = f"{error.hint}; {_WITHOUT_SOURCE}" if error.hint else _WITHOUT_SOURCE
            raise explained from None

    def _read(self, cluster_id: str, deadline: Deadline) -> bytes:
        with self._lock:
            reading = self._ahead.pop(cluster_id, None)
        if reading is None:
            reading = _reading(self._clients.get(self.NAME, deadline).get_cluster(cluster_id, deadline))
        if isinstance(reading, PullSecretError):
            raise repeated_error(reading) from None
        return reading

    def describe(self, reference: Any) -> str:
        """``hyperfleet:CLUSTER-ID``."""
        return f"hyperfleet:{reference['cluster_id']}"

    def _search(self, cluster_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        deadline = self.settings.deadline()
        return self._clients.get(self.NAME, deadline).find_clusters(cluster_ids, deadline)


def _reading(cluster: Mapping[str, Any]) -> bytes | PullSecretError:
    try:
        return pull_secret(cluster)
    except PullSecretError as error:
        return error
