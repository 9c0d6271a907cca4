# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API server refuses of an object, with 422.

The rules are those of Kubernetes' ``pkg/apis`` that a client of these kinds meets, as kube-apiserver 1.34
answers them.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from tests.stand_ins.kubernetes.resources import Resource
from tests.stand_ins.kubernetes.status import (
    FieldError,
    field_forbidden,
    field_invalid,
    field_required,
    field_too_long,
    invalid,
)

Object = dict[str, Any]

_ANNOTATIONS_LIMIT = 256 * 1024  # bytes
_SECRET_LIMIT = 1024 * 1024  # bytes
_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(r"(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_DATA_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_MUST = "must consist of alphanumeric characters, '-', '_' or '.'"
# Fields that an update cannot change.
_IMMUTABLE = {
    "Secret": ("type",),
    "DaemonSet": ("spec.selector",),
    "RoleBinding": ("roleRef",),
    "Job": tuple(
        f"spec.{name}"
        for name in ("completions", "selector", "template", "completionMode", "podFailurePolicy")
    ),
}


def validate(resource: Resource, obj: Object, old: Object | None) -> None:
    """Raise a 422 that lists every broken rule; ``old`` is the stored object of an update."""
    metadata, kind = obj["metadata"], resource.kind
    errors = _metadata_errors(resource, metadata)
    if old is not None:
        for field in _IMMUTABLE.get(kind, ()):
            value = _at(obj, field)
            if value != _at(old, field):
                shown = value if isinstance(value, str) else "..."
                errors.append(field_invalid(field, shown, "field is immutable"))
        if old.get("immutable"):
            errors += _immutable_data_errors(obj, old)
    if kind == "Secret":
        errors += _secret_errors(obj)
    elif kind == "Job":
        errors += _job_errors(obj["spec"])
    if errors:
        raise invalid(kind, metadata.get("name", ""), errors, group=resource.group)


def _at(obj: Object, path: str) -> Any:
    first, _dot, second = path.partition(".")
    return obj[first].get(second) if second else obj[first]


def _metadata_errors(resource: Resource, metadata: Object) -> list[FieldError]:
    name = metadata.get("name", "")
    labels, annotations = metadata.get("labels", {}), metadata.get("annotations", {})
    errors = _name_errors(name, most=63 if resource.plural == "namespaces" else 253)
    errors += _label_errors("metadata.labels", labels)
    for index, finalizer in enumerate(metadata.get("finalizers", [])):
        errors += _qualified_errors(f"metadata.finalizers[{index}]", finalizer)
    for key in annotations:
        errors += _qualified_errors("metadata.annotations", key.lower())
    if sum(len(k.encode()) + len(v.encode()) for k, v in annotations.items()) > _ANNOTATIONS_LIMIT:
        errors.append(field_too_long("metadata.annotations", _ANNOTATIONS_LIMIT))
    return errors


def _name_errors(name: str, *, most: int) -> list[FieldError]:
    """A namespace's name, which has at most 63 characters, is a label; all others are subdomains."""
    if not name:
        return [field_required("metadata.name", "name or generateName is required")]
    errors = []
    if len(name) > most:
        errors.append(field_invalid("metadata.name", name, f"must be no more than {most} characters"))
    what, rule = ("label", _LABEL) if most == 63 else ("subdomain", _SUBDOMAIN)
    if not rule.fullmatch(name):
        text = f"a lowercase RFC 1123 {what} must consist of lower case alphanumeric characters"
        errors.append(field_invalid("metadata.name", name, text))
    return errors


def _qualified_errors(field: str, key: str) -> list[FieldError]:
    prefix, slash, name = key.rpartition("/")
    errors = []
    if slash and (not prefix or len(prefix) > 253 or not _SUBDOMAIN.fullmatch(prefix)):
        errors.append(field_invalid(field, key, "prefix part must be a lowercase RFC 1123 subdomain"))
    if len(name) > 63:
        errors.append(field_invalid(field, key, "name part must be no more than 63 characters"))
    if not _QUALIFIED.fullmatch(name):
        errors.append(field_invalid(field, key, f"name part {_MUST}"))
    return errors


def _label_errors(field: str, labels: dict[str, str]) -> list[FieldError]:
    errors: list[FieldError] = []
    for key, value in labels.items():
        errors += _qualified_errors(field, key)
        if len(value) > 63:
            errors.append(field_invalid(field, value, "must be no more than 63 characters"))
        if value and not _QUALIFIED.fullmatch(value):
            errors.append(field_invalid(field, value, f"a valid label {_MUST}"))
    return errors


def _immutable_data_errors(new: Object, old: Object) -> list[FieldError]:
    changed = [] if new.get("immutable") else ["immutable"]
    changed += ["data"] if new.get("data") != old.get("data") else []
    return [field_forbidden(field, "field is immutable when `immutable` is set") for field in changed]


def _secret_errors(obj: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    data: dict[str, str] = obj.get("data", {})
    for key in data:
        if not _DATA_KEY.fullmatch(key):
            errors.append(field_invalid(f"data[{key}]", key, f"a valid config key {_MUST}"))
    if sum(len(value) * 3 // 4 - value[-2:].count("=") for value in data.values()) > _SECRET_LIMIT:
        errors.append(field_too_long("data", _SECRET_LIMIT))
    if obj["type"] == "kubernetes.io/dockerconfigjson":
        field = "data[.dockerconfigjson]"
        if ".dockerconfigjson" not in data:
            errors.append(field_required(field))
        elif not _is_json_object(data[".dockerconfigjson"]):
            errors.append(field_invalid(field, "<secret contents redacted>", "invalid JSON"))
    return errors


def _is_json_object(encoded: str) -> bool:
    """Any JSON object (or null) will do: what it says is not the API server's business."""
    try:
        document = json.loads(base64.b64decode(encoded))
    except ValueError:
        return False
    return document is None or isinstance(document, dict)


def _job_errors(spec: Object) -> list[FieldError]:
    template = spec["template"]
    errors = _label_errors("spec.template.labels", template["metadata"].get("labels") or {})
    pod = template["spec"]
    if not pod.get("containers"):
        errors.append(field_required("spec.template.spec.containers"))
    restart, at = pod.get("restartPolicy"), "spec.template.spec.restartPolicy"
    if restart not in ("Never", "OnFailure"):
        # "Always" is the default of a pod's template.
        errors.append(field_required(at, 'valid values: "OnFailure", "Never"'))
    elif spec.get("podFailurePolicy") and restart != "Never":
        errors.append(
            field_invalid(at, restart, 'only "Never" is supported when podFailurePolicy is specified')
        )
    return errors
