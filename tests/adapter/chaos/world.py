# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter's surroundings in the chaos tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.adapter.world import World
from tests.support.kubernetes.playing import Playing


class ChaosWorld(World):
    """The adapter's surroundings, where only the Job's real program places a Secret."""

    PLAYING = Playing

    def config(self, **spec: Any) -> Path:
        """Write the adapter's configuration, with an API timeout below the injected delay of 3 s."""
        changed = {
            "hyperfleetAPI": {"url": self.hyperfleet.url, "timeout": "2s"},
            "jobTemplate": {"image": "registry.example.com/job:1", "backoffLimit": 6},
        }
        return super().config(**{**changed, **spec})

    def unfinished(self) -> list[str]:
        """The clusters that are not Reconciled: the sentinel publishes them again."""
        items, _total = self.hyperfleet.store.select(None, True, 0, 1000)
        return [item["id"] for item in items if not _is_reconciled(item)]


def _is_reconciled(cluster: dict[str, Any]) -> bool:
    found = cluster["status"]["conditions"]
    return any(one["type"] == "Reconciled" and one["status"] == "True" for one in found)
