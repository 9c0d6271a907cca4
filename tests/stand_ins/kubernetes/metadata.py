# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decoding and validation of metadata: names, labels, annotations, what an update may not change."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.stand_ins.kubernetes.resources import Resource
from tests.stand_ins.kubernetes.status import (
    ApiError,
    FieldError,
    field_forbidden,
    field_invalid,
    field_required,
    field_too_long,
)

Object = dict[str, Any]

ANNOTATIONS_LIMIT = 256 * 1024

_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
_NAME_PART_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_LABEL_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used "
    "for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)

# Metadata a client may send; everything else in it belongs to the server.
_STRING_MAPS = ("labels", "annotations")
_STRINGS = ("name", "generateName", "namespace", "uid", "resourceVersion", "creationTimestamp")
_LISTS = ("finalizers", "ownerReferences")


def wrong_type(kind: str, found: Any, field: str, wanted: str) -> ApiError:
    """400: a value of the wrong JSON type; the message names the type found, never the value."""
    names = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    what = names.get(type(found), "null")
    return ApiError(
        400,
        f'{kind} in version "v1" cannot be handled as a {kind}: json: cannot unmarshal {what} into '
        f"Go struct field {field} of type {wanted}",
    )


def string_map(kind: str, value: Any, field: str, item: str = "string") -> dict[str, str]:
    """Decode an optional map of strings; null values become empty strings, as in Go."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise wrong_type(kind, value, field, f"map[string]{item}")
    for found in value.values():
        if found is not None and not isinstance(found, str):
            raise wrong_type(kind, found, field, item)
    return {key: found or "" for key, found in value.items()}


def decode_metadata(kind: str, raw: Any) -> Object:
    """Return metadata with known fields only, empty ones left out."""
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise wrong_type(kind, raw, f"{kind}.metadata", "v1.ObjectMeta")
    out: Object = {}
    for key in _STRINGS:
        value = raw.get(key)
        if value is not None and not isinstance(value, str):
            raise wrong_type(kind, value, f"ObjectMeta.metadata.{key}", "string")
        if value:
            out[key] = value
    for key in _STRING_MAPS:
        found = string_map(kind, raw.get(key), f"ObjectMeta.metadata.{key}")
        if found:
            out[key] = found
    for key in _LISTS:
        items = raw.get(key)
        if items is not None and not isinstance(items, list):
            raise wrong_type(kind, items, f"ObjectMeta.metadata.{key}", f"[]{key}")
        if items:
            out[key] = items
    return out


def _qualified(field: str, key: str) -> list[FieldError]:
    prefix, slash, name = key.rpartition("/")
    errors = []
    if slash and not prefix:
        errors.append(field_invalid(field, key, "prefix part must be non-empty"))
    elif slash and (len(prefix) > 253 or not _SUBDOMAIN.fullmatch(prefix)):
        errors.append(field_invalid(field, key, f"prefix part {_SUBDOMAIN_TEXT}"))
    if not name:
        errors.append(field_invalid(field, key, "name part must be non-empty"))
    elif len(name) > 63:
        errors.append(field_invalid(field, key, "name part must be no more than 63 characters"))
    if not _QUALIFIED.fullmatch(name):
        errors.append(field_invalid(field, key, _NAME_PART_TEXT))
    return errors


def label_errors(field: str, labels: dict[str, str]) -> list[FieldError]:
    """What is wrong with labels."""
    errors: list[FieldError] = []
    for key, value in labels.items():
        errors += _qualified(field, key)
        if len(value) > 63:
            errors.append(field_invalid(field, value, "must be no more than 63 characters"))
        if value and not _QUALIFIED.fullmatch(value):
            errors.append(field_invalid(field, value, _LABEL_VALUE_TEXT))
    return errors


def validate_metadata(resource: Resource, metadata: Object) -> list[FieldError]:
    """Check what is checked on create and on update."""
    errors: list[FieldError] = []
    name = metadata.get("name", "")
    if not name:
        errors.append(field_required("metadata.name", "name or generateName is required"))
    elif resource.plural == "namespaces":
        if len(name) > 63:
            errors.append(field_invalid("metadata.name", name, "must be no more than 63 characters"))
        if not _LABEL.fullmatch(name):
            errors.append(field_invalid("metadata.name", name, _LABEL_TEXT))
    else:
        if len(name) > 253:
            errors.append(field_invalid("metadata.name", name, "must be no more than 253 characters"))
        if not _SUBDOMAIN.fullmatch(name):
            errors.append(field_invalid("metadata.name", name, _SUBDOMAIN_TEXT))
    errors += label_errors("metadata.labels", metadata.get("labels", {}))
    for index, finalizer in enumerate(metadata.get("finalizers", [])):
        field = f"metadata.finalizers[{index}]"
        if "/" not in finalizer:
            standard = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(field_invalid(field, finalizer, standard))
        errors += _qualified(field, finalizer)
    annotations = metadata.get("annotations", {})
    for key in annotations:
        errors += _qualified("metadata.annotations", key.lower())
    if sum(len(k.encode()) + len(v.encode()) for k, v in annotations.items()) > ANNOTATIONS_LIMIT:
        errors.append(field_too_long("metadata.annotations", ANNOTATIONS_LIMIT))
    return errors


def validate_metadata_update(resource: Resource, metadata: Object, old: Object) -> list[FieldError]:
    """Check what only an update can get wrong."""
    errors: list[FieldError] = []
    if old.get("deletionTimestamp"):
        added: list[str] = [f for f in metadata.get("finalizers", []) if f not in old.get("finalizers", [])]
        if added:
            errors.append(
                field_forbidden(
                    "metadata.finalizers",
                    "no new finalizers can be added if the object is being deleted, found new finalizers "
                    f"[]string{{{', '.join(map(json.dumps, added))}}}",
                )
            )
    return errors
