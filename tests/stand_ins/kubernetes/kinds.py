# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decoding, defaults and validation of each kind's own fields.

Rules come from Kubernetes' ``pkg/apis/core/validation`` as kube-apiserver 1.34 shows them; only those
that a client of Secrets, ServiceAccounts and Namespaces meets are here; ``workloads`` has what the kinds
of other groups need.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any

from tests.stand_ins.kubernetes.batch import BATCH_DEFAULTS, immutable_job, validate_job
from tests.stand_ins.kubernetes.metadata import (
    decode_metadata,
    string_map,
    validate_metadata,
    validate_metadata_update,
    wrong_type,
)
from tests.stand_ins.kubernetes.resources import Resource
from tests.stand_ins.kubernetes.status import (
    ApiError,
    FieldError,
    field_forbidden,
    field_invalid,
    field_required,
    field_too_long,
    invalid,
)
from tests.stand_ins.kubernetes.workloads import DEFAULTS as WORKLOAD_DEFAULTS
from tests.stand_ins.kubernetes.workloads import immutable_fields

Object = dict[str, Any]

DEFAULTS = {**WORKLOAD_DEFAULTS, **BATCH_DEFAULTS}
SECRET_LIMIT = 1024 * 1024
_DATA_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_DATA_KEY_TEXT = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
    "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
)
_REQUIRED_KEYS = {
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def decode(resource: Resource, raw: Any, *, strict: bool = False) -> Object:
    """Turn a request body into the object as it is stored (without kind and apiVersion); 400 on wrong types.

    Unknown fields are dropped; with ``strict`` (``fieldValidation=Strict``) they are refused.
    """
    kind = resource.kind
    if not isinstance(raw, dict):
        raise ApiError(
            400,
            f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; "
            "json parse error: not an object",
        )
    version = resource.api_version
    if raw.get("apiVersion", version) != version:
        raise ApiError(
            400,
            f'{kind} in version "{raw["apiVersion"]}" cannot be handled as a {kind}: no kind "{kind}" is '
            f'registered for version "{raw["apiVersion"]}" in scheme "pkg/runtime/scheme.go:110"',
        )
    if raw.get("kind", kind) != kind:
        raise ApiError(
            400,
            f'{raw["kind"]} in version "v1" cannot be handled as a {kind}: converting (v1.{raw["kind"]}) '
            f"to (core.{kind}): unknown conversion",
        )
    unknown = sorted(set(raw) - resource.fields - {"kind", "apiVersion", "metadata"})
    if strict and unknown:
        listed = ", ".join(f'unknown field "{name}"' for name in unknown)
        raise ApiError(
            400, f'{kind} in version "v1" cannot be handled as a {kind}: strict decoding error: {listed}'
        )
    out: Object = {"metadata": decode_metadata(kind, raw.get("metadata"))}
    for name in resource.fields:
        if raw.get(name) is not None:
            out[name] = raw[name]
    if kind in ("Secret", "ConfigMap"):
        _decode_data(kind, out)
    elif kind == "ServiceAccount":
        _decode_service_account(out)
    elif kind in DEFAULTS:
        DEFAULTS[kind](out)
    elif kind == "Event":
        out.update({name: out.get(name) for name in ("firstTimestamp", "lastTimestamp", "eventTime")})
        out.setdefault("source", {})
        out.update({name: out.get(name, "") for name in ("reportingComponent", "reportingInstance")})
    elif kind == "Namespace":
        metadata = out["metadata"]
        if metadata.get("name"):
            labels = {**metadata.get("labels", {}), "kubernetes.io/metadata.name": metadata["name"]}
            metadata["labels"] = labels
        out["spec"] = {"finalizers": ["kubernetes"]}
        out["status"] = {"phase": "Active"}
    return out


def _bytes_map(kind: str, out: Object, name: str) -> None:
    if name not in out:
        return
    decoded = string_map(kind, out[name], f"{kind}.{name}", "[]uint8")
    for key, value in decoded.items():
        decoded[key] = _canonical_base64(kind, value)
    if decoded:
        out[name] = decoded
    else:
        del out[name]


def _canonical_base64(kind: str, text: str) -> str:
    """Go's decoder skips line breaks; the value is stored without them."""
    clean = text.replace("\r", "").replace("\n", "")
    try:
        return base64.b64encode(base64.b64decode(clean, validate=True)).decode()
    except (binascii.Error, ValueError):
        pass
    found = re.search(r"[^A-Za-z0-9+/]", clean)
    at = found.start() if found else len(clean) - len(clean) % 4
    raise ApiError(
        400, f'{kind} in version "v1" cannot be handled as a {kind}: illegal base64 data at input byte {at}'
    )


def _decode_data(kind: str, out: Object) -> None:
    if kind == "ConfigMap":
        _bytes_map(kind, out, "binaryData")
        out["data"] = string_map(kind, out.get("data"), "ConfigMap.data")
        if not out["data"]:
            del out["data"]
    else:
        _bytes_map(kind, out, "data")
        if not isinstance(out.setdefault("type", "Opaque"), str):
            raise wrong_type(kind, out["type"], "Secret.type", "v1.SecretType")
        out["type"] = out["type"] or "Opaque"
        written = string_map(kind, out.pop("stringData", None), "Secret.stringData")
        if written:
            encoded = {k: base64.b64encode(v.encode()).decode() for k, v in written.items()}
            out["data"] = {**out.get("data", {}), **encoded}
    if not isinstance(out.get("immutable", False), bool):
        raise wrong_type(kind, out["immutable"], f"{kind}.immutable", "bool")


def _decode_service_account(out: Object) -> None:
    for name in ("imagePullSecrets", "secrets"):
        items = out.get(name, [])
        if not isinstance(items, list):
            raise wrong_type("ServiceAccount", items, f"ServiceAccount.{name}", "[]v1.LocalObjectReference")
        for item in items:
            if not isinstance(item, dict):
                raise wrong_type("ServiceAccount", item, f"ServiceAccount.{name}", "v1.LocalObjectReference")
            if not isinstance(item.get("name", ""), str):
                raise wrong_type("ServiceAccount", item["name"], f"ServiceAccount.{name}.name", "string")
        if name in out and not items:
            del out[name]


def _validate_secret(obj: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    total = 0
    data: dict[str, str] = obj.get("data", {})
    for key, value in data.items():
        total += len(value) * 3 // 4 - value[-2:].count("=")
        if not _DATA_KEY.fullmatch(key):
            errors.append(field_invalid(f"data[{key}]", key, _DATA_KEY_TEXT))
    if total > SECRET_LIMIT:
        errors.append(field_too_long("data", SECRET_LIMIT))
    for key in _REQUIRED_KEYS.get(obj["type"], ()):
        if key not in data:
            errors.append(field_required(f"data[{key}]"))
        elif key.startswith(".docker"):
            errors += _validate_json(key, data[key])
    return errors


def _validate_json(key: str, encoded: str) -> list[FieldError]:
    """Any JSON object (or null) will do: what it says is not the API server's business."""
    try:
        document = json.loads(base64.b64decode(encoded))
        if document is None or isinstance(document, dict):
            return []
        what = {list: "array", str: "string", bool: "bool"}.get(type(document), "number")
        why = f"json: cannot unmarshal {what} into Go value of type map[string]interface {{}}"
    except ValueError:
        why = "unexpected end of JSON input" if not encoded else "invalid character in JSON"
    return [field_invalid(f"data[{key}]", "<secret contents redacted>", why)]


def _validate_immutable(new: Object, old: Object) -> list[FieldError]:
    if not old.get("immutable"):
        return []
    said = "field is immutable when `immutable` is set"
    errors = [] if new.get("immutable") else [field_forbidden("immutable", said)]
    if new.get("data") != old.get("data"):
        errors.append(field_forbidden("data", said))
    return errors


def validate(resource: Resource, obj: Object, old: Object | None) -> None:
    """Raise a 422 that lists every broken rule; ``old`` is the stored object of an update."""
    metadata = obj["metadata"]
    errors = validate_metadata(resource, metadata)
    if old is not None:
        errors += validate_metadata_update(resource, metadata, old["metadata"])
        if resource.kind == "Secret" and obj["type"] != old["type"]:
            errors.append(field_invalid("type", obj["type"], "field is immutable"))
        if resource.kind in ("Secret", "ConfigMap"):
            errors += _validate_immutable(obj, old)
        errors += immutable_fields(resource.kind, obj, old)
        errors += immutable_job(resource.kind, obj, old)
    if resource.kind == "Secret":
        errors += _validate_secret(obj)
    elif resource.kind == "Job":
        errors += validate_job(obj)
    if errors:
        raise invalid(resource.kind, metadata.get("name", ""), errors, group=resource.group)
