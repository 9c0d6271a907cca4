# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CreateSecret, GetSecret, UpdateSecret, DeleteSecret, ListSecrets."""

from __future__ import annotations

from . import limits
from .errors import failed_precondition, invalid
from .filters import compile_secret_filter
from .names import parse_project, parse_secret
from .pages import make_token, page_size, read_token, take_page
from .protos import Empty, ListSecretsResponse, Message, Replication, Secret
from .records import Record
from .store import Store, expire, new_secret, replication_status

DEFAULT_PAGE = 100

_UPDATABLE = {
    "annotations",
    "expire_time",
    "labels",
    "replication",
    "rotation",
    "topics",
    "ttl",
    "version_aliases",
    "version_destroy_ttl",
}


def check_etag(sent: str, record: Record) -> None:
    """A mismatch is FAILED_PRECONDITION (HTTP 400): the documentation's page on etags."""
    if sent and sent != record.message.etag:
        raise failed_precondition(
            f"The etag provided for Secret [{record.message.name}] does not match its current etag."
        )


def create(store: Store, request: Message) -> Message:
    project = parse_project(request.parent)
    limits.check_secret_id(request.secret_id)
    if not request.HasField("secret"):
        raise invalid("Field [secret] is required.")
    message = new_secret(request.secret)
    limits.check_replication(message.replication)
    _check(message, versions=0)
    return store.create(project, request.secret_id, message).message


def _check(message: Message, versions: int) -> None:
    limits.check_labels(message.labels)
    limits.check_annotations(message.annotations)
    limits.check_aliases(message.version_aliases, versions)
    limits.check_destroy_ttl(message)


def get(store: Store, request: Message) -> Message:
    with store.lock:
        return store.get(*parse_secret(request.name)).message


def update(store: Store, request: Message) -> Message:
    name = parse_secret(request.secret.name)
    paths = [path for path in request.update_mask.paths if path != "etag"]
    if not paths:
        raise invalid("Field [update_mask] is required.")
    for path in paths:
        if path not in _UPDATABLE:
            raise invalid(f"The update mask's field [{path}] is unknown or cannot be updated.")
    with store.lock:
        record = store.get(*name)
        check_etag(request.secret.etag, record)
        message = Secret()
        message.CopyFrom(record.message)
        patch = Secret()
        patch.CopyFrom(request.secret)
        for path in paths:
            if path == "replication":
                _check_same_places(message.replication, patch.replication)
            message.ClearField(path)
            _set(message, path, patch)
        _check(message, len(record.versions))
        now = store.now()
        expire(message, now)
        message.etag = store.etag(now)
        record.message = message
        if "replication" in paths:
            record.status = replication_status(message.replication)
        store.changed(record)
        return message


def _set(message: Message, path: str, patch: Message) -> None:
    """Take one field over. Merging into a cleared field copies it whole, be it a map, a list or a message."""
    only = Secret()
    only.CopyFrom(patch)
    for descriptor, _value in patch.ListFields():
        if descriptor.name != path:
            only.ClearField(descriptor.name)
    message.MergeFrom(only)


def _check_same_places(old: Message, new: Message) -> None:
    """The policy is immutable but for its keys."""
    limits.check_replication(new)
    if _without_keys(old) != _without_keys(new):
        raise invalid("The replication policy of a secret cannot be changed.")


def _without_keys(replication: Message) -> Message:
    bare = Replication()
    bare.CopyFrom(replication)
    if bare.WhichOneof("replication") == "automatic":
        bare.automatic.ClearField("customer_managed_encryption")
    for replica in bare.user_managed.replicas if bare.HasField("user_managed") else ():
        replica.ClearField("customer_managed_encryption")
    return bare


def delete(store: Store, request: Message) -> Message:
    project, secret_id = parse_secret(request.name)
    with store.lock:
        check_etag(request.etag, store.get(project, secret_id))
        store.delete(project, secret_id)
    return Empty()


def list_page(store: Store, request: Message) -> Message:
    """Newest first; `total_size` only without a filter."""
    project = parse_project(request.parent)
    size = page_size(request.page_size, DEFAULT_PAGE)
    predicate = compile_secret_filter(request.filter) if request.filter.strip() else None
    scope = f"{store.projects.number(project)} {request.filter}"
    before = read_token(scope, request.page_token)
    response = ListSecretsResponse()
    with store.lock:
        page, more = take_page(
            store.newest_first(project, before),
            lambda record: predicate is None or predicate(record.message),
            size,
        )
        if predicate is None:
            response.total_size = store.count(project)
        messages = [record.message for record in page]
    response.secrets.extend(messages)
    if more:
        response.next_page_token = make_token(scope, page[-1].sequence)
    return response
