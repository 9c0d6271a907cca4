# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads, decides and writes, and starts again whenever another client was faster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Callable, TypeVar

from ...clients.kubernetes.errors import Overtaken
from ...dockerconfig import DockerConfig
from ...model.outcome import Outcome
from ...runtime.retry import ConflictPauses, Deadline
from ...runtime.run_settings import RunSettings
from ..writing import note

__all__ = ["retry_when_overtaken"]

T = TypeVar("T")


def retry_when_overtaken(
    settings: RunSettings, outcome: Outcome, deadline: Deadline, once: Callable[[bool], T]
) -> T:
    """Call ``once`` until it meets no conflict, and return what it returns.

    :param once: called with whether to read the secret again, instead of the batch's LIST.
    :raises TimedOut: there were conflicts until the target's time was over.
    """
    fresh = False
    pauses = ConflictPauses(settings.retrier, deadline, first=0.05, cause="another client kept changing it")
    done: list[str] = []
    unanswered: _Intent | None = None
    while True:
        try:
            result = once(fresh)
        except Overtaken as error:
            intent = _Intent.of(outcome)
            outcome.restart()
            done = list(outcome.actions)
            if error.unsure:
                unanswered = intent
            fresh = True
            pauses.wait(error)
            continue
        if unanswered is not None and outcome.actions == done:
            # Nothing is left to do: the conflict was with our own write, which must be reported.
            unanswered.restore(outcome)
        return result


@dataclass(frozen=True)
class _Intent:
    """The intention of a write whose response was lost."""

    actions: Sequence[str]
    before: DockerConfig | None
    metadata: tuple[Mapping[str, str], Mapping[str, str]]

    @classmethod
    def of(cls, outcome: Outcome) -> _Intent:
        metadata = (outcome.metadata_before, outcome.metadata_after)
        return cls(list(outcome.actions), outcome.before, metadata)

    def restore(self, outcome: Outcome) -> None:
        for action in self.actions:
            outcome.did(action)
        outcome.before = self.before
        outcome.metadata_before, outcome.metadata_after = self.metadata
        note(outcome, "confirm-write", "A write whose response was lost has taken effect")
