# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The limits of the modules' numbers and paths. Pure.

A number that is too large for a clock, a thread pool or a server would otherwise be found late: as a defect,
or as a run that never ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .errors import WrongOption

__all__ = ["LIMITS", "LONGEST_PATH", "PATH_RULE", "Limit", "Limits", "is_path"]

_DAY = 86400
_YEAR = 365 * _DAY
LONGEST_PATH = 4096
"""Bytes; Linux's limit."""
PATH_RULE = f"a path of at most {LONGEST_PATH} bytes, without a NUL character"


class Limit(NamedTuple):
    """The range of a number, both ends included; ``above``: except the lowest."""

    least: int
    most: int
    seconds: bool = False
    above: bool = False

    def fits(self, value: float) -> bool:
        """Return whether the number is within; NaN is not."""
        return self.least <= value <= self.most and not (self.above and value == self.least)

    @property
    def text(self) -> str:
        """The limit for messages and for the modules' documentation."""
        of = "number of seconds" if self.seconds else "number"
        return f"a {of} " + (
            f"above {self.least}, at most {self.most}" if self.above else f"from {self.least} to {self.most}"
        )


_TIME = Limit(0, _DAY, seconds=True)
_TIME_LIMIT = Limit(0, _DAY, seconds=True, above=True)

LIMITS: dict[str, Limit] = {
    "concurrency": Limit(1, 1000),
    "timeout": _TIME_LIMIT,
    "api_timeout": _TIME_LIMIT,
    "retry.tries": Limit(1, 1000),
    "retry.delay": _TIME,
    "retry.max_delay": _TIME,
    "retention.keep": Limit(1, 2**31 - 1),
    "retention.destroy_after": Limit(0, 10 * _YEAR, seconds=True),
    "generation": Limit(1, 2**63 - 1),
    "syncer_tolerations.toleration_seconds": Limit(0, 2**31 - 1, seconds=True),
    "health_window": _TIME,
    # For one node after the other, a minute each.
    "rollout_timeout": Limit(0, 30 * _DAY, seconds=True),
    # Also checked by places/kubelet, for the syncer.
    "attempts": Limit(1, 100),
    "backoff": _TIME,
    "restart_timeout": _TIME,
    "ready_timeout": _TIME,
    "window": _TIME,
    "lock_timeout": _TIME,
}
"""By the name of an option, or of its target if it has one; the same in every module."""


class Limits:
    """The limits of the options of an argument spec: all numbers, and all paths.

    :param spec: ``targets`` are left out: each of them is checked by itself, so that a wrong one fails alone.
    """

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._options = list(_found(spec, ()))

    def check(self, options: Mapping[str, Any]) -> None:
        """Check the options of a task or a target, after validation.

        :raises WrongOption: the first that exceeds its limit.
        """
        for parts, kind in self._options:
            for where, value in _values(options, parts, ""):
                if kind == "path":
                    if isinstance(value, str) and not is_path(value):
                        raise WrongOption(where, f"must be {PATH_RULE}")
                    continue
                limit = LIMITS[".".join(parts)]
                if not limit.fits(value):
                    raise WrongOption(where, f"must be {limit.text}")


def is_path(text: str) -> bool:
    """Return whether a system call accepts it; an empty path means none."""
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return len(encoded) <= LONGEST_PATH and b"\0" not in encoded


def _found(spec: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    for name, rule in spec.items():
        parts = (*above, name)
        if parts == ("targets",):
            continue
        if rule.get("type") in ("int", "float", "path"):
            yield parts, rule["type"]
        yield from _found(rule.get("options") or {}, parts)


def _values(options: Any, parts: tuple[str, ...], above: str) -> Iterator[tuple[str, Any]]:
    """Yield the option's values, each with its name; several if the path contains a list."""
    if isinstance(options, list):
        for index, one in enumerate(options):
            yield from _values(one, parts, f"{above}[{index}]")
    elif isinstance(options, Mapping):
        value = options.get(parts[0])
        where = f"{above}.{parts[0]}" if above else parts[0]
        if value is not None and parts[1:]:
            yield from _values(value, parts[1:], where)
        elif value is not None:
            yield where, value
