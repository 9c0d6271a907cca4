# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Add, Get, Access, List, Enable, Disable and Destroy of SecretVersions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from google_crc32c import value as crc32c

from .errors import failed_precondition, invalid
from .filters import compile_version_filter
from .limits import MAX_PAYLOAD
from .names import parse_secret
from .pages import make_token, page_size, read_token, take_page
from .protos import (
    DESTROYED,
    DISABLED,
    ENABLED,
    AccessSecretVersionResponse,
    ListSecretVersionsResponse,
    Message,
)
from .records import Record, Version
from .store import Store, wrong_state

DEFAULT_PAGE = 100
_ENABLED_FILTERS = {"state:ENABLED", "state=ENABLED", "state = ENABLED", "state: ENABLED"}


def add(store: Store, request: Message, *, damage: Callable[[bytes], bytes] | None = None) -> Message:
    """`damage` changes what is stored, for tests of a read-back."""
    name = parse_secret(request.parent)
    if not request.HasField("payload"):
        raise invalid("Field [payload] is required.")
    payload = request.payload.data
    if not payload:
        raise invalid("Secret Payload cannot be empty.")
    if len(payload) > MAX_PAYLOAD:
        raise invalid(f"Secret Payload must be at most {MAX_PAYLOAD} bytes.")
    crc = crc32c(payload)
    checked = request.payload.HasField("data_crc32c")
    if checked and request.payload.data_crc32c != crc:
        raise invalid("The checksum provided in [payload.data_crc32c] does not match the payload.")
    if damage is not None:
        payload = damage(payload)
        crc = crc32c(payload)
    with store.lock:
        record = store.get(*name)
        return record.version_message(store.add_version(record, payload, crc=crc, checked=checked))


def get(store: Store, request: Message) -> Message:
    with store.lock:
        record, version = store.get_version(request.name, aliases=True)
        return record.version_message(version)


def access(store: Store, request: Message) -> Message:
    with store.lock:
        record, version = store.get_version(request.name, aliases=True)
        if version.state != ENABLED:
            raise wrong_state(record, version)
        name = f"{record.message.name}/versions/{version.number}"
        data, crc = version.payload, version.crc
    return AccessSecretVersionResponse(name=name, payload={"data": data, "data_crc32c": crc})


def list_page(store: Store, request: Message) -> Message:
    """Newest first; `total_size` only without a filter. The enabled ones come from an index."""
    parent = parse_secret(request.parent)
    size = page_size(request.page_size, DEFAULT_PAGE)
    text = request.filter.strip()
    scope = f"{store.secret_name(*parent)} {text}"
    response = ListSecretVersionsResponse()
    before = read_token(scope, request.page_token)
    with store.lock:
        record = store.get(*parent)
        numbers: Iterable[int]
        predicate = None
        if text in _ENABLED_FILTERS:
            numbers = _descending(record.enabled, before)
        else:
            predicate = compile_version_filter(text) if text else None
            first = len(record.versions) if before is None else min(before - 1, len(record.versions))
            numbers = range(first, 0, -1)
        page, more = take_page(
            (record.version_message(record.versions[number - 1]) for number in numbers),
            lambda message: predicate is None or predicate(message),
            size,
        )
        if not text:
            response.total_size = len(record.versions)
    response.versions.extend(page)
    if more:
        response.next_page_token = make_token(scope, int(page[-1].name.rpartition("/")[2]))
    return response


def _descending(enabled: list[int], before: int | None) -> Iterable[int]:
    for index in range(len(enabled) - 1, -1, -1):
        if before is None or enabled[index] < before:
            yield enabled[index]


def enable(store: Store, request: Message) -> Message:
    return _set_state(store, request, ENABLED)


def disable(store: Store, request: Message) -> Message:
    return _set_state(store, request, DISABLED)


def destroy(store: Store, request: Message) -> Message:
    return _set_state(store, request, DESTROYED)


def _set_state(store: Store, request: Message, state: int) -> Message:
    """A version is changed by number only; the etag must fit if one is sent, and changes in any case."""
    with store.lock:
        record, version = store.get_version(request.name, aliases=False)
        _check_etag(request.etag, record, version)
        store.set_version_state(record, version, state)
        return record.version_message(version)


def _check_etag(sent: str, record: Record, version: Version) -> None:
    if sent and sent != version.etag:
        raise failed_precondition(
            f"The etag provided for Secret Version [{record.message.name}/versions/{version.number}] "
            "does not match its current etag."
        )
