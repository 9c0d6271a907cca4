# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work of ``guest_cluster_pull_secret``: one pull secret for all selected guest clusters of one host."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..dockerconfig import sensitive_forms
from ..model.errors import PullSecretError
from ..model.limits import Limits
from ..places.local import FileSource
from ..places.reader import Document
from ..runtime.secrecy import Mask
from ..workflows.guest_cluster.deliver import GuestDelivery
from ..workflows.guest_cluster.direct import DirectDelivery
from ..workflows.guest_cluster.from_options import build_guest_pull_secret
from ..workflows.guest_cluster.guest_run import GuestRun
from ..workflows.guest_cluster.host import read_applied, read_host
from ..workflows.guest_cluster.manifests import read_manifests
from ..workflows.guest_cluster.plan import Delivery, GuestPlan, Removal, plan_guests
from ..workflows.options import document_options, run_options, with_defaults
from ..workflows.run import Run, Work
from ..workflows.targets import Wanted

__all__ = ["run", "target_options"]


def target_options() -> dict[str, Any]:
    """Return the whole argument spec: the task's guests are found, not listed."""
    return dict(
        state={"type": "str", "choices": ["present", "absent"], "default": "present"},
        **document_options(),
        namespace_selector={"type": "str"},
        namespace_pattern={"type": "str"},
        delivery={
            "type": "str",
            "choices": ["cluster_resource_set", "direct"],
            "default": "cluster_resource_set",
        },
        set_name={"type": "str", "default": "crs-pull-secret"},
        secret_name={"type": "str", "default": "pull-secret"},
        secret_namespaces={"type": "list", "elements": "str", "no_log": False, "default": ["kube-system"]},
        secret_namespace_selector={"type": "str", "no_log": False},
        all_secret_namespaces={"type": "bool", "no_log": False, "default": False},
        service_accounts={"type": "list", "elements": "str"},
        objects={"type": "list", "elements": "path"},
        report_drift={"type": "bool", "default": True},
        label_clusters={"type": "bool", "default": False},
        adopt={"type": "bool", "default": False},
        prune={"type": "bool", "default": True},
        prune_limit={"type": "str", "default": "10%"},
        show_table={"type": "bool", "default": False},
        **run_options(),
    )


_LIMITS = Limits(target_options())


def run(
    params: Mapping[str, Any], *, check_mode: bool, diff: bool, stop: threading.Event | None = None
) -> dict[str, Any]:
    """Deliver to all guests, and return the module's result.

    :raises ConfigurationError: an invalid option.
    :raises PullSecretError: the source or a list of the host cannot be read, so nothing is written.
    """
    options = with_defaults(params)
    _LIMITS.check(options)
    wanted = build_guest_pull_secret(options)
    shared = Run(params, "guest-cluster", check_mode=check_mode, diff=diff, stop=stop)
    deadline = shared.settings.deadline()
    seen: list[bytes] = []
    document: Document | None = None
    if wanted.present:
        try:
            document = shared.documents.read(options, deadline, seen)
        except PullSecretError as error:
            error.message = Mask(form for read in seen for form in sensitive_forms(read)).text(error.message)
            raise
    client = shared.kubernetes.get(deadline)
    if wanted.present and options["objects"] is not None:
        manifests = read_manifests(options["objects"], shared.sources.of(FileSource), client, deadline, seen)
        wanted = replace(wanted, manifests=manifests)
    kinds, host = read_host(client, wanted, deadline)
    plan = plan_guests(wanted, host)
    keeps = plan.keeps_objects is not None
    guest_run = GuestRun(shared.settings, shared.kubernetes, client, wanted, check_mode, keeps)
    delivery: GuestDelivery | DirectDelivery
    if wanted.is_direct:
        delivery = DirectDelivery(guest_run)
    else:
        applied = read_applied(client, kinds, deadline) if plan.deliveries else {}
        delivery = GuestDelivery(guest_run, kinds, applied)

    def work(guest: Delivery | Removal, current: Work) -> None:
        current.seen.extend(seen)
        if isinstance(guest, Delivery) and guest.guest.is_deleting:
            current.outcome.extra.update(state="skipped")
            current.outcome.warnings.append("skipped: the Cluster is being deleted")
        elif isinstance(guest, Delivery) and document is not None:
            delivery.deliver(guest, document, current)
        elif isinstance(guest, Removal):
            delivery.remove(guest, current)

    guests: list[Delivery | Removal] = [*plan.deliveries, *plan.removals]
    targets: list[Wanted[Delivery | Removal]] = [Wanted({"id": guest.id}, guest) for guest in guests]
    plural = "configmaps" if wanted.is_direct else "secrets"

    def place(target: Wanted[Delivery | Removal]) -> str:
        described = target.target()
        return f"namespaces/{described.namespace}/{plural}/{described.set_name}"

    return _whole(shared.over(targets, place, work), plan, document)


def _whole(result: dict[str, Any], plan: GuestPlan, document: Document | None) -> dict[str, Any]:
    """Return the result with what it says of the run as a whole, once: a thousand guests have the same document."""
    result["notes"] = [*(document.warnings if document else ()), *plan.notes]
    if document is not None and document.conflicts:
        result["conflicts"] = list(document.conflicts)
    refused = [text for text in (plan.refused, plan.keeps_objects) if text is not None]
    if refused:
        # Everything else was done.
        messages = [result["msg"]] if result.get("failed") else []
        result.update(failed=True, refused=refused, msg="; ".join([*messages, *refused]))
    return result
