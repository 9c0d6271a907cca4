# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events of a custom resource, for what a person must know. A failure to write one changes nothing."""

from __future__ import annotations

from ...clients.kubernetes.client import KubernetesClient
from ...clients.kubernetes.errors import ObjectAlreadyExists, Overtaken
from ...model.errors import PullSecretError
from ...model.kubernetes_event import event_name, refresh_patch, warning_event
from ...model.managed_object import ManagedObject
from ...runtime.retry import Deadline

__all__ = ["report"]


def report(
    client: KubernetesClient, item: ManagedObject, reason: str, message: str, now: float, deadline: Deadline
) -> None:
    """Write an Event, or renew it: one for each reason and message."""
    involved = {
        "apiVersion": item.api_version,
        "kind": item.kind,
        "namespace": item.namespace,
        "name": item.name,
        "uid": item.uid,
    }
    name = event_name(item.name, item.uid, f"{reason} {message}")
    try:
        existing = client.get(item.namespace, "events", name, deadline)
        if existing is None:
            event = warning_event(name, involved, reason, message, now)
            client.create(item.namespace, "events", event, deadline)
            return
        patch = refresh_patch(existing, now)
        if patch is not None:
            client.patch(item.namespace, "events", name, patch, deadline)
    except (ObjectAlreadyExists, Overtaken):
        # Another run has reported the same.
        return
    except PullSecretError:
        # The condition says the same.
        return
