# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Builds Cluster API's core manager and copies its CRDs, once a machine. A cold build takes about two minutes."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from tests.lab.cache import made_once
from tests.lab.go_programs import GoPrograms

__all__ = ["build"]

_MODULE = "sigs.k8s.io/cluster-api"
_PROGRAMS = GoPrograms("cluster-api", Path(__file__).resolve().parent, {"manager": _MODULE})


def build() -> Path:
    """Return the directory with the program ``manager`` and the CRDs (``crds/*.json``)."""
    return made_once(_PROGRAMS.cache_name, _build)


def _build(target: Path) -> None:
    _PROGRAMS.build(target)
    crds = target / "crds"
    crds.mkdir()
    module = Path(_PROGRAMS.go("list", "-m", "-f", "{{.Dir}}", _MODULE).strip())
    for path in (module / "config" / "crd" / "bases").glob("*.yaml"):
        # As JSON: to parse 1.2 MB of YAML at each start takes seconds.
        (crds / f"{path.stem}.json").write_text(json.dumps(yaml.safe_load(path.read_text())))
