# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Inputs, and the surfaces that make them."""

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
    """One input to try.

    :param surface: ``kind/name``.
    :param runner: the name of a function in ``runners.py``.
    :param data: the runner's argument.
    :param world: whether the stand-ins run; otherwise nothing listens at their addresses.
    """

    surface: str
    runner: str
    data: dict[str, Any]
    world: bool = False
    clusters: list[Any] = field(default_factory=list)


Maker = Callable[[random.Random, Canary], Input]


@dataclass(frozen=True)
class Surface:
    """Something with options: its ``kind/name``, a function that makes inputs, and its share of all inputs."""

    name: str
    make: Maker
    weight: int = 10
