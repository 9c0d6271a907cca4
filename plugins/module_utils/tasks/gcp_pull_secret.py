# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of ``gcp_pull_secret``; ``workflows/provision/store`` does the work."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from ..model.cluster import specs_of
from ..places.secret_manager.store import SecretManagerStore
from ..places.secret_store import StoreTarget
from ..workflows.options import document_options, resolve_targets
from ..workflows.provision import store
from ..workflows.targets import Wanted

__all__ = ["run", "target_options", "targets_elsewhere", "targets_of"]


def target_options() -> dict[str, Any]:
    """Return the options of one target: those of a cluster for Secret Manager, and an id."""
    return {"id": {"type": "str"}, **specs_of("store"), **document_options()}


def targets_of(params: Mapping[str, Any]) -> list[Wanted[StoreTarget]]:
    """Return the task's targets.

    :raises ConfigurationError: two have the same id or the same secret.
    """
    return store.targets_of(resolve_targets(params, list(target_options())), SecretManagerStore)


# Called on another machine than the one that does the work: names are the same everywhere.
targets_elsewhere = targets_of


def run(
    params: Mapping[str, Any], *, check_mode: bool, diff: bool, stop: threading.Event | None = None
) -> dict[str, Any]:
    """Handle all targets, and return the module's result."""
    targets = resolve_targets(params, list(target_options()))
    return store.store(targets, params, check_mode=check_mode, diff=diff, stop=stop, kind=SecretManagerStore)
