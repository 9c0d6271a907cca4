# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What AWX gives a job: its inventory, cut into slices, its variables and its environment, as recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.tools.env import ROOT

__all__ = ["PROJECT", "job_flags", "slices", "stored"]

PROJECT = ROOT / "extensions" / "awx" / "project"
_LAUNCH = {"job_id": 27, "job_launch_type": "manual", "job_template_name": "Provision", "user_name": "admin"}


def stored(listed: Mapping[str, Any]) -> dict[str, Any]:
    """Return an inventory as AWX stores and prints it.

    :param listed: what ``ansible-inventory --list`` prints.
    """
    hosts = listed["_meta"]["hostvars"]
    groups = {name: {"hosts": group["hosts"]} for name, group in listed.items() if group.get("hosts")}
    own = {
        name: {**variables, "remote_tower_enabled": "true", "remote_tower_id": number}
        for number, (name, variables) in enumerate(hosts.items(), start=1)
    }
    return {"_meta": {"hostvars": own}, "all": {"hosts": sorted(own), "children": sorted(groups)}, **groups}


def slices(inventory: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the inventory of each slice: every ``count``-th host by name; groups are cut, too."""
    names = sorted(inventory["_meta"]["hostvars"])
    cut = []
    for number in range(min(count, len(names))):
        own = names[number::count]
        groups = {
            name: {**group, "hosts": [host for host in group["hosts"] if host in set(own)]}
            for name, group in inventory.items()
            if name != "_meta"
        }
        variables = {host: inventory["_meta"]["hostvars"][host] for host in own}
        cut.append({"_meta": {"hostvars": variables}, **groups})
    return cut


def job_flags(directory: Path, inventory: Mapping[str, Any], limit: Sequence[str] = ()) -> list[str]:
    """Write a job's private data, and return the flags of its ``ansible-playbook``."""
    hosts, variables = directory / "inventory" / "hosts", directory / "env" / "extravars"
    hosts.parent.mkdir(parents=True, exist_ok=True)
    variables.parent.mkdir(exist_ok=True)
    data = directory / "inventory.json"
    data.write_text(json.dumps(inventory))
    hosts.write_text(f"#!/bin/sh\nexec cat '{data}'\n")
    hosts.chmod(0o700)
    variables.write_text(
        json.dumps({f"{who}_{k}": v for who in ("awx", "tower") for k, v in _LAUNCH.items()})
    )
    limited = ["-l", ":".join(limit)] if limit else []
    return ["-u", "root", *limited, "-i", str(hosts), "-e", f"@{variables}"]
