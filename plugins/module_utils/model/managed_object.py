# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A custom resource as the operator passes it to a run. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .kubernetes_time import epoch_seconds

__all__ = ["GROUP", "RESOURCES", "VERSION", "ManagedObject"]

GROUP, VERSION = "pullsecret.hyperfleet.io", "v1alpha1"
RESOURCES = {
    kind: f"{kind.lower()}s.{VERSION}.{GROUP}"
    for kind in ("PullSecret", "PullSecretFleet", "GlobalPullSecret", "GuestPullSecret")
}
"""The kinds of custom resources: plurals with version and group, as in ``clients/kubernetes``."""

_DELETION_TIMEOUT_SECONDS = 900


@dataclass(frozen=True)
class ManagedObject:
    """A custom resource.

    :param created: as the API server writes it: the older of two objects keeps a place that both want.
    :param deletion: seconds since the epoch at which its deletion was asked for; None if it is not deleted.
    :param deletes: whether its deletion deletes what it keeps.
    :param deletion_timeout: seconds after which it goes, whatever is left.
    :param status: as it was when the run began.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    created: str
    generation: int
    spec: Mapping[str, Any] = field(repr=False)
    deletion: float | None = None
    deletes: bool = False
    deletion_timeout: int = _DELETION_TIMEOUT_SECONDS
    status: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> ManagedObject:
        """Return the custom resource. Its spec may be one that an older CRD allowed."""
        metadata, spec = content["metadata"], content.get("spec")
        spec = spec if isinstance(spec, Mapping) else {}
        deletion, timeout = metadata.get("deletionTimestamp"), spec.get("deletionTimeout")
        return cls(
            api_version=str(content.get("apiVersion") or ""),
            kind=str(content["kind"]),
            namespace=str(metadata.get("namespace") or ""),
            name=str(metadata["name"]),
            uid=str(metadata.get("uid") or ""),
            created=str(metadata.get("creationTimestamp") or ""),
            generation=int(metadata.get("generation") or 0),
            spec=spec,
            deletion=epoch_seconds(deletion) if deletion else None,
            deletes=spec.get("deletionPolicy") == "Delete",
            deletion_timeout=timeout if isinstance(timeout, int) else _DELETION_TIMEOUT_SECONDS,
            status=content.get("status") or {},
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    def is_overdue(self, now: float) -> bool:
        """Return whether its deletion has lasted longer than it may."""
        return self.deletion is not None and now >= self.deletion + self.deletion_timeout
