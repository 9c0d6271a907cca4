# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the places that are written have in common: comparing meaning, and saying what was done."""

from __future__ import annotations

from ..dockerconfig import DockerConfig, DockerConfigError, load
from ..model.outcome import Outcome

__all__ = ["note", "parse_any", "parse_held", "same_meaning"]


def parse_held(data: bytes | None, wanted: DockerConfig) -> DockerConfig | None:
    """The docker config that a place holds; None where it holds none, or a broken one: both differ."""
    if data is None:
        return None
    if data == wanted.canonical():
        # The common case of a fleet that is right: no second parse.
        return wanted
    return parse_any(data)


def parse_any(data: bytes | None) -> DockerConfig | None:
    """The docker config that the bytes are; None where they are none."""
    try:
        return load(data, allow_empty=True) if data is not None else None
    except DockerConfigError:
        return None


def same_meaning(held: DockerConfig | None, wanted: DockerConfig) -> bool:
    """Whether a place that holds this need not be written."""
    return held is not None and (held is wanted or held.same_meaning(wanted))


def note(outcome: Outcome, operation: str, message: str, **fields: str) -> None:
    """An entry of the target's journal, where it has one."""
    if outcome.journal is not None:
        outcome.journal.note(operation, message, **fields)
