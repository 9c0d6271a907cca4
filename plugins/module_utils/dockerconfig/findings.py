# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A finding, and the one error the core raises."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn, TypeVar, cast

from .rules import BY_ID, ERROR

__all__ = ["DockerConfigError", "Finding", "finding", "forgetful", "refuse"]

_SHOWN = 5
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Finding(NamedTuple):
    """One finding of :func:`lint`; never contains a value of the document.

    ``rule`` is the stable id, ``severity`` is ``error`` or ``warning``, ``registry`` the printable key (None:
    the complete document); ``kubelet`` and ``containers_image`` describe the verdict of each reader.
    """

    rule: str
    severity: str
    registry: str | None
    message: str
    kubelet: str
    containers_image: str

    @property
    def strict(self) -> bool:
        """Whether the option ``strict`` makes this warning an error: a pull with the entry probably fails."""
        return self.rule in BY_ID and BY_ID[self.rule].strict

    def as_dict(self) -> dict[str, str | None]:
        """Return a plain dictionary of the fields for a module's result."""
        return self._asdict()

    def __str__(self) -> str:
        where = f"{self.registry}: " if self.registry is not None else ""
        return f"{where}{self.message} [{self.rule}]"


def finding(
    rule: str,
    registry: str | None = None,
    detail: str = "",
    *,
    severity: str | None = None,
    kubelet: str | None = None,
    containers_image: str | None = None,
) -> Finding:
    """Return a finding of ``rule``; severity and verdicts are the table's, unless this case differs."""
    row = BY_ID[rule]
    return Finding(
        rule=row.id,
        severity=row.severity if severity is None else severity,
        registry=registry,
        message=f"{row.text} ({detail})" if detail else row.text,
        kubelet=row.kubelet if kubelet is None else kubelet,
        containers_image=row.containers_image if containers_image is None else containers_image,
    )


class DockerConfigError(ValueError):
    """A docker config, an image name or a merge that is refused.

    ``findings`` has every error, ``rule`` and ``registry`` are those of the first. The message names
    registries and rules, never a value, and no other exception is chained to it.
    """

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        self.findings = findings
        self.rule: str = findings[0].rule
        self.registry: str | None = findings[0].registry
        shown = [str(item) for item in findings[:_SHOWN]]
        if len(findings) > _SHOWN:
            shown.append(f"and {len(findings) - _SHOWN} more")
        super().__init__("invalid docker config: " + "; ".join(shown))

    def __reduce__(self) -> tuple[type[DockerConfigError], tuple[tuple[Finding, ...]]]:
        # Process pools pickle exceptions; the default would pass the message instead of the findings.
        return (type(self), (self.findings,))


def refuse(rule: str, registry: str | None = None, message: str = "") -> NoReturn:
    """Raise for a refusal without a row in the table (merges, lookups, options).

    ``message`` must consist of names only.
    """
    raise DockerConfigError((Finding(rule, ERROR, registry, message, "", ""),))


def forgetful(function: _Function) -> _Function:
    """Decorate ``function`` so that a :class:`DockerConfigError` leaves it without the frames that hold the
    document.

    Traceback printers that show locals (pytest, Sentry, ansible's debugger) would show it.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except DockerConfigError as error:
            findings = error.findings
        del args, kwargs
        raise DockerConfigError(findings)

    return cast("_Function", call)
