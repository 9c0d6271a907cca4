# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The data file of `extensions/awx`, and the module of awx.awx that applies each of its lists."""

from __future__ import annotations

from typing import Any

import yaml

from tests.tools.env import ROOT

__all__ = ["AWX", "LISTS", "PREFIX", "VARIABLES"]

AWX = ROOT / "extensions" / "awx"
LISTS = {
    "controller_organizations": ("organization", "organizations"),
    "controller_execution_environments": ("execution_environment", "execution_environments"),
    "controller_credential_types": ("credential_type", "credential_types"),
    "controller_credentials": ("credential", "credentials"),
    "controller_projects": ("project", "projects"),
    "controller_inventories": ("inventory", "inventories"),
    "controller_inventory_sources": ("inventory_source", "inventory_sources"),
    "controller_notifications": ("notification_template", "notification_templates"),
    "controller_templates": ("job_template", "job_templates"),
    "controller_workflows": ("workflow_job_template", "workflow_job_templates"),
    "controller_schedules": ("schedule", "schedules"),
}
"""Each list of the file: the module for its items, and AWX's endpoint."""
PREFIX = "HyperFleet"
_WORDS = {"{{ awx_prefix }}": PREFIX, "{{ awx_organization }}": PREFIX}


class _Loader(yaml.SafeLoader):
    """It reads `!unsafe` as text."""


_Loader.add_constructor("!unsafe", lambda _loader, node: str(node.value))


def _read() -> dict[str, Any]:
    text = (AWX / "hyperfleet_awx.yml").read_text()
    for template, word in _WORDS.items():
        text = text.replace(template, word)
    document = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader
    assert isinstance(document, dict)
    return document


VARIABLES = _read()
"""The file's variables. The names are rendered, and other templates are text."""
