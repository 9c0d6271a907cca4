# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of ``k8s_pull_secret``; ``workflows/provision/place`` does the work."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from ..model.cluster import specs_of
from ..places.kubernetes_secret.target import KubernetesTarget
from ..workflows.options import document_options, resolve_targets
from ..workflows.provision import place
from ..workflows.targets import Wanted

__all__ = ["run", "target_options", "targets_elsewhere", "targets_of"]


def target_options() -> dict[str, Any]:
    """Return the options of one target: those of a cluster for Kubernetes, and the module's own."""
    return {
        "id": {"type": "str"},
        **specs_of("place"),
        "gcp_secret_path": {"type": "str", "no_log": False},
        "annotations": {"type": "dict"},
        "wait_for_namespace": {"type": "bool"},
        "source_digest": {"type": "str"},
        **document_options(),
    }


def targets_of(params: Mapping[str, Any]) -> list[Wanted[KubernetesTarget]]:
    """Return the task's targets.

    :raises ConfigurationError: two have the same id or the same Secret.
    """
    return place.targets_of(resolve_targets(params, list(target_options())))


# Called on another machine than the one that does the work: names are the same everywhere.
targets_elsewhere = targets_of


def run(
    params: Mapping[str, Any], *, check_mode: bool, diff: bool, stop: threading.Event | None = None
) -> dict[str, Any]:
    """Handle all targets, and return the module's result."""
    targets = resolve_targets(params, list(target_options()))
    return place.place(targets, params, check_mode=check_mode, diff=diff, stop=stop)
