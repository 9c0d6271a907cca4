# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes the tenant's Event and annotation; a failure to write them is only a warning."""

from __future__ import annotations

import time
from typing import Any

from ...clients.kubernetes.errors import Overtaken
from ...clients.kubernetes.events import put_event
from ...model.errors import PullSecretError
from ...model.outcome import Outcome
from ...places.kubernetes_secret.owned_objects import OwnedObjects
from ...places.writing import note
from ...runtime.retry import Deadline
from .tenant_event import TenantNotice, annotation_patch, tenant_event

__all__ = ["notify_tenant"]


def notify_tenant(
    objects: OwnedObjects,
    secret: dict[str, Any],
    notice: TenantNotice | None,
    outcome: Outcome,
    deadline: Deadline,
) -> None:
    """Write on the tenant's secret what its owner must correct, or remove that.

    Renewing an Event is not a change, because it would expire by itself.

    :param notice: None without a problem.
    :raises Overtaken: the tenant has changed the secret meanwhile.
    """
    try:
        if notice is not None and not objects.dry_run:
            _event(objects, secret, notice, outcome, deadline)
        patch = annotation_patch(secret, notice)
        if patch is None:
            return
        outcome.did("reported to the tenant" if notice is not None else "cleared the tenant's report")
        if objects.dry_run:
            return
        objects.client.patch(objects.namespace, "secrets", secret["metadata"]["name"], patch, deadline)
        outcome.settle()
        note(outcome, "annotate-secret", "Wrote the annotation on the additional secret")
    except Overtaken:
        raise
    except PullSecretError as error:
        outcome.restart()
        outcome.warnings.append(f"the problem could not be reported to the tenant: {error}")


def _event(
    objects: OwnedObjects, secret: dict[str, Any], notice: TenantNotice, outcome: Outcome, deadline: Deadline
) -> None:
    now = time.time()
    if put_event(objects.client, tenant_event(secret, notice, now), now, deadline):
        note(outcome, "event", "Reported to the tenant in an Event")
