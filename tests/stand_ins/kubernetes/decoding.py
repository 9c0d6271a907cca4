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
_JOB = {
    "parallelism": 1,
    "completions": 1,
    "backoffLimit": 6,
    "completionMode": "NonIndexed",
    "suspend": False,
    "manualSelector": False,
}
_DAEMON_SET_STATUS = {
    "currentNumberScheduled": 0,
    "numberMisscheduled": 0,
    "desiredNumberScheduled": 0,
    "numberReady": 0,
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
_RBAC = "rbac.authorization.k8s.io"


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
    if resource.kind in _DEFAULTS:
        _DEFAULTS[resource.kind](out)
    return out


def _encoded(out: Object, field: str) -> None:
    """Store base64 without line breaks, as Go's decoder reads it; 400 for what is not base64."""
    for key, value in out.get(field, {}).items():
        clean = (value or "").replace("\r", "").replace("\n", "")
        try:
            out[field][key] = base64.b64encode(base64.b64decode(clean, validate=True)).decode()
        except (binascii.Error, ValueError):
            wrong = re.search(r"[^A-Za-z0-9+/]", clean)
            at = wrong.start() if wrong else len(clean) - len(clean) % 4
            text = f"illegal base64 data at input byte {at}"
            raise ApiError(400, f'Secret in version "v1" cannot be handled as a Secret: {text}') from None


def _secret(out: Object) -> None:
    written = {
        key: base64.b64encode(text.encode()).decode() for key, text in out.pop("stringData", {}).items()
    }
    out["data"] = {**out.get("data", {}), **written}
    _encoded(out, "data")
    out["type"] = out.get("type") or "Opaque"
    _without_empty(out, "data")


def _config_map(out: Object) -> None:
    _without_empty(out, "data", "binaryData")


def _service_account(out: Object) -> None:
    _without_empty(out, "imagePullSecrets", "secrets")


def _without_empty(out: Object, *fields: str) -> None:
    for field in fields:
        if not out.get(field, True):
            del out[field]


def _event(out: Object) -> None:
    out.update({name: out.get(name) for name in ("firstTimestamp", "lastTimestamp", "eventTime")})
    out.setdefault("source", {})
    out.update({name: out.get(name, "") for name in ("reportingComponent", "reportingInstance")})


def _namespace(out: Object) -> None:
    metadata = out["metadata"]
    if name := metadata.get("name"):
        metadata["labels"] = {**metadata.get("labels", {}), "kubernetes.io/metadata.name": name}
    out["spec"] = {"finalizers": ["kubernetes"]}
    out["status"] = {"phase": "Active"}


def _job(out: Object) -> None:
    spec = out["spec"] = {**_JOB, **_spec(out)}
    policy = spec.get("podFailurePolicy")
    spec.setdefault("podReplacementPolicy", "Failed" if policy else "TerminatingOrFailed")
    for rule in (policy or {}).get("rules") or ():
        for condition in rule.get("onPodConditions") or ():
            condition.setdefault("status", "True")
    _template(spec)
    out["status"] = {**(out.get("status") or {})}


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
    spec = out["spec"] = _spec(out)
    out["status"] = dict(_DAEMON_SET_STATUS)
    _template(spec)
    strategy = {"type": "RollingUpdate", **(spec.get("updateStrategy") or {})}
    if strategy["type"] == "RollingUpdate":
        rolling = {"maxUnavailable": 1, "maxSurge": 0}
        strategy["rollingUpdate"] = {**rolling, **(strategy.get("rollingUpdate") or {})}
    spec["updateStrategy"] = strategy
    spec.setdefault("revisionHistoryLimit", 10)


def _pod(out: Object) -> None:
    out["spec"] = _pod_spec(_spec(out))
    out["status"] = out.get("status") or {"phase": "Pending", "qosClass": "BestEffort"}


def _spec(out: Object) -> Object:
    """The object's spec, to be changed: stored objects are shared and never changed in place."""
    spec: Object = _without_null(out.get("spec") or {})
    return spec


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
    pod = {**_POD, **given}
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
    out = {**_CONTAINER, "imagePullPolicy": "Always" if floating else "IfNotPresent", **given}
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


def _role_binding(out: Object) -> None:
    out["roleRef"] = {"apiGroup": _RBAC, **(out.get("roleRef") or {})}
    out["subjects"] = [
        {**subject, "apiGroup": _RBAC}
        if subject.get("kind") in ("User", "Group") and not subject.get("apiGroup")
        else dict(subject)
        for subject in out.get("subjects") or []
    ]


def _role(out: Object) -> None:
    out["rules"] = out.get("rules")


def _with_spec(out: Object) -> None:
    out["spec"] = out.get("spec") or {}


_DEFAULTS: dict[str, Callable[[Object], None]] = {
    "Secret": _secret,
    "ConfigMap": _config_map,
    "ServiceAccount": _service_account,
    "Event": _event,
    "Namespace": _namespace,
    "Job": _job,
    "Pod": _pod,
    "DaemonSet": _daemon_set,
    "RoleBinding": _role_binding,
    "Role": _role,
    "Lease": _with_spec,
    "Node": _with_spec,
}
