# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lists the surfaces: every module, action, lookup, filter, role, playbook, rulebook, event source and document.

The names come from the directories. A surface without a base has no options that work, so its inputs would only
reach the first check. ``missing()`` returns such surfaces, and a test fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.fuzz.bases import FILTERS, LOOKUPS, MODULES, PLAYBOOKS, ROLES, RULEBOOKS, SOURCES
from tests.fuzz.documents import document_surfaces, job_surfaces
from tests.fuzz.inputs import ROOT, Surface
from tests.fuzz.plays import playbook_surface, role_surface, rulebook_surface, source_surface
from tests.fuzz.plugins import filter_surface, lookup_surface, module_surface


def _names(pattern: str) -> list[str]:
    return sorted({one.stem for one in ROOT.glob(pattern) if not one.name.startswith("_")})


def _there() -> dict[str, tuple[list[str], Any]]:
    """Return, by kind, the existing names and the bases."""
    return {
        "module": (sorted({*_names("plugins/modules/*.py"), *_names("plugins/action/*.py")}), MODULES),
        "lookup": (_names("plugins/lookup/*.py"), LOOKUPS),
        "filter": (_names("plugins/filter/*.yml"), FILTERS),
        "role": (sorted(one.name for one in (ROOT / "roles").iterdir()), ROLES),
        "playbook": (_names("playbooks/*.yml"), PLAYBOOKS),
        "rulebook": (_names("extensions/eda/rulebooks/*.yml"), RULEBOOKS),
        "source": (_names("extensions/eda/plugins/event_source/*.py"), SOURCES),
    }


def missing() -> list[str]:
    """Return the surfaces without a base."""
    return [
        f"{kind}/{name}" for kind, (names, bases) in _there().items() for name in names if name not in bases
    ]


def surfaces() -> list[Surface]:
    """Return all surfaces."""
    makers: dict[str, Callable[[str], Surface]] = {
        "module": module_surface,
        "lookup": lookup_surface,
        "filter": filter_surface,
        "role": role_surface,
        "playbook": playbook_surface,
        "rulebook": rulebook_surface,
        "source": source_surface,
    }
    found = [makers[kind](name) for kind, (names, _bases) in _there().items() for name in names]
    return [*found, *job_surfaces(), *document_surfaces()]
