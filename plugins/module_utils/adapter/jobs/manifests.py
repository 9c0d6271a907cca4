# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Job of seed 003 and the Secret that its pod reads: built from an order and the configuration.  Pure.

The pull secret is in the Secret and nowhere else: the Job refers to it.  A Job carries two marks: a digest
of what was ordered, keyed, since whoever reads Jobs could otherwise guess at a weak password, and a hash
of how it is run.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Protocol

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter import names
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.adapter.model import Order
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import ConfigurationError

__all__ = [
    "CONTAINER",
    "DATA_KEY",
    "INPUT_IS_WRONG",
    "LARGEST",
    "JobSettings",
    "content_digest",
    "data_secret",
    "job",
    "job_spec",
    "template_hash",
    "unliteral",
]

CONTAINER = "pullsecret-job"
DATA_KEY = "pull-secret.json"
# The exit code of docs/job.md that no second try changes.
INPUT_IS_WRONG = 2
# Linux takes no environment variable that is longer, with its name and the zero at its end.
LARGEST = 128 * 1024 - len("PULL_SECRET_DATA=") - 1

# Annotations that say something to the adapter itself.
_OURS = "hyperfleet.io/"
# Seed 003, "Security Context".
_SECURITY = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "runAsUser": 1000,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}


class JobSettings(Protocol):
    """What is read of the configuration's ``jobTemplate``."""

    @property
    def image(self) -> Optional[str]:
        """None only where no Job is ever made."""

    @property
    def service_account(self) -> str:
        """Of the Job's pods."""

    @property
    def resources(self) -> Mapping[str, Any]:
        """As Kubernetes takes them."""

    @property
    def ttl(self) -> Any:
        """Seconds that an ended Job stays; None: until it is cleaned up by its generation."""

    @property
    def backoff_limit(self) -> int:
        """Pods that may fail before the Job has."""

    @property
    def deadline(self) -> Any:
        """Seconds that all pods of a Job have together; None: any number."""

    @property
    def keep_generations(self) -> int:
        """Of how many earlier generations ended Jobs stay."""

    @property
    def image_pull_secrets(self) -> Sequence[Any]:
        """Names, or Kubernetes' own form of them."""

    @property
    def env(self) -> Any:
        """Name to text, or Kubernetes' own list."""

    @property
    def node_selector(self) -> Mapping[str, str]:
        """Labels of the nodes that may run it."""

    @property
    def tolerations(self) -> Sequence[Any]:
        """As Kubernetes takes them."""

    @property
    def labels(self) -> Mapping[str, str]:
        """More of them, for the Job and its pods."""

    @property
    def annotations(self) -> Mapping[str, str]:
        """More of them, for the Job and its pods."""

    @property
    def priority_class(self) -> Optional[str]:
        """None: the cluster's default."""

    @property
    def log_level(self) -> str:
        """As ``LOG_LEVEL`` takes it."""

    @property
    def log_format(self) -> str:
        """As ``LOG_FORMAT`` takes it."""

    @property
    def gcp_api_timeout(self) -> Any:
        """Seconds, or a text such as ``30s``."""


def content_digest(order: Order, document: bytes, key: bytes) -> str:
    """What is the same as long as a new Job would do what an earlier one did.

    Neither the generation nor the trace is in it: an edit of a label changes them.

    :param key: secret, and the same in all runs.
    """
    parts = [
        order.cluster_id,
        order.cluster_name,
        order.project,
        order.namespace,
        order.replication,
        order.stored_as,
        order.placed_as,
    ]
    # A document cannot begin earlier than it does: what is before it is JSON of one line.
    said = json.dumps(parts).encode() + b"\n" + document
    return "hmac-sha256:" + hmac.new(key, said, hashlib.sha256).hexdigest()


def template_hash(spec: Mapping[str, Any]) -> str:
    """Of a Job's spec; what it refers to is not in it, nor where its trace comes from."""
    template = spec["template"]
    pod = dict(template["spec"])
    pod["containers"] = [
        {**container, "env": [item for item in container["env"] if item["name"] != "TRACEPARENT"]}
        for container in pod["containers"]
    ]
    # Of these a Job that is there may have others and do as well.
    kept = {
        name: value for name, value in spec.items() if name not in ("template", "ttlSecondsAfterFinished")
    }
    said = json.dumps([kept, pod], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:32]


def data_secret(order: Order, document: bytes, adapter: str) -> dict[str, Any]:
    """The Secret ``cluster-{id}-pullsecret-data``, for as long as a Job needs it."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": names.data_secret_name(order.cluster_id),
            "labels": names.labels(adapter, order.cluster_id, order.cluster_name, names.DATA),
            "annotations": _annotations(order),
        },
        "type": "Opaque",
        "data": {DATA_KEY: base64.b64encode(document).decode("ascii")},
    }


def job(
    order: Order,
    settings: JobSettings,
    adapter: str,
    *,
    spec: Mapping[str, Any],
    content: str,
    data_uid: str = "",
    attempt: int = 1,
) -> dict[str, Any]:
    """The Job ``pullsecret-{id}-gen{n}``.

    :param spec: of :func:`job_spec`; :param content: of :func:`content_digest`.
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


def job_spec(order: Order, settings: JobSettings, adapter: str) -> dict[str, Any]:
    """How the Job is run: seed 003, "Job Container Specification" and "Environment Variables".

    :raises ConfigurationError: no image is configured.
    """
    if not settings.image:
        raise ConfigurationError("spec.jobTemplate.image is needed where Jobs are made")
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "serviceAccountName": settings.service_account,
        # What a namespace of the standard "restricted" wants beside seed 003's.
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": CONTAINER,
                "image": settings.image,
                "env": _environment(order, settings),
                "resources": _plain(settings.resources),
                "securityContext": _SECURITY,
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
    }
    if settings.image_pull_secrets:
        pod["imagePullSecrets"] = [
            {"name": item} if isinstance(item, str) else _plain(item) for item in settings.image_pull_secrets
        ]
    if settings.priority_class:
        pod["priorityClassName"] = settings.priority_class
    if settings.node_selector:
        pod["nodeSelector"] = dict(settings.node_selector)
    if settings.tolerations:
        pod["tolerations"] = [_plain(item) for item in settings.tolerations]
    spec: dict[str, Any] = {
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
                # A pod that was evicted is no failure of the Job's.
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
    }
    if settings.deadline is not None:
        spec["activeDeadlineSeconds"] = max(1, int(settings.deadline))
    if settings.ttl is not None:
        spec["ttlSecondsAfterFinished"] = int(settings.ttl)
    return spec


def _labels(order: Order, settings: JobSettings, adapter: str) -> dict[str, str]:
    return {**settings.labels, **names.labels(adapter, order.cluster_id, order.cluster_name, names.JOB)}


def _annotations(order: Order) -> dict[str, str]:
    return {names.GENERATION: str(order.generation), names.CLUSTER_ID: order.cluster_id}


def _environment(order: Order, settings: JobSettings) -> list[dict[str, Any]]:
    timeout = settings.gcp_api_timeout
    ours: dict[str, Optional[str]] = {
        "CLUSTER_ID": order.cluster_id,
        "CLUSTER_NAME": order.cluster_name,
        "GCP_PROJECT_ID": order.project,
        "SECRET_NAME": order.stored_as,
        "MANAGEMENT_NAMESPACE": order.namespace,
        "K8S_SECRET_NAME": order.placed_as,
        "REPLICATION_POLICY": order.replication,
        "LOG_LEVEL": settings.log_level,
        "LOG_FORMAT": settings.log_format,
        "GCP_API_TIMEOUT": timeout if isinstance(timeout, str) else f"{timeout:g}s",
        "TRACEPARENT": order.traceparent,
    }
    made: list[dict[str, Any]] = [
        {"name": name, "value": _literal(value)} for name, value in ours.items() if value
    ]
    reference = {"name": names.data_secret_name(order.cluster_id), "key": DATA_KEY}
    made.append({"name": "PULL_SECRET_DATA", "valueFrom": {"secretKeyRef": reference}})
    taken = {item["name"] for item in made}
    return [*(item for item in _given(settings.env) if item["name"] not in taken), *made]


def _given(env: Any) -> list[dict[str, Any]]:
    if isinstance(env, Mapping):
        return [{"name": str(name), "value": str(value)} for name, value in env.items()]
    return [_plain(item) for item in env or ()]


def _literal(value: str) -> str:
    """Kubernetes puts other variables in the place of ``$(NAME)``, but not of ``$$(NAME)``."""
    return value.replace("$", "$$")


def unliteral(value: str) -> str:
    """The text that a variable of ours was made from."""
    return value.replace("$$", "$")


def _plain(value: Any) -> Any:
    """Frozen configuration as JSON takes it."""
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
