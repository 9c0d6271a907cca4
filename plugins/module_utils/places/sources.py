# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The table of sources: a new one is one line here. A store is a source that can be written."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar, cast

from ..model.errors import ConfigurationError
from ..runtime.run_settings import RunSettings
from .base import Source
from .hyperfleet_spec import HyperFleetSource
from .kubernetes_secret.source import KubernetesSource
from .local import EnvSource, FileSource, InlineSource
from .secret_manager.store import SecretManagerStore
from .secret_store import SecretStore

__all__ = [
    "SOURCES",
    "OpenSources",
    "cluster_store",
    "connection_options",
    "is_address",
    "parse_address",
    "source_spec",
    "store_read_by",
    "stores",
    "version_reference",
]

SOURCES: tuple[type[Source], ...] = (
    InlineSource,
    FileSource,
    EnvSource,
    KubernetesSource,
    SecretManagerStore,
    HyperFleetSource,
)
"""In the order in which messages name them. Clusters are stored in the first store."""

S = TypeVar("S", bound=Source)


class OpenSources:
    """Every source of a run, with its connections. Thread-safe."""

    def __init__(self, settings: RunSettings) -> None:
        self._by_kind: dict[type[Source], Source] = {kind: kind(settings) for kind in SOURCES}

    def of(self, kind: type[S]) -> S:
        """Return the source of this class."""
        return cast(S, self._by_kind[kind])

    def named(self, name: str) -> Source:
        """Return the source of this key."""
        return next(source for kind, source in self._by_kind.items() if name == kind.NAME)


def source_spec(**extra: Any) -> dict[str, Any]:
    """Return the argument spec of a ``source`` option: exactly one source, and a field inside its document."""
    names = [source.NAME for source in SOURCES]
    return dict(
        type="dict",
        options=dict({source.NAME: source.SPEC for source in SOURCES}, field={"type": "str"}),
        mutually_exclusive=[names],
        required_one_of=[names],
        **extra,
    )


def connection_options() -> dict[str, Any]:
    """Return the argument specs of the connection options, by name."""
    return {kind.NAME: kind.CONNECTION for kind in SOURCES if kind.CONNECTION is not None}


@lru_cache(maxsize=1)
def stores() -> tuple[type[SecretStore[Any]], ...]:
    """Return the sources that are stores."""
    return tuple(kind for kind in SOURCES if issubclass(kind, SecretStore))


def cluster_store() -> type[SecretStore[Any]]:
    """Return the store for clusters. No option of a cluster names another store yet."""
    return stores()[0]


def store_read_by(source: Any) -> type[SecretStore[Any]] | None:
    """Return the store that a ``source`` reads; None if it reads another place."""
    return next((kind for kind in stores() if (source or {}).get(kind.NAME)), None)


def is_address(text: str) -> bool:
    """Return whether the text is the address of a secret in any store."""
    return any(kind.is_address(text) for kind in stores())


def parse_address(text: str) -> tuple[type[SecretStore[Any]], dict[str, str]]:
    """Return the store with an address of this form, and the reference that reads the secret.

    :raises ConfigurationError: no store has one.
    """
    for kind in stores():
        reference = kind.parse_address(text)
        if reference is not None:
            return kind, reference
    raise ConfigurationError("the stored secret's address has a form that no known secret store uses")


def version_reference(
    address: str, options: Mapping[str, Any], version: str
) -> tuple[type[SecretStore[Any]], dict[str, Any]]:
    """Return the store of an address, and the reference that reads one version of its secret.

    :param options: of the target that stores it; the store takes its own, such as the account that reads.
    :raises ConfigurationError: no store has an address of this form.
    """
    kind, named = parse_address(address)
    own = {name: value for name, value in options.items() if value and name in kind.SPEC["options"]}
    return kind, {**own, **named, "version": version}
