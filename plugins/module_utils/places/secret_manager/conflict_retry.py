# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Read, decide, write; from the start again whenever another client was faster."""

from __future__ import annotations

from typing import Callable

from ...model.errors import Conflict, PullSecretError, TimedOut
from ...runtime.retry import Deadline
from ...runtime.settings import RunSettings

__all__ = ["retry_on_conflict"]

_LONGEST_PAUSE = 2.0


def retry_on_conflict(settings: RunSettings, deadline: Deadline, once: Callable[[bool], None]) -> None:
    """Call ``once`` until it meets no conflict.

    :param once: called with whether metadata has to be read again, and not taken from the batch's LIST.
    :raises TimedOut: it met conflicts until the target's time was over.
    """
    fresh = False
    # The first conflict may only mean that the LIST was old: no need to wait.
    pause = 0.0

    def attempt(_timeout: float) -> None:
        nonlocal fresh, pause
        while True:
            try:
                once(fresh)
                return
            except Conflict as error:
                fresh = True
                if deadline.remaining() <= pause or settings.retrier.stop.is_set():
                    raise TimedOut(
                        f"{error.message} (another run kept changing it, or Secret Manager's answers are stale)"
                    ) from None
                settings.retrier.stop.wait(pause)
                pause = min(_LONGEST_PAUSE, max(0.1, pause * 2))
            except PullSecretError:
                fresh = True
                raise

    settings.retrier.call(attempt, deadline=deadline, api_timeout=settings.timeout)
