# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An accepted docker config: immutable, repaired, and without output of its values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, NoReturn

from .display import display
from .findings import DockerConfigError, Finding, forgetful
from .lint import SECRET_MAX_BYTES, canonical_bytes, examine
from .rules import WARNING

__all__ = ["DockerConfig", "freeze", "load"]


def freeze(value: Any) -> Any:
    """Return a read-only view of plain values: mappings cannot be assigned to, lists become tuples."""
    if isinstance(value, dict):
        return MappingProxyType({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(freeze(item) for item in value)
    return value


class DockerConfig:
    """The content of a valid docker config, repaired. Made by :func:`load` and :func:`merge`.

    ``plain_auths`` and ``plain_extra`` are ``auths`` and ``extra`` in plain containers, which can be written
    as JSON without a copy. They are also secret, and their readers must not change them. ``dropped`` are the
    registries that ``drop`` removed, normalised.

    ``repr()`` and ``str()`` show registry names only. Equality is equality of meaning.
    """

    __slots__ = ("_canonical", "dropped", "plain_auths", "plain_extra", "warnings")

    plain_auths: dict[str, Any]
    plain_extra: dict[str, Any]
    _canonical: bytes
    warnings: tuple[Finding, ...]
    dropped: frozenset[str]

    def __init__(
        self,
        auths: dict[str, Any],
        extra: dict[str, Any],
        warnings: tuple[Finding, ...] = (),
        canonical: bytes | None = None,
        dropped: frozenset[str] = frozenset(),
    ) -> None:
        put = object.__setattr__
        put(self, "plain_auths", auths)
        put(self, "plain_extra", extra)
        put(self, "_canonical", canonical_bytes(auths, extra) if canonical is None else canonical)
        put(self, "warnings", warnings)
        put(self, "dropped", dropped)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError("a DockerConfig cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a DockerConfig cannot be changed")

    @property
    def registries(self) -> tuple[str, ...]:
        """The keys of ``auths`` as written, sorted."""
        return tuple(sorted(self.plain_auths))

    @property
    def auths(self) -> Mapping[str, Mapping[str, Any]]:
        """Registry to entry, read-only. Secret."""
        frozen: Mapping[str, Mapping[str, Any]] = freeze(self.plain_auths)
        return frozen

    @property
    def extra(self) -> Mapping[str, Any]:
        """The members beside ``auths`` (``credHelpers``, ``HttpHeaders`` ...), read-only. May be secret."""
        frozen: Mapping[str, Any] = freeze(self.plain_extra)
        return frozen

    def canonical(self) -> bytes:
        """Return the canonical form of this content: compact JSON, keys sorted, repaired, UTF-8. Secret."""
        return self._canonical

    def same_meaning(self, other: DockerConfig) -> bool:
        """Return whether both mean the same to every reader.

        White space, order, line breaks and padding inside base64, and ``auth`` given as user name and
        password make no difference.
        """
        return self._canonical == other._canonical

    def __eq__(self, other: object) -> bool:
        return self.same_meaning(other) if isinstance(other, DockerConfig) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._canonical)

    def __len__(self) -> int:
        return len(self.plain_auths)

    def __bool__(self) -> bool:
        return True  # a config without entries is still a config

    def __repr__(self) -> str:
        shown = ", ".join(display(key, position) for position, key in enumerate(self.registries))
        return f"<DockerConfig {shown or 'without entries'}>"

    def __copy__(self) -> DockerConfig:
        return self

    def __deepcopy__(self, _memo: Any) -> DockerConfig:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a DockerConfig is not pickled: it would leave the process")


@forgetful
def load(
    data: bytes | str | Mapping[str, Any],
    *,
    max_bytes: int = SECRET_MAX_BYTES,
    allow_empty: bool = False,
    drop: Collection[str] = (),
    strict: bool = False,
) -> DockerConfig:
    """Parse, lint and repair a docker config.

    :param data: the file's bytes or text, or the parsed document.
    :param max_bytes: the limit of the place, in bytes, for the input and for what would be written.
    :param allow_empty: whether an empty file, ``{}`` or ``auths`` without entries is acceptable.
    :param drop: registries whose entries are left out, so that they need not pass the rules.
    :param strict: refuse an entry with which a pull probably fails, although both readers accept it.
    :raises DockerConfigError: with **all** errors; its text has no value of the document.
    """
    examined = examine(data, max_bytes=max_bytes, allow_empty=allow_empty, drop=drop)
    errors = examined.errors(strict=strict)
    if errors:
        raise DockerConfigError(errors)
    warnings = tuple(item for item in examined.findings if item.severity == WARNING)
    return DockerConfig(examined.auths, examined.extra, warnings, examined.canonical, examined.dropped)
