# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any, Callable

from ansible.errors import AnsibleFilterError

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.hosted import hosted_targets
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.problems import ClusterError
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.provision import (
    gcp_targets,
    info_targets,
    kubernetes_targets,
)


def _reported(function: Callable[..., Any]) -> Callable[..., Any]:
    def filtered(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except ClusterError as error:
            raise AnsibleFilterError(str(error)) from None

    return filtered


class FilterModule:
    """Turns the clusters of a workflow into the targets of its modules."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {
            "gcp_targets": _reported(gcp_targets),
            "hosted_targets": _reported(hosted_targets),
            "info_targets": _reported(info_targets),
            "kubernetes_targets": _reported(kubernetes_targets),
        }
