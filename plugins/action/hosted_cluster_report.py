# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.hosted import hosted_rows
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.report import ReportAction
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.table import HOSTED


class ActionModule(ReportAction):
    """Reports the result of each hosted cluster; see M(hyperfleet.pull_secret.hosted_cluster_report)."""

    VARIABLES = ("clusters", "defaults")
    OPTIONAL = ("defaults",)
    RESULTS = ("result",)
    COLUMNS = HOSTED

    def rows(self, named: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return one row per cluster."""
        return hosted_rows(named["clusters"], named["result"], named["defaults"])
