# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts of a cluster and of its adapters' statuses that may be printed. Pure.

A cluster's spec holds its pull secret, and others may write anything into the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...dockerconfig import sensitive_forms
from ...model.cluster_document import PULL_SECRET_NAMES
from ...model.encoded import holds_secret
from ...model.shown import HIDDEN, shown
from ...runtime.secrecy import Mask, quiet
from .status_parser import conditions_of
from .statuses import AdapterStatus, Condition

__all__ = ["shown_cluster", "shown_conditions"]


def shown_cluster(cluster: Mapping[str, Any], statuses: Mapping[str, AdapterStatus]) -> dict[str, Any]:
    """Return a cluster without its pull secret, and without anything that looks like one or repeats a part of
    it.
    """
    spec = cluster.get("spec")
    spec = dict(spec) if isinstance(spec, Mapping) else {}
    generation = cluster.get("generation")
    if not isinstance(generation, int) or isinstance(generation, bool):
        generation = None
    forms: set[str] = set()
    for name in PULL_SECRET_NAMES:
        held = spec.get(name)
        if isinstance(held, Mapping):
            data = held.get("data")
            forms |= sensitive_forms(data) if isinstance(data, (str, Mapping)) else set()
            spec[name] = {key: value for key, value in held.items() if key != "data"}
        elif held is not None:
            del spec[name]
    status = cluster.get("status")
    found: dict[str, Any] = Mask(forms).value(
        {
            "id": str(cluster.get("id")),
            "name": _word(cluster.get("name")),
            "generation": generation,
            "deleted": bool(cluster.get("deleted_time")),
            "deleted_time": _word(cluster.get("deleted_time")),
            "labels": quiet(cluster.get("labels") or {}),
            "spec": quiet(spec),
            "conditions": shown_conditions(
                conditions_of(status.get("conditions") if isinstance(status, Mapping) else None).values()
            ),
            "statuses": {
                _text(name): {
                    "generation": said.generation,
                    "current": said.generation == generation,
                    "conditions": shown_conditions(said.conditions.values()),
                    "data": quiet(dict(said.data)),
                    "metadata": quiet(dict(said.metadata)),
                    "observed_time": said.observed_time,
                }
                for name, said in statuses.items()
            },
        }
    )
    return found


def _word(value: Any) -> Any:
    """Return a text that is a name or a time; None if it is not."""
    return shown(value) if isinstance(value, str) else None


def shown_conditions(conditions: Iterable[Condition]) -> dict[str, dict[str, str]]:
    """Return the conditions by type, as far as they may be shown: another adapter may have written anything."""
    return {
        _text(condition.type): {
            "status": condition.status,
            "reason": _text(condition.reason),
            "message": _text(condition.message),
        }
        for condition in conditions
    }


def _text(text: str) -> str:
    return HIDDEN if holds_secret(text) else text
