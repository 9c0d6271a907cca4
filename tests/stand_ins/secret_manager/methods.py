# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The methods of the API: each takes a request message and returns its answer, or raises GoogleAPICallError."""

from __future__ import annotations

from collections.abc import Callable

from google.api_core.exceptions import FailedPrecondition, InvalidArgument
from google.protobuf.field_mask_pb2 import FieldMask
from google_crc32c import value as crc32c

from . import limits
from .lists import fill_page
from .names import parse
from .protos import (
    DESTROYED,
    DISABLED,
    ENABLED,
    AccessSecretVersionResponse,
    Empty,
    ListSecretsResponse,
    ListSecretVersionsResponse,
    Message,
    Secret,
)
from .store import Store, changed, wrong_state

__all__ = ["HANDLERS", "add_version"]

# What a client may say of a new secret; the server sets the last three itself.
_OF_NEW = {"annotations", "labels", "replication", "name", "create_time", "etag"}
# What the collection updates.
_UPDATABLE = {"annotations", "labels"}


def _check_etag(request: Message, found: Message) -> None:
    """A mismatch is FAILED_PRECONDITION (HTTP 400): the documentation's page on etags."""
    if request.etag not in ("", found.etag):
        raise FailedPrecondition(f"The etag provided for [{found.name}] does not match its current etag.")


def _create_secret(store: Store, request: Message) -> Message:
    (project,) = parse(request.parent, 1)
    limits.check_secret_id(request.secret_id)
    sent = request.secret
    if others := {field.name for field, _value in sent.ListFields()} - _OF_NEW:
        raise InvalidArgument(f"The stand-in does not support these fields of a secret: {sorted(others)}.")
    message = Secret(labels=sent.labels, annotations=sent.annotations, replication=sent.replication)
    limits.check_secret(message)
    store.create(project, request.secret_id, message)
    return message


def _get_secret(store: Store, request: Message) -> Message:
    return store.get(*parse(request.name, 2)).message


def _update_secret(store: Store, request: Message) -> Message:
    name = parse(request.secret.name, 2)
    paths = set(request.update_mask.paths) - {"etag"}
    if not paths or not paths <= _UPDATABLE:
        raise InvalidArgument("The update mask is empty, or names a field that cannot be updated.")
    with store.lock:
        record = store.get(*name)
        _check_etag(request.secret, record.message)
        message = changed(record.message)
        FieldMask(paths=paths).MergeMessage(request.secret, message, replace_repeated_field=True)
        limits.check_secret(message)
        store.update(record, message)
        return message


def _delete_secret(store: Store, request: Message) -> Message:
    name = parse(request.name, 2)
    with store.lock:
        _check_etag(request, store.get(*name).message)
        store.delete(*name)
    return Empty()


def _list_secrets(store: Store, request: Message) -> Message:
    """Newest first."""
    response = ListSecretsResponse()
    with store.lock:
        messages = [record.message for record in store.newest_first(*parse(request.parent, 1))]
    items = ((message.create_time.ToMicroseconds(), message) for message in messages)
    response.next_page_token = fill_page(request, response.secrets, items)
    return response


def add_version(store: Store, request: Message, *, damage: Callable[[bytes], bytes] | None = None) -> Message:
    """`damage` changes what is stored, for tests of a read-back."""
    name = parse(request.parent, 2)
    sent = request.payload
    checked = sent.HasField("data_crc32c")
    if not 1 <= len(sent.data) <= limits.MAX_PAYLOAD:
        raise InvalidArgument(f"Secret Payload must be 1 to {limits.MAX_PAYLOAD} bytes.")
    if checked and sent.data_crc32c != crc32c(sent.data):
        raise InvalidArgument("The checksum provided in [payload.data_crc32c] does not match the payload.")
    payload = damage(sent.data) if damage else sent.data
    with store.lock:
        return store.add_version(store.get(*name), payload, checked=checked).message


def _get_version(store: Store, request: Message) -> Message:
    with store.lock:
        return store.get_version(request.name, latest=True)[1].message


def _access_version(store: Store, request: Message) -> Message:
    with store.lock:
        _record, version = store.get_version(request.name, latest=True)
    if version.state != ENABLED:
        raise wrong_state(version)
    payload = {"data": version.payload, "data_crc32c": crc32c(version.payload)}
    return AccessSecretVersionResponse(name=version.message.name, payload=payload)


def _list_versions(store: Store, request: Message) -> Message:
    """Newest first."""
    response = ListSecretVersionsResponse()
    with store.lock:
        versions = store.get(*parse(request.parent, 2)).versions.copy()
    items = ((version.number, version.message) for version in reversed(versions))
    response.next_page_token = fill_page(request, response.versions, items)
    return response


def _setter(state: int) -> Callable[[Store, Message], Message]:
    def set_state(store: Store, request: Message) -> Message:
        """A version is changed by number only; the etag must fit if one is sent, and changes in any case."""
        with store.lock:
            record, version = store.get_version(request.name, latest=False)
            _check_etag(request, version.message)
            return store.set_version_state(record, version, state).message

    return set_state


HANDLERS: dict[str, Callable[[Store, Message], Message]] = {
    "CreateSecret": _create_secret,
    "GetSecret": _get_secret,
    "UpdateSecret": _update_secret,
    "DeleteSecret": _delete_secret,
    "ListSecrets": _list_secrets,
    "AddSecretVersion": add_version,
    "GetSecretVersion": _get_version,
    "AccessSecretVersion": _access_version,
    "ListSecretVersions": _list_versions,
    "EnableSecretVersion": _setter(ENABLED),
    "DisableSecretVersion": _setter(DISABLED),
    "DestroySecretVersion": _setter(DESTROYED),
}
