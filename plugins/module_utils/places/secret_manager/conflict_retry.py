# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads, decides and writes, and starts again whenever another client was faster."""

from __future__ import annotations

from typing import Callable

from ...model.errors import Conflict, PullSecretError
from ...runtime.retry import ConflictPauses, Deadline
from ...runtime.run_settings import RunSettings

__all__ = ["retry_on_conflict"]

_CAUSE = "another run kept changing it, or Secret Manager's answers are stale"


def retry_on_conflict(settings: RunSettings, deadline: Deadline, once: Callable[[bool], None]) -> None:
    """Call ``once`` until it meets no conflict.

    :param once: called with whether to read metadata again, instead of the batch's LIST.
    :raises TimedOut: there were conflicts until the target's time was over.
    """
    fresh = False
    # The first conflict may only mean that the LIST was stale: no need to wait.
    pauses = ConflictPauses(settings.retrier, deadline, first=0.0, cause=_CAUSE)

    def attempt(_timeout: float) -> None:
        nonlocal fresh
        while True:
            try:
                once(fresh)
                return
            except Conflict as error:
                fresh = True
                pauses.wait(error)
            except PullSecretError:
                fresh = True
                raise

    settings.retrier.call(attempt, deadline=deadline, api_timeout=settings.timeout)
