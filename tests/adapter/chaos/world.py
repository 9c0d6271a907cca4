# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The world of a chaos: its owners are never disturbed by the faults that are meant for the adapter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.adapter.world import NAMESPACE, World
from tests.lab.session import STAND_IN, KubernetesEnv
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.kubernetes.playing import Playing
from tests.stand_ins.secret_manager import SecretManagerLab


class ChaosWorld(World):
    """The adapter's world, with what others do in it without HTTP."""

    def __init__(
        self,
        hyperfleet: HyperFleetLab,
        kubernetes: KubernetesLab,
        manager: SecretManagerLab,
        directory: Path,
    ) -> None:
        server = KubernetesEnv(
            STAND_IN, kubernetes.url, kubernetes.admin_token, kubernetes.viewer_token, lab=kubernetes
        )
        super().__init__(hyperfleet, server, manager, directory)
        # The Job's real program places the Secret: nothing else may.
        self.playing = Playing(self.request, self.home)

    def config(self, **spec: Any) -> Path:
        """The adapter's configuration, with an API that is not waited for as long as a story delays it."""
        return super().config(**{"hyperfleetAPI": {"url": self.hyperfleet.url, "timeout": "2s"}, **spec})

    def listed(self, base: str, kind: str) -> list[dict[str, Any]]:
        """What there is of a kind in the adapter's namespace."""
        return list(self.request("GET", f"{base}/namespaces/{NAMESPACE}/{kind}", None, "")[1]["items"])

    def unfinished(self) -> list[str]:
        """Of which clusters the sentinel publishes again: who is not Reconciled."""
        items, _total = self.hyperfleet.store.select(None, True, 0, 1000)
        return [item["id"] for item in items if not _is_reconciled(item)]


def _is_reconciled(cluster: dict[str, Any]) -> bool:
    found = cluster["status"]["conditions"]
    return any(one["type"] == "Reconciled" and one["status"] == "True" for one in found)
