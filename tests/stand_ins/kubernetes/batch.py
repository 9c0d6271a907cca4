# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the API server adds to Jobs and Pods, and refuses of them."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable
from typing import Any

from tests.stand_ins.kubernetes.metadata import label_errors
from tests.stand_ins.kubernetes.status import FieldError, field_invalid, field_required
from tests.stand_ins.kubernetes.workloads import pod_spec, without_null

Object = dict[str, Any]

_JOB = {
    "parallelism": 1,
    "completions": 1,
    "backoffLimit": 6,
    "completionMode": "NonIndexed",
    "suspend": False,
    "manualSelector": False,
}


def _job(out: Object) -> None:
    spec = out["spec"] = {**_JOB, **without_null(copy.deepcopy(out.get("spec") or {}))}
    policy = spec.get("podFailurePolicy")
    spec.setdefault("podReplacementPolicy", "Failed" if policy else "TerminatingOrFailed")
    for rule in (policy or {}).get("rules") or ():
        for condition in rule.get("onPodConditions") or ():
            condition.setdefault("status", "True")
    template = spec.setdefault("template", {})
    template["metadata"] = {**(template.get("metadata") or {})}
    template["spec"] = pod_spec(template.get("spec") or {})
    out["status"] = {**(out.get("status") or {})}


def _pod(out: Object) -> None:
    out["spec"] = pod_spec(without_null(copy.deepcopy(out.get("spec") or {})))
    out["status"] = out.get("status") or {"phase": "Pending", "qosClass": "BestEffort"}


BATCH_DEFAULTS: dict[str, Callable[[Object], None]] = {"Job": _job, "Pod": _pod}


def new_job(obj: Object) -> None:
    """Give a Job its uid, by which it tells its pods from others', and the status of one that is new."""
    metadata, spec = obj["metadata"], obj["spec"]
    metadata["uid"] = str(uuid.uuid4())
    name = metadata.get("name", "")
    own = {
        "batch.kubernetes.io/controller-uid": metadata["uid"],
        "batch.kubernetes.io/job-name": name,
        "controller-uid": metadata["uid"],
        "job-name": name,
    }
    template = spec["template"]["metadata"]
    template["labels"] = {**(template.get("labels") or {}), **own}
    spec["selector"] = {
        "matchLabels": {"batch.kubernetes.io/controller-uid": own["batch.kubernetes.io/controller-uid"]}
    }
    obj["status"] = {}


def validate_job(obj: Object) -> list[FieldError]:
    """What a client of Jobs meets."""
    spec = obj["spec"]
    template = spec["template"]
    errors = label_errors("spec.template.labels", template["metadata"].get("labels") or {})
    pod = template["spec"]
    if not pod.get("containers"):
        errors.append(field_required("spec.template.spec.containers"))
    restart = pod.get("restartPolicy")
    at = "spec.template.spec.restartPolicy"
    if restart not in ("Never", "OnFailure"):
        # "Always" is what is there where nothing was said.
        errors.append(field_required(at, 'valid values: "OnFailure", "Never"'))
    elif spec.get("podFailurePolicy") and restart != "Never":
        errors.append(
            field_invalid(at, restart, 'only "Never" is supported when podFailurePolicy is specified')
        )
    return errors


def immutable_job(kind: str, new: Object, old: Object) -> list[FieldError]:
    """A Job is what it was made as."""
    if kind != "Job":
        return []
    fixed = ("completions", "selector", "template", "completionMode", "podFailurePolicy")
    return [
        field_invalid(f"spec.{name}", "...", "field is immutable")
        for name in fixed
        if new["spec"].get(name) != old["spec"].get(name)
    ]
