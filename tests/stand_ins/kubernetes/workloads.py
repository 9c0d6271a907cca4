# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API server adds to DaemonSets, RoleBindings, Roles, Leases and Nodes, and refuses to change.

Only the defaults that a DaemonSet of one container with host paths meets are here: a client that compares
objects has to tell them from drift.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from tests.stand_ins.kubernetes.status import FieldError, field_invalid

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
_STATUS = {
    "currentNumberScheduled": 0,
    "numberMisscheduled": 0,
    "desiredNumberScheduled": 0,
    "numberReady": 0,
}


def _daemon_set(out: Object) -> None:
    # Stored objects are shared and never changed in place.
    spec = out["spec"] = without_null(copy.deepcopy(out.get("spec") or {}))
    out["status"] = dict(_STATUS)
    template = spec.setdefault("template", {})
    template["metadata"] = {**(template.get("metadata") or {})}
    template["spec"] = pod_spec(template.get("spec") or {})
    rolling = {"maxUnavailable": 1, "maxSurge": 0}
    strategy = {"type": "RollingUpdate", **(spec.get("updateStrategy") or {})}
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = {**rolling, **(strategy.get("rollingUpdate") or {})}
    spec["updateStrategy"] = strategy
    spec.setdefault("revisionHistoryLimit", 10)


def pod_spec(given: Object) -> Object:
    """A pod's spec with what is added to it; changes parts of ``given``."""
    pod = {**_POD, **given}
    if pod.get("serviceAccountName"):
        pod["serviceAccount"] = pod["serviceAccountName"]
    for name in ("nodeSelector", "tolerations", "imagePullSecrets"):
        if name in pod and not pod[name]:
            del pod[name]
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


def without_null(value: Any) -> Any:
    """A null is no value, in a list of a merge patch too."""
    if isinstance(value, dict):
        return {name: without_null(item) for name, item in value.items() if item is not None}
    return [without_null(item) for item in value] if isinstance(value, list) else value


def _role_binding(out: Object) -> None:
    reference = out["roleRef"] = dict(out.get("roleRef") or {})
    reference.setdefault("apiGroup", "rbac.authorization.k8s.io")
    out["subjects"] = [
        {**subject, "apiGroup": "rbac.authorization.k8s.io"}
        if subject.get("kind") in ("User", "Group") and not subject.get("apiGroup")
        else dict(subject)
        for subject in out.get("subjects") or []
    ]


def _with_spec(out: Object) -> None:
    out["spec"] = out.get("spec") or {}


def _role(out: Object) -> None:
    out["rules"] = out.get("rules")


DEFAULTS: dict[str, Callable[[Object], None]] = {
    "DaemonSet": _daemon_set,
    "RoleBinding": _role_binding,
    "Role": _role,
    "Lease": _with_spec,
    "Node": _with_spec,
}


def immutable_fields(kind: str, new: Object, old: Object) -> list[FieldError]:
    """A DaemonSet's selector and a RoleBinding's role."""
    if kind == "DaemonSet" and new["spec"].get("selector") != old["spec"].get("selector"):
        return [field_invalid("spec.selector", "...", "field is immutable")]
    if kind == "RoleBinding" and new["roleRef"] != old["roleRef"]:
        return [field_invalid("roleRef", "...", "cannot change roleRef")]
    return []
