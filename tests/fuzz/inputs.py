# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An input, and a surface that makes inputs."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.secrecy.canary import Canary

ROOT = Path(__file__).resolve().parents[2]


COLLECTION = "hyperfleet.pull_secret"


KINDS = ("module", "lookup", "filter", "role", "playbook", "rulebook", "source", "job", "document")


@dataclass(frozen=True)
class Input:
    """One thing to be tried.

    :param surface: ``kind/name``; :param runner: of ``runners.py``; :param data: what the runner is given.
    :param world: whether the stand-ins answer; else nothing listens where they would.
    """

    surface: str
    runner: str
    data: dict[str, Any]
    world: bool = False
    clusters: list[Any] = field(default_factory=list)


Maker = Callable[[random.Random, Canary], Input]


@dataclass(frozen=True)
class Surface:
    """Something with options: ``kind/name``, its inputs, and how many of all inputs it gets."""

    name: str
    make: Maker
    weight: int = 10
