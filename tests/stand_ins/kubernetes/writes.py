# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The writing verbs: create, update, patch, delete."""

from __future__ import annotations

import json
import secrets
from typing import Any, NamedTuple

from tests.stand_ins.http_server import Request
from tests.stand_ins.kubernetes import collecting
from tests.stand_ins.kubernetes.decoding import decode, new_job, read_body
from tests.stand_ins.kubernetes.routing import Target
from tests.stand_ins.kubernetes.status import ApiError, conflict, forbidden, not_found
from tests.stand_ins.kubernetes.store import Entry, Object, Store, entry_of, now
from tests.stand_ins.kubernetes.validation import validate

MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
# Kept from the stored object whatever an update says.
_SERVER_OWNED = (
    "namespace",
    "uid",
    "creationTimestamp",
    "generateName",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)


def _is_dry(request: Request, body: Object | None = None) -> bool:
    return request.query.get("dryRun") == "All" or (body or {}).get("dryRun") == ["All"]


def _decoded(target: Target, request: Request, raw: Object) -> Object:
    return decode(target.resource, raw, strict=request.query.get("fieldValidation") == "Strict")


def create(store: Store, target: Target, request: Request) -> Entry:
    """POST to a collection."""
    resource = target.resource
    obj = _decoded(target, request, read_body(request, resource.kind))
    metadata = obj["metadata"]
    metadata.pop("uid", None)
    if metadata.pop("resourceVersion", ""):
        raise ApiError(500, "resourceVersion should not be set on objects to be created", reason="")
    if metadata.get("generateName") and not metadata.get("name"):
        metadata["name"] = metadata["generateName"] + secrets.token_hex(3)[:5]
    if resource.namespaced:
        _check_namespace(target, metadata)
        metadata["namespace"] = target.namespace
        _admit_to_namespace(store, target, metadata)
    if resource.plural == "jobs":
        new_job(obj)
    validate(resource, obj, None)
    return store.create(resource, obj, dry_run=_is_dry(request))


def _check_namespace(target: Target, metadata: Object) -> None:
    if metadata.get("namespace", target.space) != target.space:
        text = "the namespace of the provided object does not match the namespace sent on the request"
        raise ApiError(400, text)


def _admit_to_namespace(store: Store, target: Target, metadata: Object) -> None:
    space = store.find("namespaces", "", target.space)
    if space is None:
        raise not_found("namespaces", target.space)
    if space["metadata"].get("deletionTimestamp"):
        reason = "NamespaceTerminating"
        ended = f"namespace {target.space} is being terminated"
        why = f"unable to create new content in namespace {target.space} because it is being terminated"
        error = forbidden(target.resource.qualified, metadata.get("name", ""), why)
        cause = {"reason": reason, "message": ended, "field": "metadata.namespace"}
        error.details = {**(error.details or {}), "causes": [cause]}
        raise error


def update(store: Store, target: Target, request: Request) -> Entry:
    """PUT of one object."""
    new = _decoded(target, request, read_body(request, target.resource.kind))
    return _store_update(store, target, request, new)


def patch(store: Store, target: Target, request: Request) -> Entry:
    """PATCH of one object."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if content_type == APPLY_PATCH:
        return _apply(store, target, request)
    if content_type not in (MERGE_PATCH, STRATEGIC_PATCH):
        raise ApiError(415, "415: Unsupported Media Type", details={})
    old = store.get(target.resource, target.space, target.name)
    try:
        body = json.loads(request.body)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ApiError(400, "error decoding patch: not a JSON object")
    return _store_update(store, target, request, _decoded(target, request, merge(old.obj, body)))


def _apply(store: Store, target: Target, request: Request) -> Entry:
    """Server-side apply of JSON by the only manager: what it applied before and no longer does is removed."""
    body = json.loads(request.body)
    key = (target.resource.plural, target.space, target.name)
    old = store.find(*key)
    if old is None:
        headers = {**request.headers, "content-type": "application/json"}
        entry = create(store, target, Request(request.method, request.target, headers, request.body))
    else:
        uid, applied = store.applied.get(key, ("", {}))
        gone = _absent_from(body, applied) if uid == old["metadata"]["uid"] else {}
        new = merge(merge(old, gone), body)
        entry = _store_update(store, target, request, _decoded(target, request, new))
    if not _is_dry(request):
        store.applied[key] = (entry.obj["metadata"]["uid"], body)
    return entry


def _absent_from(body: Object, applied: Object) -> Object:
    """Return a merge patch that removes what ``body`` lacks of ``applied``."""
    patch: Object = {key: None for key in applied if key not in body}
    for key, value in applied.items():
        if isinstance(value, dict) and isinstance(body.get(key), dict):
            patch[key] = _absent_from(body[key], value)
    return patch


def merge(target: Any, patch: Any) -> Any:
    """Apply a JSON merge patch (RFC 7386), or a strategic one without lists that have a merge key."""
    if not isinstance(patch, dict):
        return patch
    out = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
        elif not key.startswith("$"):  # a directive of a strategic patch
            out[key] = merge(out.get(key), value)
    return out


def _store_update(store: Store, target: Target, request: Request, new: Object) -> Entry:
    resource, metadata = target.resource, new["metadata"]
    if metadata.get("name", "") != target.name:
        name = metadata.get("name", "")
        text = f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        raise ApiError(400, text)
    if resource.namespaced:
        _check_namespace(target, metadata)
    old = store.get(resource, target.space, target.name)
    before = old.obj["metadata"]
    if metadata.get("uid", before["uid"]) != before["uid"]:
        sent = f"UID in precondition: {metadata['uid']}, UID in object meta: {before['uid']}"
        raise conflict(resource.qualified, target.name, f"Precondition failed: {sent}")
    if metadata.get("resourceVersion", "") not in ("", before["resourceVersion"]):
        raise conflict(resource.qualified, target.name)
    for key in _SERVER_OWNED:
        metadata.pop(key, None)
        if key in before:
            metadata[key] = before[key]
    if resource.plural == "namespaces":
        new["spec"], new["status"] = old.obj["spec"], old.obj["status"]
    elif target.sub:
        # Of the rest of what was sent nothing counts.
        metadata = {**before}
        new = {**old.obj, "status": new.get("status") or {}, "metadata": metadata}
    elif resource.subresources or resource.plural == "daemonsets":
        new["status"] = old.obj.get("status") or {}
    validate(resource, new, old.obj)
    metadata["resourceVersion"] = before["resourceVersion"]
    dry = _is_dry(request)
    if before.get("deletionTimestamp") and not metadata.get("finalizers") and not dry:
        store.remove(resource, target.space, target.name)
        return entry_of(new)
    if new == old.obj:
        return old
    return entry_of(new) if dry else store.replace(resource, new)


class Deleted(NamedTuple):
    """What a DELETE did: ``entry`` is the last state; ``gone`` is False while finalizers hold it."""

    entry: Entry
    gone: bool


def delete(store: Store, target: Target, request: Request) -> Deleted:
    """DELETE of one object; the body may hold ``DeleteOptions``."""
    body = read_body(request, "DeleteOptions") if request.body.strip() else {}
    dry = _is_dry(request, body)
    resource = target.resource
    old = store.get(resource, target.space, target.name)
    _check_preconditions(target, old, body.get("preconditions") or {})
    if dry or resource.plural not in ("jobs", "pods"):
        return _remove(store, target, old, dry)
    if resource.plural == "pods":
        grace = body.get("gracePeriodSeconds", request.query.get("gracePeriodSeconds"))
        # Where a kubelet has it, it stays until that has ended it, and says so by a second DELETE.
        if str(grace) != "0" and collecting.lingers(old.obj):
            return Deleted(collecting.mark(store, old), gone=False)
        deleted = _remove(store, target, old, dry)
        collecting.release(store, old.obj)
        return deleted
    # Of a Job where nothing is said the pods are left behind, as they were when batch/v1 began.
    policy = body.get("propagationPolicy") or request.query.get("propagationPolicy") or "Orphan"
    deleted = _remove(store, target, collecting.held(old) if policy == "Foreground" else old, dry)
    collecting.collect(store, old.obj, policy)
    return deleted


def _check_preconditions(target: Target, old: Entry, wanted: Object) -> None:
    for field, shown in (("uid", "UID"), ("resourceVersion", "ResourceVersion")):
        value, found = wanted.get(field), old.obj["metadata"][field]
        if value and value != found:
            why = f"the {shown} in the precondition ({value}) does not match the {shown} in record ({found})"
            # Here, and only here, the real server names the kind instead of the resource.
            raise conflict(target.resource.kind, target.name, why)


def _remove(store: Store, target: Target, old: Entry, dry: bool) -> Deleted:
    """Remove an object, or mark it when finalizers hold it. A namespace says that it is terminating."""
    resource, metadata = target.resource, old.obj["metadata"]
    held = bool(metadata.get("finalizers"))
    if dry or (held and metadata.get("deletionTimestamp")):
        return Deleted(old, gone=not held)
    marked = {**old.obj, "metadata": {**metadata, "deletionTimestamp": now()}}
    if resource.plural == "namespaces":
        marked["status"] = {"phase": "Terminating"}
    else:
        marked["metadata"]["deletionGracePeriodSeconds"] = 0
    if not held:
        last = store.remove(resource, target.space, target.name)
        return Deleted(entry_of(marked) if resource.plural == "namespaces" else last, gone=True)
    entry = store.replace(resource, marked)
    if resource.plural == "namespaces":
        store.empty_namespace(target.name)
    return Deleted(entry, gone=False)
