# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What ``pull_secret_info`` takes; ``workflows/inspection`` does the work."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from ..model.cluster import specs_of
from ..workflows.inspection.inspect_clusters import DIGESTS, InspectedTarget, inspect_clusters
from ..workflows.inspection.inspect_clusters import targets_of as described_targets
from ..workflows.options import document_options, resolve_targets, with_targets
from ..workflows.provision.steps import INSPECTED
from ..workflows.targets import Wanted

__all__ = ["run", "target_options", "targets_elsewhere", "targets_of"]


def _one_target() -> dict[str, Any]:
    """The options of one target: where both secrets of a cluster are, and where its docker config comes from."""
    specs = {**specs_of("store"), **specs_of("place")}
    return {
        "id": {"type": "str"},
        **{name: specs[name] for name in INSPECTED},
        "problem": {"type": "str"},
        **document_options(),
    }


def target_options() -> dict[str, Any]:
    """The whole argument spec, since some options are not a target's."""
    names = {"type": "list", "elements": "str", "default": []}
    return {
        **with_targets(_one_target()),
        "digests": {"type": "str", "choices": list(DIGESTS), "default": DIGESTS[0]},
        "compare_source": {"type": "bool", "default": False},
        "unlisted": {"type": "bool", "default": False},
        "projects": names,
        "namespaces": names,
        "show_table": {"type": "bool", "default": False},
    }


def targets_of(params: Mapping[str, Any]) -> list[Wanted[InspectedTarget]]:
    """The task's targets.

    :raises ConfigurationError: two have one id, or are one secret.
    """
    return described_targets(resolve_targets(params, list(_one_target())))


# Asked on another machine than the one that works on them: a place has one name everywhere.
targets_elsewhere = targets_of


def run(
    params: Mapping[str, Any], *, check_mode: bool, diff: bool, stop: threading.Event | None = None
) -> dict[str, Any]:
    """Look at all targets; the module's result."""
    targets = resolve_targets(params, list(_one_target()))
    return inspect_clusters(targets, params, check_mode=check_mode, diff=diff, stop=stop)
