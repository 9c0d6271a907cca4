# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients and sources that use a stand-in, with short pauses between tries."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.client import (
    HyperFleetClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.connection import (
    hyperfleet_connection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.hyperfleet_spec import (
    HyperFleetSource,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import (
    Retrier,
    RetryPolicy,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings
from tests.stand_ins.hyperfleet import HyperFleetLab

TRIES = 3


def quick_retrier() -> Retrier:
    """Three tries, a thousandth of a second apart."""
    return Retrier(RetryPolicy(tries=TRIES, delay=0.001, max_delay=0.001), threading.Event())


@dataclass
class World:
    """A running stand-in and its address."""

    lab: HyperFleetLab

    def client(self, api_timeout: float = 10.0, flavour: str = "current", **options: Any) -> HyperFleetClient:
        return HyperFleetClient(
            hyperfleet_connection({"url": self.lab.url, **options}),
            retrier=quick_retrier(),
            api_timeout=api_timeout,
            connections=4,
            flavour=flavour,
        )

    def source(self, api_timeout: float = 10.0, timeout: float = 10.0, **options: Any) -> HyperFleetSource:
        connections: Mapping[str, Mapping[str, Any]] = {"hyperfleet": {"url": self.lab.url, **options}}
        settings = RunSettings(
            api_timeout=api_timeout, timeout=timeout, retrier=quick_retrier(), connections=connections
        )
        return HyperFleetSource(settings)
