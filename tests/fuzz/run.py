# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A run: makes numbered inputs from a seed, tries them, and reduces each finding to its smallest input."""

from __future__ import annotations

import copy
import gc
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.fuzz.inputs import KINDS, Input, Surface
from tests.fuzz.options import Right
from tests.fuzz.runners import RUNNERS, load_everything
from tests.fuzz.surfaces import surfaces
from tests.fuzz.trying import BAD, Verdict, tried
from tests.support.secrecy.canary import Canary

__all__ = ["fuzz", "input_of", "never_done"]

_TRIES = 30
_WORDS = 1500
_RIGHT = 8
_PLACE = re.compile(r"(?:at |File \"[^\"]*/)([\w.]+\.py)(?::|\", line )(\d+)")


def input_of(seed: str, number: int, canary: Canary, chosen: list[Surface]) -> Input:
    """Return the input with this number; it does not depend on the other inputs."""
    rng = random.Random(f"{seed}:{number}")
    (surface,) = rng.choices(chosen, [one.weight for one in chosen])
    return surface.make(rng, canary)


def never_done(seed: str, root: Path, *, at_once: int = 2) -> int:
    """Try right inputs for all surfaces, and print the surfaces that accepted none; return 1 if there are any."""
    canary = _prepared(seed)
    rng = Right(seed)
    inputs = [surface.make(rng, canary) for surface in surfaces() for _count in range(_RIGHT)]
    # Without the stand-ins, right inputs fail, too.
    answered = [replace(one, world=True) for one in inputs]
    lost = {one.surface: "" for one in inputs}
    for _number, given, verdict in tried(enumerate(answered), root, canary, RUNNERS, at_once=at_once):
        if verdict.kind == "done":
            lost.pop(given.surface, None)
        elif given.surface in lost:
            lost[given.surface] = verdict.says
    for name, says in lost.items():
        print(f"{name}: {says[-_WORDS:]}")
    return 1 if lost else 0


def fuzz(
    seed: str,
    count: int,
    root: Path,
    *,
    only: str = "",
    number: int | None = None,
    at_once: int = 2,
    shrink: bool = True,
) -> int:
    """Try inputs and print the findings; return 1 if there are any."""
    print(f"fuzz: seed {seed}, {count} inputs, ansible-core {_core()}", flush=True)
    canary = _prepared(seed)
    everything = surfaces()
    numbers = [number] if number is not None else range(count)
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    found: dict[str, tuple[int, Input, Verdict]] = {}
    again: Counter[str] = Counter()
    begun = time.monotonic()

    def inputs() -> Iterator[tuple[int, Input]]:
        for one in numbers:
            made = input_of(seed, one, canary, everything)
            if only in made.surface:
                yield one, made

    for done, (one, given, verdict) in enumerate(tried(inputs(), root, canary, RUNNERS, at_once=at_once), 1):
        kind = given.surface.partition("/")[0]
        counts[kind]["inputs"] += 1
        counts[kind][verdict.kind] += 1
        if verdict.is_bad:
            name = _signature(given, verdict)
            again[name] += 1
            if name not in found:
                found[name] = (one, given, verdict)
                print(f"  found {verdict.kind}: {given.surface}, input {one}", flush=True)
        if done % 500 == 0:
            print(f"  {done} tried in {time.monotonic() - begun:.0f} s", flush=True)
    for name, (one, given, verdict) in found.items():
        least = _least(given, name, root, canary) if shrink else given
        print(
            f"\n{verdict.kind} ({again[name]} times): --seed {seed} --number {one}, "
            f"{given.surface} by {given.runner}"
        )
        print(f"  input: {_printed(least)}\n  shows: {verdict.says[-_WORDS:].strip()}", flush=True)
    for kind, counted in counts.items():
        print(f"{kind + ':':<10} {_line(counted)}")
    total = sum(counts.values(), Counter[str]())
    print(f"{'all:':<10} {_line(total)}; seed {seed}, {time.monotonic() - begun:.0f} s")
    return 1 if any(total[one] for one in BAD) else 0


def _prepared(seed: str) -> Canary:
    """Import everything before the inputs' processes are forked from this one; return the inputs' credentials."""
    load_everything()
    gc.collect()
    gc.freeze()
    return Canary.make("the input's credentials", random.Random(f"{seed}:canary"))


def _core() -> str:
    from ansible.release import __version__

    return str(__version__)


def _line(counted: Counter[str]) -> str:
    words = [f"{counted['inputs']} inputs, {counted['done']} done, {counted['refused']} refused"]
    return ", ".join(
        [
            *words,
            *(f"{counted[one]} {one}s" if one != "canary" else f"{counted[one]} canaries" for one in BAD),
        ]
    )


def _signature(given: Input, verdict: Verdict) -> str:
    """Return a string that is the same for all inputs with the same defect."""
    places = _PLACE.findall(verdict.says)
    at = (
        ":".join(places[-1])
        if places and verdict.kind in ("traceback", "internal error")
        else given.surface + given.runner
    )
    return f"{verdict.kind} {at}"


def _least(given: Input, name: str, root: Path, canary: Canary) -> Input:
    """Return the input without the parts that the finding does not need."""
    if name.startswith("hang"):
        return given
    number, least, tries = 10**9, given, 0
    shorter = True
    while shorter and tries < _TRIES:
        shorter = False
        for candidate in _without_one(least):
            tries += 1
            number += 1
            ((_number, _given, verdict),) = tried([(number, candidate)], root, canary, RUNNERS, at_once=1)
            if verdict.is_bad and _signature(candidate, verdict) == name:
                least, shorter = candidate, True
                break
            if tries >= _TRIES:
                break
    return least


def _without_one(given: Input) -> Iterator[Input]:
    for path in list(_paths(given.data)):
        if path[0] not in ("name", "check", "diff", "play", "flags", "run") or len(path) > 1:
            data = copy.deepcopy(given.data)
            holder: Any = data
            for step in path[:-1]:
                holder = holder[step]
            del holder[path[-1]]
            yield replace(given, data=data)


def _paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if len(at) > 4:
        return
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        if len(at) or key in ("options", "variables", "arguments", "terms", "environment", "files", "event"):
            if len(at) > 0:
                yield (*at, key)
            yield from _paths(value[key], (*at, key))


def _printed(given: Input) -> str:
    text = repr(given.data) + (f", clusters {given.clusters!r}" if given.clusters else "")
    return text if len(text) < 3 * _WORDS else text[: 3 * _WORDS] + "…"
