# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From a request body to the object as it is stored: decoding, and what the API server adds to each kind.

A client that compares objects has to tell these defaults from drift. Only those are here that the kinds of
the collection meet.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from tests.stand_ins.http_server import Request
from tests.stand_ins.kubernetes import protobuf
from tests.stand_ins.kubernetes.resources import Resource
from tests.stand_ins.kubernetes.status import ApiError

Object = dict[str, Any]

_RBAC = "rbac.authorization.k8s.io"
# What an object of a kind has where a client says nothing, at every depth.
_DEFAULTS: dict[str, Object] = {
    "DaemonSet": {
        "spec": {
            "updateStrategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
            },
            "revisionHistoryLimit": 10,
        },
        "status": {
            "currentNumberScheduled": 0,
            "numberMisscheduled": 0,
            "desiredNumberScheduled": 0,
            "numberReady": 0,
        },
    },
    "Event": {
        "firstTimestamp": None,
        "lastTimestamp": None,
        "eventTime": None,
        "source": {},
        "reportingComponent": "",
        "reportingInstance": "",
    },
    "Job": {
        "spec": {
            "parallelism": 1,
            "completions": 1,
            "backoffLimit": 6,
            "completionMode": "NonIndexed",
            "suspend": False,
            "manualSelector": False,
        },
        "status": {},
    },
    "Lease": {"spec": {}},
    "Namespace": {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}},
    "Node": {"spec": {}},
    "Pod": {"spec": {}, "status": {"phase": "Pending", "qosClass": "BestEffort"}},
    "Role": {"rules": None},
    "RoleBinding": {"roleRef": {"apiGroup": _RBAC}},
}
_POD = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
_CONTAINER = {
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
# The fields of a kind that are left out where they are empty.
_LEFT_OUT = {
    "ConfigMap": ("data", "binaryData"),
    "Secret": ("data",),
    "ServiceAccount": ("imagePullSecrets", "secrets"),
}
# The fields of a kind beside kind, apiVersion and metadata. Kinds that are not here may have any field.
_FIELDS = {
    "ConfigMap": "data binaryData immutable",
    "Secret": "data stringData type immutable",
    "ServiceAccount": "secrets imagePullSecrets automountServiceAccountToken",
    "Role": "rules",
    "RoleBinding": "roleRef subjects",
    **dict.fromkeys(("DaemonSet", "Job", "Lease", "Namespace", "Node", "Pod"), "spec status"),
}


def read_body(request: Request, kind: str) -> Object:
    """Return the object in a body: JSON or, from kubectl, protobuf. 415 and 400 when it cannot be read."""
    content_type = request.headers.get("content-type", "application/json").partition(";")[0].strip()
    if content_type == protobuf.CONTENT_TYPE and (read := protobuf.decode_body(request.body, kind)):
        return read
    if content_type != "application/json":
        known = "application/json"
        text = f"the body of the request was in an unknown format - accepted media types include: {known}"
        raise ApiError(415, text)
    try:
        found = json.loads(request.body)
    except ValueError:
        found = None
    if isinstance(found, dict):
        return found
    why = "couldn't get version/kind; json parse error"
    raise ApiError(400, f"the object provided is unrecognized (must be of type {kind}): {why}")


def decode(resource: Resource, raw: Object, *, strict: bool = False) -> Object:
    """Return the object without kind and apiVersion; 400 for another kind's.

    Unknown fields at the top level are left out; ``strict`` (``fieldValidation=Strict``) refuses them.
    """
    kind, version = raw.get("kind", resource.kind), raw.get("apiVersion", resource.api_version)
    if (kind, version) != (resource.kind, resource.api_version):
        wanted = resource.kind
        raise ApiError(400, f'{kind} in version "{version}" cannot be handled as a {wanted}')
    out = {
        key: value for key, value in raw.items() if value is not None and key not in ("kind", "apiVersion")
    }
    known = {"metadata", *_FIELDS[kind].split()} if kind in _FIELDS else set(out)
    for name in sorted(set(out) - known):
        if strict:
            why = f'strict decoding error: unknown field "{name}"'
            raise ApiError(400, f'{kind} in version "{version}" cannot be handled as a {kind}: {why}')
        del out[name]
    out["metadata"] = {key: value for key, value in (out.get("metadata") or {}).items() if value}
    out["metadata"].pop("managedFields", None)
    if "spec" in out:
        # A copy, to be changed: stored objects are shared and never changed in place.
        out["spec"] = _without_null(out["spec"])
    out = _filled(out, _DEFAULTS.get(kind, {}))
    if kind in _ADDING:
        _ADDING[kind](out)
    _without_empty(out, *_LEFT_OUT.get(kind, ()))
    return out


def _filled(given: Object, defaults: Object) -> Object:
    """A copy of ``given`` with what it lacks of the defaults."""
    out = dict(given)
    for name, usual in defaults.items():
        out[name] = _filled(out.get(name) or {}, usual) if isinstance(usual, dict) else out.get(name, usual)
    return out


def _secret(out: Object) -> None:
    """Store the data as base64 without line breaks, as Go's decoder reads it; 400 for what is not base64."""
    data = out["data"] = dict(out.get("data", {}))
    for key, value in data.items():
        clean = (value or "").replace("\r", "").replace("\n", "")
        try:
            data[key] = base64.b64encode(base64.b64decode(clean, validate=True)).decode()
        except (binascii.Error, ValueError):
            wrong = re.search(r"[^A-Za-z0-9+/]", clean)
            at = wrong.start() if wrong else len(clean) - len(clean) % 4
            text = f"illegal base64 data at input byte {at}"
            raise ApiError(400, f'Secret in version "v1" cannot be handled as a Secret: {text}') from None
    for key, text in out.pop("stringData", {}).items():
        data[key] = base64.b64encode(text.encode()).decode()
    out["type"] = out.get("type") or "Opaque"


def _without_empty(out: Object, *fields: str) -> None:
    for field in fields:
        if not out.get(field, True):
            del out[field]


def _namespace(out: Object) -> None:
    metadata = out["metadata"]
    if name := metadata.get("name"):
        metadata["labels"] = {**metadata.get("labels", {}), "kubernetes.io/metadata.name": name}


def _job(out: Object) -> None:
    spec = out["spec"]
    policy = spec.get("podFailurePolicy")
    spec.setdefault("podReplacementPolicy", "Failed" if policy else "TerminatingOrFailed")
    for rule in (policy or {}).get("rules") or ():
        for condition in rule.get("onPodConditions") or ():
            condition.setdefault("status", "True")
    _template(spec)


def new_job(obj: Object) -> None:
    """Give a Job its uid, by which it tells its pods from others', and the status of one that is new."""
    metadata, spec = obj["metadata"], obj["spec"]
    uid = metadata["uid"] = str(uuid.uuid4())
    name = metadata.get("name", "")
    own = {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    template = spec["template"]["metadata"]
    template["labels"] = {**(template.get("labels") or {}), **own}
    spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    obj["status"] = {}


def _daemon_set(out: Object) -> None:
    _template(out["spec"])


def _pod(out: Object) -> None:
    out["spec"] = _pod_spec(out["spec"])


def _without_null(value: Any) -> Any:
    """A copy in which a null is no value, in a list of a merge patch too."""
    if isinstance(value, dict):
        return {name: _without_null(item) for name, item in value.items() if item is not None}
    return [_without_null(item) for item in value] if isinstance(value, list) else value


def _template(spec: Object) -> None:
    template = spec.setdefault("template", {})
    template["metadata"] = {**(template.get("metadata") or {})}
    template["spec"] = _pod_spec(template.get("spec") or {})


def _pod_spec(given: Object) -> Object:
    """A pod's spec with what is added to it; changes parts of ``given``."""
    pod = _filled(given, _POD)
    if pod.get("serviceAccountName"):
        pod["serviceAccount"] = pod["serviceAccountName"]
    _without_empty(pod, "nodeSelector", "tolerations", "imagePullSecrets")
    pod["containers"] = [_container(container) for container in pod.get("containers") or []]
    for volume in pod.get("volumes") or []:
        if "hostPath" in volume:
            volume["hostPath"].setdefault("type", "")
    return pod


def _container(given: Object) -> Object:
    image = str(given.get("image", "")).rpartition("/")[2]
    floating = "@" not in image and (":" not in image or image.endswith(":latest"))
    out = _filled(given, {**_CONTAINER, "imagePullPolicy": "Always" if floating else "IfNotPresent"})
    for variable in out.get("env") or []:
        reference = (variable.get("valueFrom") or {}).get("fieldRef")
        if reference is not None:
            reference.setdefault("apiVersion", "v1")
        if variable.get("value") == "":
            del variable["value"]
    for kind, amounts in (out.get("resources") or {}).items():
        if isinstance(amounts, dict):
            out["resources"][kind] = {name: _canonical(amount) for name, amount in amounts.items()}
    return out


def _canonical(amount: Any) -> str:
    """A quantity as Go writes it: only what tests use (``1000m`` is ``1``, ``0.5`` is ``500m``)."""
    text = str(amount)
    if text.endswith("m") or text.replace(".", "", 1).isdigit():
        number = Decimal(text[:-1]) / 1000 if text.endswith("m") else Decimal(text)
        return str(int(number)) if number == int(number) else f"{int(number * 1000)}m"
    return text


_ADDING: dict[str, Callable[[Object], None]] = {
    "Secret": _secret,
    "Namespace": _namespace,
    "Job": _job,
    "Pod": _pod,
    "DaemonSet": _daemon_set,
}
