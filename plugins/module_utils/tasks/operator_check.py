# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work of ``operator_check``: what a custom resource asks the role behind its kind to do."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from ..clients.kubernetes.client import KubernetesClient
from ..model.errors import ConfigurationError
from ..model.managed_object import ManagedObject
from ..model.naming import allows
from ..runtime.retry import Deadline
from ..workflows.operator.claims import Claims
from ..workflows.options import run_options
from ..workflows.run import Run
from .custom_resources import KINDS, Kind, camel_case, in_snake_case

__all__ = ["INVALID", "managed", "run", "target_options"]

INVALID = "invalid"
"""The kind of a failure that keeps no object from going: what has this name cannot exist."""


def target_options() -> dict[str, Any]:
    """Return the whole argument spec: the task has no targets."""
    return {"object": {"type": "dict", "required": True}, **run_options()}


def managed(content: Mapping[str, Any]) -> tuple[ManagedObject, Kind]:
    """Return a custom resource, and its kind.

    :raises ConfigurationError: it is none of the controller's.
    """
    kind = KINDS.get(str(content.get("kind")))
    if kind is None or not isinstance(content.get("metadata"), Mapping):
        raise ConfigurationError(f"object: its kind must be one of {', '.join(KINDS)}")
    return ManagedObject.of(content), kind


def run(
    params: Mapping[str, Any], *, check_mode: bool, diff: bool, stop: threading.Event | None = None
) -> dict[str, Any]:
    """Return the clusters that the role handles, and a row of a report for each that it does not."""
    item, kind = managed(params["object"])
    result: dict[str, Any] = {"changed": False, "clusters": [], "refused": []}
    if item.deletion is not None and not item.deletes:
        return result
    options = kind.options()
    shared = Run(params, "operator", check_mode=check_mode, diff=diff, stop=stop)
    deadline = shared.settings.deadline()
    client = shared.kubernetes.get(deadline)
    claims = _claims(client, item, kind, options, deadline)
    for target in _targets(item, kind, options):
        claim = claims.owner_of(kind.places(target))
        if item.deletion is None:
            if claim is None:
                result["clusters"].append(target)
                continue
            what, owner = claim
            reason = f"{owner} already keeps the {what}; nothing was changed here; delete one of both objects"
            result["refused"].append(_refused(item, target, "conflict", reason))
        elif claim is None:
            finding = {name: target[name] for name in kind.finding if name in target}
            wrong = _wrong_names(kind, finding)
            if wrong:
                reason = f"{', '.join(wrong)}: no such name can exist; what was there before is left"
                result["refused"].append(_refused(item, target, INVALID, reason))
            elif not kind.is_gone(client, finding, deadline):
                result["clusters"].append({**finding, "state": "absent"})
    return result


def _refused(item: ManagedObject, target: Mapping[str, Any], kind: str, reason: str) -> dict[str, Any]:
    name = str(target.get("cluster_id") or item.name)
    return {"id": name, "failed": True, "kind": kind, "reason": reason}


def _wrong_names(kind: Kind, finding: Mapping[str, Any]) -> list[str]:
    rules = kind.finding
    return [
        camel_case(name)
        for name, value in finding.items()
        # An empty one is not given.
        if rules[name] and value and not allows(rules[name], str(value))
    ]


def _claims(
    client: KubernetesClient, item: ManagedObject, kind: Kind, options: Mapping[str, Any], deadline: Deadline
) -> Claims:
    # Kinds whose objects may keep the same places have the same options.
    claims = Claims(item)
    for other_kind in KINDS.values():
        if other_kind.places == kind.places:
            for content in client.list_all(other_kind.resource, "", deadline):
                other = ManagedObject.of({"kind": other_kind.name, **content})
                for target in _targets(other, other_kind, options):
                    claims.add(other, kind.places(target))
    return claims


def _targets(item: ManagedObject, kind: Kind, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    targets = item.spec.get("clusters") if kind.is_fleet else [item.spec]
    return [in_snake_case(each, options) for each in targets or () if isinstance(each, Mapping)]
