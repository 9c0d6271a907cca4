# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reading messages: the sentinel's, every form that the CloudEvents specification allows, and garbage."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.cloud_events import (
    GARBAGE,
    LARGEST,
    MOST,
    Event,
    Read,
    read_message,
)

CLUSTER = "019234ab-0000-7000-8000-000000000001"
TYPE = "com.redhat.hyperfleet.cluster.reconcile"
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
# The sentinel publishes neither a content type nor a time.
SENTINEL: dict[str, Any] = {
    "specversion": "1.0",
    "id": "0198c7a0-0000-7000-8000-000000000009",
    "source": "hyperfleet-sentinel",
    "type": TYPE,
    "datacontenttype": "application/json",
    "data": {"id": CLUSTER, "kind": "Cluster", "href": f"/clusters/{CLUSTER}", "generation": 2},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def read(document: Any, headers: dict[str, Any] | None = None) -> Read:
    return read_message(json.dumps(document).encode(), headers)


def test_the_sentinels_event() -> None:
    assert read(SENTINEL) == Read((Event(CLUSTER, TYPE),))
    assert read({**SENTINEL, "traceparent": TRACE}) == Read((Event(CLUSTER, TYPE, TRACE),))


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"type": "cluster.create"}, "cluster.create"),
        ({"type": None, "specversion": None, "id": 7}, "unknown"),
        ({"time": "not a time", "extra": {"more": [1]}}, TYPE),
        ({"data": {"id": CLUSTER}}, TYPE),
        ({"data": {"id": CLUSTER, "generation": "two", "owner_references": [1], "x": None}}, TYPE),
        ({"data": json.dumps({"id": CLUSTER})}, TYPE),
        (
            {"data": None, "data_base64": base64.b64encode(json.dumps({"id": CLUSTER}).encode()).decode()},
            TYPE,
        ),
        ({"traceparent": "no trace"}, TYPE),
        ({"traceparent": ["list"]}, TYPE),
    ],
)
def test_only_the_id_counts(changed: dict[str, Any], kind: str) -> None:
    assert read({**SENTINEL, **changed}) == Read((Event(CLUSTER, kind),))


@pytest.mark.parametrize(
    "headers",
    [
        {"ce-id": "1", "ce-type": TYPE, "ce-traceparent": TRACE},
        {"Ce-Id": "1", "Ce-Type": TYPE, "Traceparent": TRACE.upper()},
        {"cloudEvents:type": TYPE, "cloudEvents:traceparent": TRACE},
        {"cloudEvents_type": TYPE.encode(), "traceparent": TRACE},
    ],
)
def test_binary_events(headers: dict[str, Any]) -> None:
    assert read({"id": CLUSTER, "generation": 3}, headers) == Read((Event(CLUSTER, TYPE, TRACE),))


def test_a_list_of_events_is_a_batch_of_which_each_counts_for_itself() -> None:
    found = read([SENTINEL, {"specversion": "1.0"}, {**SENTINEL, "data": {"id": "cls-2"}}])
    assert [event.cluster_id for event in found.events] == [CLUSTER, "cls-2"]
    assert found.garbage == ("no_data",)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"", "not_json"),
        (b"\xff\xfe\x00", "not_json"),
        (b"[" * 100_000, "not_json"),
        (b" " * (LARGEST + 1), "too_large"),
        (b"[" + b"7," * MOST + b"7]", "too_many"),
        (b"7", "not_an_event"),
        (b"[]", "not_an_event"),
        # An id outside of data is the event's id, not a cluster's.
        (b'{"id": "0198c7a0", "source": "s", "type": "t"}', "no_data"),
        (b'{"specversion": "1.0", "id": "0198c7a0"}', "no_data"),
        (b'{"data": "no json"}', "no_data"),
        (b'{"data_base64": "???"}', "no_data"),
        (b'{"data": {}}', "no_id"),
        (b'{"data": {"id": 7}}', "no_id"),
        (b'{"data": {"id": "../other"}}', "bad_id"),
        (b'{"data": {"id": "a\'] or id in [\'b"}}', "bad_id"),
    ],
)
def test_garbage_has_a_reason(body: bytes, word: str) -> None:
    assert read_message(body) == Read(garbage=(word,))


@given(st.binary(max_size=200), st.dictionaries(st.text(), st.text() | st.binary() | st.integers()))
def test_no_bytes_raise(body: bytes, headers: dict[str, Any]) -> None:
    found = read_message(body, headers)
    assert found.events or found.garbage


@given(JSON, st.booleans())
def test_no_json_raises_and_each_reason_is_known(document: Any, binary: bool) -> None:
    found = read(document, {"ce-type": "t"} if binary else None)
    assert found.events or found.garbage
    assert set(found.garbage) <= set(GARBAGE)


@given(JSON, JSON)
def test_whatever_stands_around_it_the_cluster_is_found(envelope: Any, data: Any) -> None:
    envelope = envelope if isinstance(envelope, dict) else {"x": envelope}
    data = {**data, "id": CLUSTER} if isinstance(data, dict) else {"id": CLUSTER, "x": data}
    assert [event.cluster_id for event in read({**envelope, "data": data}).events] == [CLUSTER]
