# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The writing verbs: create, update, patch, delete, deletecollection."""

from __future__ import annotations

import json
import secrets
from typing import Any

from tests.stand_ins.http_server import Request
from tests.stand_ins.kubernetes import collecting
from tests.stand_ins.kubernetes.batch import new_job
from tests.stand_ins.kubernetes.kinds import decode, validate
from tests.stand_ins.kubernetes.patches import PATCH_TYPES, apply_patch
from tests.stand_ins.kubernetes.routing import Target
from tests.stand_ins.kubernetes.status import (
    ApiError,
    FieldError,
    conflict,
    field_invalid,
    forbidden,
    invalid,
    not_found,
)
from tests.stand_ins.kubernetes.store import Entry, Object, Store, entry_of, now

# Kept from the stored object whatever an update says.
_SERVER_OWNED = (
    "namespace",
    "uid",
    "creationTimestamp",
    "generateName",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_PROTECTED = ("default", "kube-public", "kube-system")


def parse_json(request: Request, kind: str) -> Any:
    """Decode the body; 400 when it is not JSON."""
    try:
        return json.loads(request.body)
    except ValueError:
        raise ApiError(
            400,
            f"the object provided is unrecognized (must be of type {kind}): "
            "couldn't get version/kind; json parse error",
        ) from None


def _dry_run(request: Request, options: str, body: Any = None) -> bool:
    value: str | None = request.query.get("dryRun")
    if value is None and isinstance(body, dict) and body.get("dryRun"):
        value = body["dryRun"][0]
    if not value:
        return False
    if value != "All":
        error = FieldError(
            "dryRun", "FieldValueNotSupported", f'Unsupported value: ["{value}"]: supported values: "All"'
        )
        raise invalid(options, "", [error], group="meta.k8s.io")
    return True


def create(store: Store, target: Target, request: Request) -> Entry:
    """POST to a collection."""
    resource = target.resource
    dry = _dry_run(request, "CreateOptions")
    raw = parse_json(request, resource.kind)
    obj = decode(resource, raw, strict=request.query.get("fieldValidation") == "Strict")
    metadata = obj["metadata"]
    if resource.namespaced:
        if target.namespace is None:
            raise ApiError(405, "the server does not allow this method on the requested resource", details={})
        if metadata.get("namespace", target.namespace) != target.namespace:
            raise ApiError(
                400, "the namespace of the provided object does not match the namespace sent on the request"
            )
        metadata["namespace"] = target.namespace
    else:
        metadata.pop("namespace", None)
    metadata.pop("uid", None)
    if metadata.get("generateName") and not metadata.get("name"):
        metadata["name"] = metadata["generateName"] + secrets.token_hex(3)[:5]
    if resource.namespaced:
        _admit_to_namespace(store, target, metadata)
    if resource.plural == "jobs":
        new_job(obj)
    validate(resource, obj, None)
    if metadata.pop("resourceVersion", ""):
        raise ApiError(500, "resourceVersion should not be set on objects to be created", reason="")
    return store.create(resource, obj, dry_run=dry)


def _admit_to_namespace(store: Store, target: Target, metadata: Object) -> None:
    space = store.find("namespaces", "", target.space)
    if space is None:
        raise not_found("namespaces", target.space)
    if space["metadata"].get("deletionTimestamp"):
        raise forbidden(
            target.resource.qualified,
            metadata.get("name", ""),
            f"unable to create new content in namespace {target.space} because it is being terminated",
            [
                {
                    "reason": "NamespaceTerminating",
                    "message": f"namespace {target.space} is being terminated",
                    "field": "metadata.namespace",
                }
            ],
        )


def update(store: Store, target: Target, request: Request) -> Entry:
    """PUT of one object."""
    dry = _dry_run(request, "UpdateOptions")
    raw = parse_json(request, target.resource.kind)
    new = decode(target.resource, raw, strict=request.query.get("fieldValidation") == "Strict")
    _check_name(target, new["metadata"])
    old = store.get(target.resource, target.space, target.name)
    return _store_update(store, target, old, new, dry=dry)


def patch(store: Store, target: Target, request: Request) -> Entry:
    """PATCH of one object."""
    dry = _dry_run(request, "PatchOptions")
    resource = target.resource
    content_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if content_type not in PATCH_TYPES:
        raise ApiError(415, "415: Unsupported Media Type", details={})
    old = store.get(resource, target.space, target.name)
    try:
        body = json.loads(request.body)
    except ValueError:
        raise ApiError(400, "error decoding patch: not JSON") from None
    known = {"kind": resource.kind, "apiVersion": resource.api_version, **old.obj}
    patched = apply_patch(content_type, resource.kind, known, body)
    try:
        new = decode(resource, patched, strict=request.query.get("fieldValidation") == "Strict")
    except ApiError as error:
        raise _undecodable(patched, error) from None
    _check_name(target, new["metadata"])
    return _store_update(store, target, old, new, dry=dry, patched=True)


def _undecodable(patched: Object, error: ApiError) -> ApiError:
    """422 for a patch whose result has wrong types. The real server repeats the whole object, data and all:
    a client that prints this message prints the secret."""
    why = error.message.partition(": ")[2] or error.message
    wrong = field_invalid("patch", json.dumps(patched, separators=(",", ":"), sort_keys=True), why)
    return invalid("", "", [wrong])


def _check_name(target: Target, metadata: Object) -> None:
    name = metadata.get("name", "")
    if not name:
        raise ApiError(
            400,
            f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided",
        )
    if name != target.name:
        raise ApiError(
            400, f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        )
    if target.resource.namespaced and metadata.get("namespace", target.space) != target.space:
        raise ApiError(
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        )


def _store_update(
    store: Store, target: Target, old: Entry, new: Object, *, dry: bool, patched: bool = False
) -> Entry:
    resource, before = target.resource, old.obj["metadata"]
    metadata = new["metadata"]
    if metadata.get("uid", before["uid"]) != before["uid"]:
        if patched:
            error = field_invalid("metadata.uid", metadata["uid"], "field is immutable")
            raise invalid(resource.kind, target.name, [error], group=resource.group)
        key = f"/registry/{resource.plural}/{target.space}/{target.name}"
        raise conflict(
            resource.qualified,
            target.name,
            f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {metadata['uid']}, "
            f"UID in object meta: {before['uid']}",
        )
    sent = metadata.get("resourceVersion", "")
    if sent and not sent.isdigit():
        raise ApiError(500, f'strconv.ParseUint: parsing "{sent}": invalid syntax', reason="")
    if sent not in ("", before["resourceVersion"]):
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
        new["status"] = old.obj["status"]
    validate(resource, new, old.obj)
    metadata["resourceVersion"] = before["resourceVersion"]
    if before.get("deletionTimestamp") and not metadata.get("finalizers") and not dry:
        store.remove(resource, target.space, target.name)
        return entry_of(new)
    if new == old.obj:
        return old
    return entry_of(new) if dry else store.replace(resource, new)


class Deleted:
    """What a DELETE did: ``entry`` is the last state; ``gone`` is False while finalizers hold it."""

    def __init__(self, entry: Entry, *, gone: bool) -> None:
        self.entry = entry
        self.gone = gone


def delete(store: Store, target: Target, request: Request) -> Deleted:
    """DELETE of one object; the body may hold ``DeleteOptions``."""
    body = parse_json(request, "DeleteOptions") if request.body.strip() else {}
    dry = _dry_run(request, "DeleteOptions", body)
    resource, name = target.resource, target.name
    if resource.plural == "namespaces" and name in _PROTECTED:
        raise forbidden("namespaces", name, "this namespace may not be deleted")
    old = store.get(resource, target.space, name)
    metadata = old.obj["metadata"]
    wanted = (body or {}).get("preconditions") or {}
    uid, version = wanted.get("uid"), wanted.get("resourceVersion")
    # Here, and only here, the real server names the kind instead of the resource.
    if uid and uid != metadata["uid"]:
        raise conflict(
            resource.kind,
            name,
            f"the UID in the precondition ({uid}) does not match the UID in record ({metadata['uid']}). "
            "The object might have been deleted and then recreated",
        )
    if version and version != metadata["resourceVersion"]:
        raise conflict(
            resource.kind,
            name,
            f"the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in "
            f"record ({metadata['resourceVersion']}). The object might have been modified",
        )
    if dry or resource.plural not in ("jobs", "pods"):
        return _remove(store, target, old, dry)
    if resource.plural == "pods":
        return _remove_pod(store, target, old, collecting.grace_of(body, request.query))
    policy = collecting.propagation_of(body, request.query)
    deleted = _remove(store, target, collecting.held(old) if policy == "Foreground" else old, dry)
    collecting.collect(store, old.obj, policy)
    return deleted


def _remove_pod(store: Store, target: Target, old: Entry, grace: int | None) -> Deleted:
    """Where a kubelet has it, it stays until that has ended it, and says so by a second DELETE."""
    if grace == 0 or not collecting.lingers(old.obj):
        deleted = _remove(store, target, old, False)
        collecting.release(store, old.obj)
        return deleted
    return Deleted(collecting.mark(store, old), gone=False)


def _remove(store: Store, target: Target, old: Entry, dry: bool) -> Deleted:
    """Remove an object, or mark it when finalizers hold it. A namespace says that it is terminating."""
    resource, metadata = target.resource, old.obj["metadata"]
    held = bool(metadata.get("finalizers"))
    marked = {
        **old.obj,
        "metadata": {**metadata, "deletionTimestamp": metadata.get("deletionTimestamp") or now()},
    }
    if resource.plural == "namespaces":
        marked["status"] = {"phase": "Terminating"}
    else:
        marked["metadata"]["deletionGracePeriodSeconds"] = 0
    if dry:
        return Deleted(entry_of(marked) if held else old, gone=not held)
    if not held:
        last = store.remove(resource, target.space, metadata["name"])
        return Deleted(entry_of(marked) if resource.plural == "namespaces" else last, gone=True)
    if metadata.get("deletionTimestamp"):
        return Deleted(old, gone=False)
    entry = store.replace(resource, marked)
    if resource.plural == "namespaces":
        store.empty_namespace(metadata["name"])
    return Deleted(entry, gone=False)


def delete_collection(store: Store, target: Target, request: Request, chosen: list[Entry]) -> list[Entry]:
    """DELETE of a collection: every object the selectors chose."""
    dry = _dry_run(request, "DeleteOptions")
    for entry in chosen:
        metadata = entry.obj["metadata"]
        one = Target(target.resource, metadata.get("namespace"), metadata["name"], "delete")
        _remove(store, one, entry, dry)
    return chosen
