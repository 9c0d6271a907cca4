# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Builds the Job of the job contract, and the Secret that its pod reads, from an order and the configuration.
Pure.

The pull secret is only in the Secret: the Job refers to it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from ....model.cluster import OPTIONS
from ....model.errors import ConfigurationError
from .. import names
from ..config.parts import JobTemplate
from ..model import Order
from .marks import template_hash

__all__ = [
    "CONTAINER",
    "DATA_KEY",
    "INPUT_IS_WRONG",
    "LARGEST",
    "data_secret",
    "job",
    "job_spec",
    "unliteral",
]

CONTAINER = "pullsecret-job"
DATA_KEY = "pull-secret.json"
# The exit code of the job contract that no retry changes.
INPUT_IS_WRONG = 2
# Linux's maximum length of an environment variable, with its name and the final zero byte.
LARGEST = 128 * 1024 - len("PULL_SECRET_DATA=") - 1

# Annotations for the adapter itself.
_OURS = "hyperfleet.io/"
# The job contract's security context.
_SECURITY = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "runAsUser": 1000,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}


def data_secret(order: Order, document: bytes, adapter: str) -> dict[str, Any]:
    """Return the Secret ``cluster-{id}-pullsecret-data``, which exists as long as a Job needs it."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": names.data_secret_name(order.cluster_id),
            "labels": names.object_labels(adapter, order.cluster_id, order.cluster_name, names.DATA),
            "annotations": _annotations(order),
        },
        "type": "Opaque",
        "data": {DATA_KEY: base64.b64encode(document).decode("ascii")},
    }


def job(
    order: Order,
    settings: JobTemplate,
    adapter: str,
    *,
    spec: Mapping[str, Any],
    content: str,
    data_uid: str = "",
    attempt: int = 1,
) -> dict[str, Any]:
    """Return the Job ``pullsecret-{id}-gen{n}``.

    :param spec: of :func:`job_spec`.
    :param content: of :func:`content_digest`.
    :param data_uid: of the Secret with its data.
    :param attempt: the number of its first pod.
    """
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": names.job_name(order.cluster_id, order.generation),
            "labels": _labels(order, settings, adapter),
            "annotations": {
                **{name: text for name, text in settings.annotations.items() if not name.startswith(_OURS)},
                **_annotations(order),
                names.ATTEMPT: str(attempt),
                names.CONTENT: content,
                names.TEMPLATE: template_hash(spec),
                names.DATA_UID: data_uid,
            },
        },
        "spec": spec,
    }


def job_spec(order: Order, settings: JobTemplate, adapter: str) -> dict[str, Any]:
    """Return how the Job is run: the job contract's container and environment variables.

    :raises ConfigurationError: no image is configured.
    """
    if not settings.image:
        raise ConfigurationError("spec.jobTemplate.image is missing; the adapter needs it to create Jobs")
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "serviceAccountName": settings.service_account,
        # Required by the pod security standard "restricted", in addition to the job contract.
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": CONTAINER,
                "image": settings.image,
                "env": _environment(order, settings),
                "resources": {kind: dict(held) for kind, held in settings.resources.items()},
                "securityContext": _SECURITY,
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
    }
    if settings.image_pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in settings.image_pull_secrets]
    if settings.priority_class:
        pod["priorityClassName"] = settings.priority_class
    if settings.node_selector:
        pod["nodeSelector"] = dict(settings.node_selector)
    if settings.tolerations:
        pod["tolerations"] = [dict(item) for item in settings.tolerations]
    return {
        "activeDeadlineSeconds": settings.deadline,
        "backoffLimit": settings.backoff_limit,
        "podFailurePolicy": {
            "rules": [
                {
                    "action": "FailJob",
                    "onExitCodes": {
                        "containerName": CONTAINER,
                        "operator": "In",
                        "values": [INPUT_IS_WRONG],
                    },
                },
                # An evicted pod is not a failure of the Job.
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
            ]
        },
        "template": {
            "metadata": {
                "labels": _labels(order, settings, adapter),
                "annotations": _annotations(order),
            },
            "spec": pod,
        },
        "ttlSecondsAfterFinished": settings.ttl,
    }


def _labels(order: Order, settings: JobTemplate, adapter: str) -> dict[str, str]:
    return {
        **settings.labels,
        **names.object_labels(adapter, order.cluster_id, order.cluster_name, names.JOB),
    }


def _annotations(order: Order) -> dict[str, str]:
    return {names.GENERATION: str(order.generation), names.CLUSTER_ID: order.cluster_id}


def _environment(order: Order, settings: JobTemplate) -> list[dict[str, Any]]:
    of_cluster = {
        option.variable: getattr(order.cluster, name)
        for name, option in OPTIONS.items()
        if option.variable is not None and option.is_shown
    }
    ours: dict[str, str | None] = {
        **of_cluster,
        "LOG_LEVEL": settings.log_level,
        "LOG_FORMAT": settings.log_format,
        "GCP_API_TIMEOUT": f"{settings.gcp_api_timeout:g}s",
        "TRACEPARENT": order.traceparent,
    }
    made: list[dict[str, Any]] = [
        {"name": name, "value": _literal(value)} for name, value in ours.items() if value
    ]
    reference = {"name": names.data_secret_name(order.cluster_id), "key": DATA_KEY}
    made.append({"name": OPTIONS["source"].variable, "valueFrom": {"secretKeyRef": reference}})
    taken = {item["name"] for item in made}
    given = [{"name": name, "value": value} for name, value in settings.env.items() if name not in taken]
    return [*given, *made]


def _literal(value: str) -> str:
    """Escape a value: Kubernetes replaces ``$(NAME)`` by another variable, but not ``$$(NAME)``."""
    return value.replace("$", "$$")


def unliteral(value: str) -> str:
    """Return the original text of an escaped variable."""
    return value.replace("$$", "$")
