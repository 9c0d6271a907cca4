# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The Event and the annotation that tell a tenant why their secret is not merged, or with which warnings it is.

There is one Event for each problem. The annotation stays until the secret is fixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...model.kubernetes_event import LONGEST_MESSAGE, event_name, warning_event
from .names import PROBLEM

__all__ = ["TenantNotice", "annotation_patch", "tenant_event", "tenant_event_name"]


class TenantNotice(NamedTuple):
    """What a tenant must correct: registries and rules, no value.

    ``is_merged``: the secret is merged all the same.
    """

    problem: str
    is_merged: bool = False

    @property
    def message(self) -> str:
        """The notice as one sentence."""
        return f"{'merged, with warnings' if self.is_merged else 'not merged'}: {self.problem}"[
            :LONGEST_MESSAGE
        ]


def tenant_event_name(secret: Mapping[str, Any], notice: TenantNotice) -> str:
    """Return the Event's name: one for each problem of one secret."""
    metadata = secret["metadata"]
    return event_name(metadata["name"], metadata["uid"], notice.problem)


def tenant_event(secret: Mapping[str, Any], notice: TenantNotice, now: float) -> dict[str, Any]:
    """Return a new Event about the tenant's secret.

    :param now: seconds since the epoch.
    """
    metadata = secret["metadata"]
    involved = {
        "apiVersion": "v1",
        "kind": "Secret",
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
    }
    reason = "PullSecretWarning" if notice.is_merged else "InvalidPullSecret"
    return warning_event(tenant_event_name(secret, notice), involved, reason, notice.message, now)


def annotation_patch(secret: Mapping[str, Any], notice: TenantNotice | None) -> dict[str, Any] | None:
    """Return the patch of the tenant's secret, or None if its annotation is right."""
    metadata = secret["metadata"]
    wanted = (
        None if notice is None else notice.message if notice.is_merged else notice.problem[:LONGEST_MESSAGE]
    )
    if (metadata.get("annotations") or {}).get(PROBLEM) == wanted:
        return None
    return {
        "metadata": {"resourceVersion": metadata["resourceVersion"], "annotations": {PROBLEM: wanted}},
    }
