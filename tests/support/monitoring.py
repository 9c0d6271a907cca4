# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files of extensions/monitoring, read."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from tests.tools.env import ROOT

DIRECTORY = ROOT / "extensions" / "monitoring"
ALERTS = DIRECTORY / "alerts.yml"
# What a scraped adapter is called.
NAMES = {"namespace": "hyperfleet-system", "job": "pullsecret-adapter"}
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


def variables() -> Iterator[tuple[str, str]]:
    """The labels that are chosen by, and the metric whose they are."""
    for one in dashboard()["templating"]["list"]:
        if one["type"] == "query":
            found = re.fullmatch(r"label_values\((\w+), (\w+)\)", one["query"]["query"])
            assert found is not None, one
            yield found[2], found[1]


def filled_in(expression: str, *, interval: str, span: str) -> str:
    """The expression with these durations in the place of Grafana's variables."""
    variables = {
        "$__rate_interval": interval,
        "$__range": span,
        **{f"${name}": f"({value})" for name, value in NAMES.items()},
    }
    for variable, value in variables.items():
        expression = expression.replace(variable, value)
    return expression


def drawn(samples: list[dict[str, Any]]) -> bool:
    """Whether Grafana has anything to draw of an answer."""
    return any(math.isfinite(float(sample["value"][1])) for sample in samples)


def rules() -> Iterator[dict[str, Any]]:
    for group in yaml.safe_load(ALERTS.read_text())["groups"]:
        yield from group["rules"]


def names(text: str) -> set[str]:
    """The names of our metrics in a text, as the registry's families have them."""
    return {family(name) for name in NAME.findall(text)}


def family(name: str) -> str:
    return re.sub(r"_(?:bucket|sum|count)\Z", "", name)
