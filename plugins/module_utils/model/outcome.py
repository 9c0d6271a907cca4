# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of one target, in the form of a result, a diff and log entries.

Everything here is printed somewhere. It holds names, counts, times and keyed digests, never a value.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..dockerconfig import Changes, DockerConfig, changes, digest
from ..dockerconfig.display import displayed
from .errors import PullSecretError

__all__ = ["VERSION_ADDED", "Journal", "Outcome", "adds_version", "restored_from"]

VERSION_ADDED = "version added"
_RESTORED = "restored from "


def restored_from(version: str) -> str:
    """Return the action for adding a version with the docker config of an older one."""
    return f"{_RESTORED}{version}"


def adds_version(action: str) -> bool:
    """Return whether an action adds a version to a secret."""
    return action == VERSION_ADDED or action.startswith(_RESTORED)


class Journal:
    """The operations on one target, in order, in the form of the job contract's structured log.

    :param phase: ``gcp-secret-manager`` or ``k8s-secret``.
    """

    def __init__(self, phase: str) -> None:
        self.phase = phase
        self.entries: list[dict[str, Any]] = []
        self.retries = 0
        self._mark = time.monotonic()

    def note(self, operation: str, message: str, *, level: str = "info", **fields: Any) -> None:
        """Add an entry; its duration, in milliseconds, is the time since the previous one."""
        now = time.monotonic()
        self.entries.append(
            {
                "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "level": level,
                "phase": self.phase,
                "operation": operation,
                "message": message,
                "duration_ms": int((now - self._mark) * 1000),
                **fields,
            }
        )
        self._mark = now

    def retry(self, attempt: int, pause: float, error: PullSecretError) -> None:
        """Record a retry; called by a ``Deadline``."""
        self.retries += 1
        self.note("retry", f"try {attempt} failed, next in {pause:.1f} s: {error.message}", level="warn")


@dataclass
class Outcome:
    """One target's result.

    :param place: the full name of the secret or file.
    :param before: the previous content, or None.
    :param after: the content now, or in a real run.
    :param provenance: registry to the name of its layer.
    """

    id: str
    place: str
    changed: bool = False
    actions: list[str] = field(default_factory=list)
    version: str | None = None
    before: DockerConfig | None = None
    after: DockerConfig | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    metadata_before: Mapping[str, str] = field(default_factory=dict)
    metadata_after: Mapping[str, str] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    journal: Journal | None = None

    _settled: int = 0

    def did(self, action: str) -> None:
        """Record a change, made or (in check mode) to be made."""
        self.changed = True
        if action not in self.actions:
            self.actions.append(action)

    def warn(self, warnings: Iterable[str]) -> None:
        """Add warnings, each once: a conflict makes them again."""
        self.warnings.extend(warning for warning in warnings if warning not in self.warnings)

    def differs(self, name: str, before: str | None, after: str | None) -> None:
        """Show another difference in the diff; None is a side without a value."""
        if before is not None:
            self.metadata_before = {**self.metadata_before, name: before}
        if after is not None:
            self.metadata_after = {**self.metadata_after, name: after}

    @property
    def written(self) -> bool:
        """Return whether something was written for good."""
        return self._settled > 0

    def settle(self) -> None:
        """Keep what was recorded so far: it was written, even if a later step starts again."""
        self._settled = len(self.actions)

    def restart(self) -> None:
        """Forget what was intended and not written, because it is decided again."""
        del self.actions[self._settled :]
        self.changed = bool(self.actions)

    def result(self, digest_key: bytes) -> dict[str, Any]:
        """Return the entry of ``targets`` in the module's result."""
        shown = displayed(self.provenance)
        entry: dict[str, Any] = {
            "id": self.id,
            "changed": self.changed,
            "place": self.place,
            "actions": self.actions,
            "registries": {shown[name]: layer for name, layer in self.provenance.items()},
            "warnings": self.warnings,
            **self.extra,
        }
        if self.version is not None:
            entry["version"] = self.version
        if self.after is not None:
            entry["digest"] = digest(self.after, digest_key)
        if self.journal is not None:
            entry["operations"] = self.journal.entries
            entry["retries"] = self.journal.retries
        return entry

    def diff(self, digest_key: bytes) -> dict[str, str]:
        """Return a diff of registries and digests, in the form that ``--diff`` shows."""
        # A deleted secret holds nothing, so no credential differs either.
        differences = Changes() if self.after is None else changes(self.before, self.after)
        shown = displayed(*(config.registries for config in (self.before, self.after) if config is not None))
        return {
            "before_header": self.place,
            "after_header": self.place,
            "before": _listing(self.before, digest_key, differences, shown, self.metadata_before),
            "after": _listing(self.after, digest_key, differences, shown, self.metadata_after),
        }


def _listing(
    config: DockerConfig | None,
    key: bytes,
    differences: Changes,
    shown: Mapping[str, str],
    metadata: Mapping[str, str],
) -> str:
    lines = [f"{name}: {value}" for name, value in sorted(metadata.items())]
    if config is not None:
        lines.append(f"digest: {digest(config, key)}")
        # A registry whose credential changed is on both sides: mark it, or the diff would hide it.
        lines += [
            f"registry {name}" + (" (credential differs)" if name in differences.changed else "")
            for name in map(shown.__getitem__, config.registries)
        ]
    return "".join(line + "\n" for line in lines)
