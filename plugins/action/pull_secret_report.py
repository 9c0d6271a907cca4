# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.provision import summary_rows
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.report import ReportAction


class ActionModule(ReportAction):
    """Reports the result of each cluster; see M(hyperfleet.pull_secret.pull_secret_report)."""

    VARIABLES = ("clusters",)
    RESULTS = ("secret_manager", "management")

    def rows(self, named: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return one row per cluster."""
        return summary_rows(named["clusters"], named["secret_manager"], named["management"])
