# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events of a custom resource, for what a person must know. A failure to write one changes nothing."""

from __future__ import annotations

import contextlib

from ...clients.kubernetes.client import KubernetesClient
from ...clients.kubernetes.events import put_event
from ...model.errors import PullSecretError
from ...model.kubernetes_event import event_name, warning_event
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
    # The condition says the same.
    with contextlib.suppress(PullSecretError):
        put_event(client, warning_event(name, involved, reason, message, now), now, deadline)
