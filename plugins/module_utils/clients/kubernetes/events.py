# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Events: one for each message about an object, which is renewed while the message lasts."""

from __future__ import annotations

from typing import Any

from ...model.kubernetes_event import refresh_patch
from ...runtime.retry import Deadline
from .client import KubernetesClient
from .errors import ObjectAlreadyExists, Overtaken

__all__ = ["put_event"]


def put_event(client: KubernetesClient, event: dict[str, Any], now: float, deadline: Deadline) -> bool:
    """Create an Event, or renew the one of its name.

    :param now: seconds since the epoch.
    :returns: whether anything was written. It is not if another run has just reported the same.
    """
    namespace, name = event["metadata"]["namespace"], event["metadata"]["name"]
    existing = client.get(namespace, "events", name, deadline)
    try:
        if existing is None:
            client.create(namespace, "events", event, deadline)
            return True
        patch = refresh_patch(existing, now)
        if patch is not None:
            client.patch(namespace, "events", name, patch, deadline)
        return patch is not None
    except (ObjectAlreadyExists, Overtaken):
        return False
