# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Configurations of the adapter that tests change."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

# The adapter contract, "Configuration (via AdapterConfig)", as it is there.
SEED_EXAMPLE = Path(__file__).with_name("adapter-contract.yml").read_text()

_SMALLEST: dict[str, Any] = {
    "apiVersion": "hyperfleet.redhat.com/v1alpha1",
    "kind": "AdapterConfig",
    "metadata": {"name": "pullsecret-adapter"},
    "spec": {
        "hyperfleetAPI": {"url": "http://hyperfleet-api:8080"},
        "jobTemplate": {"image": "quay.io/hyperfleet/pull-secret-job:v1"},
    },
}


def document(**spec: Any) -> dict[str, Any]:
    """The smallest valid configuration with these fields of its ``spec`` set, or removed if None."""
    made = copy.deepcopy(_SMALLEST)
    made["spec"].update(spec)
    made["spec"] = {name: value for name, value in made["spec"].items() if value is not None}
    return made


def job(**fields: Any) -> dict[str, Any]:
    """The smallest valid configuration with these fields of its ``spec.jobTemplate`` set."""
    return document(jobTemplate={**_SMALLEST["spec"]["jobTemplate"], **fields})
