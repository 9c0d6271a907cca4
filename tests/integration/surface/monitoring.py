# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files of extensions/monitoring, read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from tests.tools.env import ROOT

DIRECTORY = ROOT / "extensions" / "monitoring"
ALERTS = DIRECTORY / "alerts.yml"
NAME = re.compile(r"\bpullsecret_\w+")


class Query(NamedTuple):
    """One query of the dashboard."""

    panel: str
    expression: str


def dashboard() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((DIRECTORY / "dashboard.json").read_text())
    return read


def queries() -> list[Query]:
    return [
        Query(panel["title"], target["expr"])
        for panel in dashboard()["panels"]
        for target in panel.get("targets", ())
    ]


def rules() -> Iterator[dict[str, Any]]:
    for group in yaml.safe_load(ALERTS.read_text())["groups"]:
        yield from group["rules"]


def names(text: str) -> set[str]:
    """The names of our metrics in a text, as the registry's families have them."""
    return {family(name) for name in NAME.findall(text)}


def family(name: str) -> str:
    return re.sub(r"_(?:bucket|sum|count)\Z", "", name)
