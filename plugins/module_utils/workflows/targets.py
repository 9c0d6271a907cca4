# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The targets of a module run: each one's options, and the objects built from them once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable, Generic, TypeVar

from ..model.errors import ConfigurationError
from ..model.naming import shown_name
from ..model.shown import shown
from .options import resolve_targets

__all__ = ["Wanted", "build_targets", "described"]

T = TypeVar("T")

# Options that name a target without an id. Each is a kind of name.
_NAMED_BY = ("cluster_id", "secret", "name")


@dataclass(frozen=True)
class Wanted(Generic[T]):
    """One target.

    :param options: with the task's as defaults.
    :param built: the object built from them; None if they are invalid.
    :param problem: what is wrong with them; the target fails with it when it is handled.
    """

    options: Mapping[str, Any]
    built: T | None = None
    problem: ConfigurationError | None = None

    @property
    def present(self) -> bool:
        """Whether it has a document to read."""
        return bool(self.options["state"] == "present")

    @property
    def id(self) -> str:
        """The target's id in results. An invalid name is not shown, because it may be a docker config that
        was pasted there.
        """
        if self.options.get("id"):
            return shown(str(self.options["id"]))
        named = next((name for name in _NAMED_BY if self.options.get(name)), None)
        if named is None:
            return "target"
        name = str(self.options[named])
        # In a valid target, each name obeys a rule.
        return shown_name(named, name) if self.built is None else shown(name)

    def target(self) -> T:
        """:raises ConfigurationError: the options are invalid."""
        if self.built is None:
            raise self.problem or ConfigurationError("the target is not described")
        return self.built


def build_targets(
    params: Mapping[str, Any],
    names: Sequence[str],
    build: Callable[[Mapping[str, Any]], T],
    place: Callable[[T], str | None],
) -> list[Wanted[T]]:
    """Return every target of a task.

    :param names: the options of a target; the others are as for :func:`described`.
    :raises ConfigurationError: two targets have the same id, or as :func:`described`.
    """
    return described(resolve_targets(params, names), build, place)


def described(
    options: Iterable[Mapping[str, Any]],
    build: Callable[[Mapping[str, Any]], T],
    place: Callable[[T], str | None],
) -> list[Wanted[T]]:
    """Return the targets for these options.

    :param build: raises ``ConfigurationError`` for invalid options, which fails only this target.
    :param place: returns the full name of what a target writes, None if it writes nothing.
    :raises ConfigurationError: two targets write the same secret or file, and would undo each other's work.
    """
    targets = [_built(target, build) for target in options]
    seen: dict[str, int] = {}
    for index, wanted in enumerate(targets):
        name = place(wanted.built) if wanted.built is not None else None
        if name is not None and seen.setdefault(name, index) != index:
            raise ConfigurationError(
                f"targets {seen[name] + 1} and {index + 1} are both {name}",
                "correct the name in one of them, or remove it",
            )
    return targets


def _built(options: Mapping[str, Any], build: Callable[[Mapping[str, Any]], T]) -> Wanted[T]:
    try:
        return Wanted(options, build(options))
    except ConfigurationError as problem:
        return Wanted(options, problem=problem)
