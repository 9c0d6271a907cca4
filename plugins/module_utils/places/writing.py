# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shared by places that are written: comparing meaning, and recording what was done."""

from __future__ import annotations

from ..dockerconfig import DockerConfig, DockerConfigError, load
from ..model.outcome import Outcome

__all__ = ["note", "parse_any", "parse_held", "same_meaning"]


def parse_held(data: bytes | None, wanted: DockerConfig) -> DockerConfig | None:
    """Return the docker config that a place holds; None if it holds none or a broken one, which both differ."""
    if data is None:
        return None
    if data == wanted.canonical():
        # The common case of a fleet without changes: no second parse.
        return wanted
    return parse_any(data)


def parse_any(data: bytes | None) -> DockerConfig | None:
    """Parse bytes as a docker config; None if they are not one."""
    try:
        return load(data, allow_empty=True) if data is not None else None
    except DockerConfigError:
        return None


def same_meaning(held: DockerConfig | None, wanted: DockerConfig) -> bool:
    """Return whether the place already has this meaning and need not be written."""
    return held is not None and (held is wanted or held.same_meaning(wanted))


def note(outcome: Outcome, operation: str, message: str, **fields: str) -> None:
    """Add an entry to the target's journal, if it has one."""
    if outcome.journal is not None:
        outcome.journal.note(operation, message, **fields)
