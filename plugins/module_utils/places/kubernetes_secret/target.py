# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The wanted Secret, and the objects that are sent for it. Pure functions."""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...dockerconfig import DockerConfig
from ...model.errors import InvalidDocument, NotFound, VerificationFailed
from ...model.naming import (
    CREATED_AT,
    LAST_APPLIED,
    STORED_VERSION,
    allows,
    kubernetes_annotations,
    kubernetes_labels,
)
from ...model.outcome import Outcome
from ...model.shown import HIDDEN, first_few
from ...model.stored_version import StoredVersion
from ..document_forms import with_auths
from .content import SecretContent

__all__ = [
    "APPLIED_REMOVED",
    "KEY",
    "TYPE",
    "KubernetesTarget",
    "applied_values",
    "delete_preconditions",
    "docker_config_value",
    "encode_docker_config",
    "has_last_applied",
    "is_being_deleted",
    "is_version_only",
    "metadata_patch",
    "missing_key",
    "new_kubernetes_secret",
    "replacement",
    "secret_value",
    "verify_written",
]

KEY = ".dockerconfigjson"
TYPE = "kubernetes.io/dockerconfigjson"
# The key of the old type kubernetes.io/dockercfg: the pull secret itself, not foreign data.
_LEGACY_KEY = ".dockercfg"
_PULL_SECRET_KEYS = (KEY, _LEGACY_KEY)
APPLIED_REMOVED = "annotation last-applied-configuration removed"
"""The action; the annotation's value is a copy of an older pull secret."""


@dataclass(frozen=True)
class KubernetesTarget:
    """The wanted Secret.

    :param immutable: None keeps the present setting.
    :param waits_for_namespace: whether to wait for a missing namespace, as long as retries do.
    :param service_accounts: service accounts of the namespace that pull with it.
    """

    id: str
    namespace: str
    name: str
    cluster_id: str | None = None
    cluster_name: str | None = None
    gcp_secret_path: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    adopt: bool = False
    immutable: bool | None = None
    service_accounts: Sequence[str] = ()
    context: str | None = None
    kubeconfig: str | None = None
    waits_for_namespace: bool = False

    def wanted_labels(self) -> dict[str, str]:
        """The labels of the job contract and the user's labels. The owner's labels cannot be overridden."""
        return {**self.labels, **kubernetes_labels(self.cluster_id, self.cluster_name)}

    def wanted_annotations(self, version: StoredVersion | None) -> dict[str, str]:
        """The annotations of the job contract, the version that the Secret holds, and the user's annotations."""
        return {**self.annotations, **kubernetes_annotations(self.gcp_secret_path, version)}

    def new_annotations(self, version: StoredVersion | None) -> dict[str, str]:
        """The annotations of a Secret that is created now."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return {**self.wanted_annotations(version), CREATED_AT: now}


def is_being_deleted(secret: Mapping[str, Any]) -> bool:
    return bool(secret["metadata"].get("deletionTimestamp"))


def secret_value(secret: Mapping[str, Any], key: str, where: str) -> bytes:
    """Return the bytes of a key of a Secret; a pull secret of the legacy type has its own key and format.

    :param where: the Secret's printable name.
    :raises NotFound: there is no such key.
    :raises InvalidDocument: it is not base64.
    """
    data = secret.get("data") or {}
    if key == KEY and key not in data and _LEGACY_KEY in data:
        key = _LEGACY_KEY
    value = data.get(key)
    if value is None:
        raise NotFound(f"{where}: {missing_key(secret, key)}", "correct the key, or add it to the secret")
    try:
        raw = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidDocument(f"{where}: key {key} is not base64") from None
    return with_auths(raw) if key == _LEGACY_KEY else raw


def missing_key(secret: Mapping[str, Any], key: str) -> str:
    """Say that the Secret has no such key, and which keys it has."""
    keys = [name for name in sorted(secret.get("data") or ()) if allows("key", name)]
    return f"the secret has no key {key} (it has {first_few(keys)})"


def has_last_applied(secret: Mapping[str, Any]) -> bool:
    """Return whether ``kubectl apply`` has left a copy of the Secret in its annotation."""
    return LAST_APPLIED in (secret["metadata"].get("annotations") or {})


def applied_values(secret: Mapping[str, Any]) -> list[bytes]:
    """Return the values that ``kubectl apply`` has left in the annotation, to be masked."""
    text = (secret["metadata"].get("annotations") or {}).get(LAST_APPLIED) or ""
    try:
        parts = [json.loads(text).get(name) or {} for name in ("data", "stringData")]
        values = [value for part in parts for value in part.values()]
    except (AttributeError, RecursionError, ValueError):
        values = [text]
    return [value.encode("utf-8", "surrogatepass") for value in values if isinstance(value, str) and value]


def docker_config_value(secret: Mapping[str, Any]) -> bytes | None:
    value = (secret.get("data") or {}).get(KEY)
    if value is None:
        return None
    try:
        return base64.b64decode(value)
    except (binascii.Error, ValueError):
        return None


def encode_docker_config(config: DockerConfig) -> str:
    return base64.b64encode(config.canonical()).decode("ascii")


def new_kubernetes_secret(target: KubernetesTarget, content: SecretContent) -> dict[str, Any]:
    body: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": target.name,
            "namespace": target.namespace,
            "labels": target.wanted_labels(),
            "annotations": target.new_annotations(content.version),
        },
        "type": TYPE,
        "data": {KEY: encode_docker_config(content.config)},
    }
    if target.immutable:
        body["immutable"] = True
    return body


def replacement(
    target: KubernetesTarget, old: Mapping[str, Any], content: SecretContent, immutable: bool
) -> dict[str, Any]:
    """Return the new secret with all metadata and data of the old one on which others may rely."""
    body = new_kubernetes_secret(target, content)
    kept = old["metadata"]
    metadata = body["metadata"]
    metadata["labels"] = {**(kept.get("labels") or {}), **metadata["labels"]}
    annotations = {**(kept.get("annotations") or {}), **metadata["annotations"]}
    if content.version is None:
        annotations.pop(STORED_VERSION, None)
    annotations.pop(LAST_APPLIED, None)
    metadata["annotations"] = annotations
    others = {key: value for key, value in (old.get("data") or {}).items() if key not in _PULL_SECRET_KEYS}
    body["data"] = {**others, **body["data"]}
    for field_name in ("ownerReferences", "finalizers"):
        if kept.get(field_name):
            metadata[field_name] = kept[field_name]
    if immutable:
        body["immutable"] = True
    else:
        body.pop("immutable", None)
    return body


def metadata_patch(
    target: KubernetesTarget,
    secret: Mapping[str, Any],
    version: StoredVersion | None,
    outcome: Outcome,
    *,
    forget: bool,
) -> dict[str, Any]:
    """Return the labels and annotations that differ. A merge patch keeps the others.

    :param version: the version for the Secret; None if it has no number.
    :param forget: whether the annotation that names a version is then removed. Not in check mode: the version
        that a real run would place may not exist yet.
    """
    patch: dict[str, Any] = {}
    annotations: dict[str, str | None] = {**target.wanted_annotations(version), LAST_APPLIED: None}
    if version is None and forget:
        annotations[STORED_VERSION] = None
    for kind, wanted in (("labels", target.wanted_labels()), ("annotations", annotations)):
        there = secret["metadata"].get(kind) or {}
        different = {key: value for key, value in wanted.items() if there.get(key) != value}
        if different:
            patch[kind] = different
            for key, value in different.items():
                before = HIDDEN if key == LAST_APPLIED else there.get(key)
                outcome.differs(f"{kind[:-1]} {key}", before, value)
    return patch


def is_version_only(patch: Mapping[str, Any]) -> bool:
    """Return whether the metadata differ only in the number of the version, which follows from the data."""
    return list(patch) == ["annotations"] and list(patch["annotations"]) == [STORED_VERSION]


def delete_preconditions(secret: Mapping[str, Any]) -> dict[str, str]:
    return {"uid": secret["metadata"]["uid"], "resourceVersion": secret["metadata"]["resourceVersion"]}


def verify_written(answer: Mapping[str, Any], config: DockerConfig, place: str) -> None:
    # The response to a write is the object as the server stored it, so no second read is needed.
    if docker_config_value(answer) != config.canonical():
        raise VerificationFailed(f"{place} does not hold what was written")
