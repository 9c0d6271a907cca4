# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the clusters in a message: a CloudEvent, or something similar. Pure.

It is lenient, because the sentinel's own events lack what the specification requires: no content type, no
``time``, any type, any source. Only the cluster's id matters. It is in ``data.id`` of a structured event
(JSON with an envelope), and in ``id`` of the body if the envelope is in headers (binary mode).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.client import (
    check_api_cluster_id,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.tracing import trace_id

__all__ = ["GARBAGE", "LARGEST", "MOST", "Event", "Read", "read_message"]

# Maximum bytes of a message: the brokers' own limits are far above an event of the sentinel.
LARGEST = 1024 * 1024
# Maximum events of one message: more than there are clusters. A broker limits the number of messages, not
# their content.
MOST = 10_000
# Why a message, or an event in it, is unusable. A fixed list, because metrics use it as a label.
GARBAGE = ("too_large", "too_many", "not_json", "not_an_event", "no_data", "no_id", "bad_id")
_UNKNOWN = "unknown"
# The prefixes of a binary event's attributes in HTTP, AMQP and Pub/Sub.
_PREFIXES = ("ce-", "ce_", "cloudevents:", "cloudevents_")
# The characters allowed in a metric's label and in a log.
_TYPE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}\Z")


@dataclass(frozen=True)
class Event:
    """One event about one cluster.

    :param type: ``unknown`` without a printable one.
    :param traceparent: of W3C Trace Context; None without a valid one.
    """

    cluster_id: str
    type: str = _UNKNOWN
    traceparent: str | None = None


@dataclass(frozen=True)
class Read:
    """The content of a message: events, and a word of ``GARBAGE`` for each unusable part."""

    events: tuple[Event, ...] = ()
    garbage: tuple[str, ...] = ()


class _Garbage(Exception):
    """Its argument is a word of ``GARBAGE``."""


def read_message(body: bytes, headers: Mapping[str, Any] | None = None) -> Read:
    """Read one message. Never raises, whatever it holds.

    :param headers: of HTTP or AMQP, or Pub/Sub's attributes; their names in any case.
    """
    attributes = {str(name).lower(): value for name, value in (headers or {}).items()}
    try:
        document = _decoded(body)
    except _Garbage as garbage:
        return Read(garbage=(str(garbage),))
    # The batched mode of HTTP.
    documents = document if isinstance(document, list) else [document]
    if len(documents) > MOST:
        return Read(garbage=("too_many",))
    events: list[Event] = []
    unusable: list[str] = []
    for one in documents:
        try:
            events.append(_event(one, attributes))
        except _Garbage as garbage:
            unusable.append(str(garbage))
    return Read(tuple(events), tuple(unusable) if documents else ("not_an_event",))


def _decoded(body: bytes) -> Any:
    if len(body) > LARGEST:
        raise _Garbage("too_large")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise _Garbage("not_json") from None


def _event(document: Any, headers: Mapping[str, Any]) -> Event:
    if not isinstance(document, Mapping):
        raise _Garbage("not_an_event")
    if "data" in document or "data_base64" in document or "specversion" in document:
        data, envelope = _data(document), document
    elif any(name.startswith(_PREFIXES) for name in headers):
        # Without a header of binary mode, `id` would be the id of an event without data.
        data, envelope = document, {}
    else:
        raise _Garbage("no_data")
    cluster_id = data.get("id")
    if not isinstance(cluster_id, str) or not cluster_id:
        raise _Garbage("no_id")
    try:
        check_api_cluster_id(cluster_id)
    except ConfigurationError:
        raise _Garbage("bad_id") from None
    kind = next((one for one in _values(envelope, headers, "type") if _TYPE.match(one)), _UNKNOWN)
    traces = (one.strip().lower() for one in _values(envelope, headers, "traceparent"))
    return Event(cluster_id, kind, next((one for one in traces if trace_id(one)), None))


def _data(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the event's data; some senders put JSON into a string, or into base64."""
    data = document.get("data")
    encoded = document.get("data_base64")
    if data is None and isinstance(encoded, str):
        try:
            data = base64.b64decode(encoded, validate=True)
        except ValueError:
            raise _Garbage("no_data") from None
    if isinstance(data, (str, bytes)):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError):
            raise _Garbage("no_data") from None
    if not isinstance(data, Mapping):
        raise _Garbage("no_data")
    return data


def _values(envelope: Mapping[str, Any], headers: Mapping[str, Any], name: str) -> Iterator[str]:
    """Return an attribute's values from the envelope and the headers, in this order."""
    found = [envelope.get(name), *(headers.get(prefix + name) for prefix in _PREFIXES)]
    if name == "traceparent":
        # The transport's own header, which all tracing libraries set.
        found.append(headers.get(name))
    for value in found:
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        if isinstance(value, str):
            yield value
