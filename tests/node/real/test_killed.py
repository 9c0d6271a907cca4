# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""kill -9 before each step of the work on a real node, with its systemd over D-Bus and its directory.

The steps are those of ``tests/node/unit/story.py``. ``tests/node/unit/test_killed.py`` has the other stories,
such as a rollback.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd.dbus import OverDBus
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.clock import Clock
from tests.node.unit.story import NEW, OLD, Stepping, Story, kill_at_every_step
from tests.node.world import DIRECTORY, FILE, UNIT, World

pytestmark = pytest.mark.real("nodes")

# In the node's directory, which the test can also read from outside.
_STARTED_WITH = "/root/started-with"
# A quick start, because it happens hundreds of times.
_KUBELET = f"""[Service]
Type=notify
NotifyAccess=all
TimeoutStartSec=10
ExecStart=/bin/sh -c 'cp {FILE} {_STARTED_WITH}; systemd-notify --ready; exec sleep inf'
"""


def _seen(world: World, path: str) -> Path:
    """The path of the node's file on the host."""
    return world.node.root / path.lstrip("/")


class RealKubelet(OverDBus, Stepping):
    """A restart has three steps: the request, systemd's job, and its result."""

    def __init__(self, world: World) -> None:
        super().__init__(Clock())
        self.before_step = lambda: None
        self.started_with = _seen(world, _STARTED_WITH)
        self._waits = False

    def restart(self, unit: str, timeout: float) -> str:
        self.before_step()
        self._waits = True
        job = super().restart(unit, timeout)
        self.before_step()
        return job

    def _signal(self, *args: Any) -> Any:
        if self._waits:
            # systemd has received the request and works on it.
            self._waits = False
            self.before_step()
        return super()._signal(*args)


@pytest.mark.parametrize("way", ["module", "syncer"])
@pytest.mark.nightly
def test_every_step(world: World, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    world.everywhere("mkdir", "-p", "-m", "0700", DIRECTORY)
    world.node.install_unit(UNIT, _KUBELET)
    world.everywhere("systemctl", "start", UNIT)
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={world.node.bus_dir}/system_bus_socket")

    def kubelet() -> RealKubelet:
        """It keeps running from one step to the next."""
        _seen(world, _STARTED_WITH).unlink(missing_ok=True)
        return RealKubelet(world)

    options: dict[str, Any] = {"attempts": 1, "window": 0.0, "ready_timeout": 5.0}
    story = Story(way, _seen(world, FILE), kubelet, Clock(), OLD, options=options)
    steps = kill_at_every_step(story, NEW, "in-sync")
    assert steps > 30, "too few steps"
