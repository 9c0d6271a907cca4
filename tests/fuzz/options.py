# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes options from an argument spec: adds right ones to a base that works, then makes some of them wrong."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Mapping
from typing import Any

from tests.fuzz.values import hostile, misplaced, right
from tests.support.secrecy.canary import Canary

__all__ = ["Right", "Spec", "made"]

Spec = Mapping[str, Mapping[str, Any]]
# Options that limit a wait. At most one of them is made wrong in an input, so that the others still end it. The
# wrong value is never a long and allowed number of seconds.
_PATIENCE = (
    *("tries", "delay", "timeout", "attempts", "backoff", "window", "retry", "wait"),
    *("serial", "ackDeadline", "silence", "resync"),
)
_SHORT, _LONG = 4.0, 86400.0
_FEW = (0, 0, 1, 1, 1, 1, 2, 3)


class Right(random.Random):
    """Marks right inputs, whose options are those of the base."""


def made(rng: random.Random, spec: Spec, base: Mapping[str, Any], canary: Canary) -> dict[str, Any]:
    """Return the options of one input."""
    options = copy.deepcopy(dict(base))
    if isinstance(rng, Right):
        return options
    _fill(rng, options, spec, 2.0 / max(len(spec), 6))
    waited = False
    for _count in range(rng.choice(_FEW)):
        places = list(_places(options, spec))
        if not places:
            break
        holder, name, option = rng.choice(places)
        if _is_patience(name):
            if waited:
                continue
            waited = True
        _spoil(rng, holder, name, option, canary)
    return options


def _fill(rng: random.Random, options: dict[str, Any], spec: Spec, share: float) -> None:
    for name, option in spec.items():
        if name in options and not isinstance(options[name], dict):
            continue
        if name not in options:
            if rng.random() >= share:
                continue
            options[name] = right(rng, name, option)
        below = option.get("options")
        if below and option.get("type") == "dict" and isinstance(options[name], dict):
            _fill(rng, options[name], below, share)
            for needed in (one for one in below if below[one].get("required")):
                options[name].setdefault(needed, right(rng, needed, below[needed]))
        elif below and options[name] == []:
            one: dict[str, Any] = {}
            _fill(rng, one, below, 0.4)
            options[name] = [one, copy.deepcopy(one)] if rng.random() < 0.3 else [one]


def _places(options: dict[str, Any], spec: Spec) -> Iterator[tuple[dict[str, Any], str, Mapping[str, Any]]]:
    """Yield each existing or possible option, and its mapping."""
    for name, option in spec.items():
        yield options, name, option
        value, below = options.get(name), option.get("options")
        # A mapping without its own spec, such as policy or labels, can also have wrong values inside.
        parts = value if isinstance(value, list) else [value]
        for part in parts:
            if isinstance(part, dict):
                yield from _places(part, below or {str(key): {} for key in part})


def _spoil(
    rng: random.Random, holder: dict[str, Any], name: str, option: Mapping[str, Any], canary: Canary
) -> None:
    """Make one option wrong."""
    turn = rng.random()
    if turn < 0.62:
        holder[name] = _short(name, hostile(rng))
    elif turn < 0.77 and option.get("misplaced", True):
        holder[name] = misplaced(rng, canary)
    elif turn < 0.85:
        holder[_almost(rng, name)] = holder.pop(name, hostile(rng))
    elif turn < 0.90:
        holder.pop(name, None)
    elif turn < 0.95:
        holder[name] = [holder.get(name)]
    else:
        holder[name] = str(holder.get(name)) if rng.random() < 0.5 else {name: holder.get(name)}


def _almost(rng: random.Random, name: str) -> str:
    at = rng.randrange(len(name)) if name else 0
    return rng.choice(
        [name[:at] + name[at + 1 :] or "x", name + "s", name.upper(), name.replace("_", "-"), "x-" + name]
    )


def _is_patience(name: str) -> bool:
    return any(word in name for word in _PATIENCE)


def _short(name: str, value: Any) -> Any:
    """Return the value, or NaN in place of a long allowed wait, which would count as a hang."""
    if not _is_patience(name):
        return value
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return value
    return float("nan") if _SHORT < abs(seconds) <= _LONG else value
