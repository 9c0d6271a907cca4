# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The reports of this node and of the other nodes: one key per node in a ConfigMap.

The value is ``{"resourceVersion": "...", "state": "...", "message": "..."}``. ``"by": "node"`` means that the
node itself is the reason. ``"failedWith"`` is the version with which kubelet did not start, if the other
fields describe something else.

Nothing waits for a report: one that cannot be written is written later. A report is repeated now and then,
because the ConfigMap may have been created again. A patch without a change costs the API server no write, and
its response is requested without the content.

A write without a response may still take effect after a later one. While that is possible, the current report
is repeated every few seconds.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

from ...runtime.wire import WireError
from .api import MERGE_PATCH, METADATA_ONLY, ApiError, PodApi
from .backoff import Backoff, random_between

__all__ = ["FAILED", "HELD", "IN_SYNC", "PENDING", "NodeStatus"]

IN_SYNC = "in-sync"
PENDING = "pending"
FAILED = "failed"
HELD = "held"

_LONGEST_MESSAGE = 500
# Seconds until a report is repeated: with 500 nodes, one or two reports a second.
_REWRITE_SECONDS = (300.0, 450.0)
# The same while a server may still execute an unanswered write: an API server gives up after 60 s.
_REWRITE_SECONDS_IN_DOUBT = (10.0, 20.0)
_DOUBT_SECONDS = 75.0
_NODE_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)


class NodeStatus:
    """This node's key in the ConfigMap. One thread at a time."""

    def __init__(
        self,
        api: PodApi,
        namespace: str,
        name: str,
        node: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        backoff: Backoff,
    ) -> None:
        self._api = api
        self._path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
        self._node = node
        self._clock = clock
        self._backoff = backoff
        # Kept for later versions, too. Otherwise nodes that hold because of it would continue.
        self._failed_with = ""
        self._value: dict[str, str] = {}
        self._wanted: str | None = None
        self._written: str | None = None
        self._try_at = 0.0
        self._again_at = 0.0
        self._doubt_until = 0.0
        self.trouble = ""
        """Why the last write failed, or an empty string."""

    def say(self, resource_version: str, state: str, message: str = "", *, by_node: bool = False) -> None:
        """Set the report that ``flush`` writes.

        :param by_node: the node failed, whatever the Secret holds: no reason for others to hold.
        """
        value = {"resourceVersion": resource_version, "state": state, "message": message[:_LONGEST_MESSAGE]}
        if by_node:
            value["by"] = "node"
        if state == IN_SYNC:
            self._failed_with = ""
        self._value = value
        self._want()

    def failed_with(self, resource_version: str, *, by_node: bool = False) -> None:
        """Kubelet did not start with that version. Part of every report until one is in sync.

        :param by_node: the node itself is the reason: then no version is reported any longer.
        """
        if not by_node:
            self._failed_with = resource_version
        elif self._failed_with == resource_version:
            self._failed_with = ""
        if self._value:
            self._want()

    def _want(self) -> None:
        value = self._value
        if self._failed_with and not _reports_failure(value, self._failed_with):
            value = {**value, "failedWith": self._failed_with}
        wanted = json.dumps(value, separators=(",", ":"))
        if wanted != self._wanted:
            self._wanted = wanted
            self._try_at = 0.0

    @property
    def is_said(self) -> bool:
        """Whether there is nothing new to write."""
        return self._wanted == self._written

    @property
    def due_at(self) -> float | None:
        """The monotonic time at which there is something to write, or None."""
        if self._wanted is None:
            return None
        return self._again_at if self.is_said else self._try_at

    def flush(self) -> bool:
        """Write the report if it is due; never fails. Return whether the API server was called."""
        due = self.due_at
        if due is None or self._clock() < due:
            return False
        wanted = self._wanted
        unanswered = self._api.unanswered
        try:
            body = {"data": {self._node: wanted}}
            self._api.call("PATCH", self._path, body, MERGE_PATCH, accept=METADATA_ONLY)
        except (ApiError, WireError) as error:
            self._written = None
            self.trouble = str(error)
            self._note_doubt(unanswered, error)
            wait = max(self._backoff.wait(), error.retry_after if isinstance(error, ApiError) else 0)
            self._try_at = self._clock() + wait
            return True
        self._written = wanted
        self._note_doubt(unanswered)
        now = self._clock()
        self._again_at = now + random_between(
            *(_REWRITE_SECONDS_IN_DOUBT if now < self._doubt_until else _REWRITE_SECONDS)
        )
        self.trouble = ""
        self._backoff.reset()
        return True

    def _note_doubt(self, unanswered: int, error: Exception | None = None) -> None:
        """Note a write that may take effect late.

        :param unanswered: the calls without a response before this write.
        """
        is_failure = isinstance(error, ApiError) and error.status >= 500
        if is_failure or self._api.unanswered != unanswered:
            self._doubt_until = self._clock() + _DOUBT_SECONDS

    def failed_elsewhere(self, resource_version: str) -> str:
        """Return another node that reports a failure with this version of the Secret, or "".

        :raises ApiError, WireError: the reports cannot be read.
        """
        if not resource_version:
            return ""
        data = self._api.call("GET", self._path).get("data")
        for node, text in sorted(data.items()) if isinstance(data, dict) else ():
            if node == self._node or not _NODE_NAME.fullmatch(node):
                continue
            value = _parsed(text)
            if _reports_failure(value, resource_version) or value.get("failedWith") == resource_version:
                return str(node)
        return ""


def _reports_failure(value: dict[str, Any], resource_version: str) -> bool:
    """Return whether the state alone means that kubelet did not start with that version."""
    failed = (FAILED, resource_version)
    return value.get("by") != "node" and (value.get("state"), value.get("resourceVersion")) == failed


def _parsed(text: Any) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
