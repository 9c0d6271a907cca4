# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads our last status of a cluster, and what the next one must repeat. Pure.

The status' ``data`` is the adapter's only memory, and others may write to it. Values of an unexpected shape
are ignored and not repeated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Callable, Union

from ....clients.hyperfleet.statuses import AdapterStatus
from ....model.naming import KUBERNETES_NAMESPACE
from ....places.sources import cluster_store
from ..model import Order

__all__ = [
    "ManagementSecretName",
    "carried_over",
    "is_reported_stored",
    "order_places",
    "place_of",
    "reported_places",
    "secret_of",
]

_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\Z")
_VERSION = re.compile(r"[0-9]{1,18}\Z")
_DIGEST = re.compile(r"hmac-sha256:[0-9a-f]{64}\Z")
_PLACES = ("gcp_secret", "management_secret")
# Maximum characters of a stored secret's address in a status.
_LONGEST_ADDRESS = 337
# Maximum number of earlier secrets. No cluster has been seen to move more often.
_MOST_EARLIER = 10

_PlaceName = Union[str, dict[str, str]]


@dataclass(frozen=True)
class ManagementSecretName:
    """The namespace and name of a Secret in the management cluster."""

    namespace: str
    name: str


def order_places(order: Order) -> dict[str, Any]:
    """Return where an order's pull secret is written, in the form of ``data``."""
    return {
        "gcp_secret": order.stored_at,
        "management_secret": {"namespace": order.namespace, "name": order.placed_as},
    }


def secret_of(said: Any) -> str | None:
    """Return the value if it is the address of a stored secret, or None."""
    return said if isinstance(said, str) and cluster_store().is_address(said) else None


def _reported_secret(said: Any) -> str | None:
    return secret_of(said) if isinstance(said, str) and len(said) <= _LONGEST_ADDRESS else None


def place_of(namespace: Any, name: Any) -> ManagementSecretName | None:
    """Return the Secret with these names, or None if they are invalid."""
    good = all(isinstance(one, str) for one in (namespace, name))
    if good and KUBERNETES_NAMESPACE.match(namespace) and _NAME.match(name):
        return ManagementSecretName(namespace, name)
    return None


def reported_places(data: Mapping[str, Any]) -> tuple[list[str], list[ManagementSecretName]]:
    """Return all secrets in our last status: addresses of stored secrets, and Secrets of the management
    cluster.
    """
    held = _checked_data(data)
    said = [*(held[name] for name in _PLACES if name in held), *held.get("earlier", ())]
    secrets = [found for found in map(_reported_secret, said) if found is not None]
    return secrets, [
        ManagementSecretName(one["namespace"], one["name"]) for one in said if isinstance(one, dict)
    ]


def _checked_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a status' ``data`` that have the expected shape."""
    found = {name: shape(data.get(name)) for name, shape in _SHAPES.items()}
    return {name: value for name, value in found.items() if value}


def carried_over(own: AdapterStatus | None, said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the next report's ``data``: the new values, and the previous ones where there is no new value.

    :param said: the new values; an empty value removes the previous one.
    """
    remembered = _checked_data(own.data) if own is not None else {}
    earlier = remembered.pop("earlier", [])
    data = {name: value for name, value in {**remembered, **said}.items() if value}
    # Where secrets were written before spec or placement changed: a removal must look there, too.
    before = [*earlier, *(remembered[name] for name in _PLACES if name in remembered)]
    now = [data.get(name) for name in _PLACES]
    moved = [one for index, one in enumerate(before) if one not in now and one not in before[:index]]
    return {**data, "earlier": moved[-_MOST_EARLIER:]} if moved else data


def is_reported_stored(
    own: AdapterStatus | None,
    generation: int,
    order: Order | None = None,
    content: str | None = None,
) -> bool:
    """Return whether we last reported this generation or this content as stored and placed.

    :param order: where it is written; None if that is unknown now.
    :param content: digest of the content that a Job writes there.
    """
    if own is None or not own.is_true("Available"):
        return False
    data = _checked_data(own.data)
    if content is not None and data.get("content_digest") == content:
        return True
    if not own.dated or own.generation != generation:
        return False
    return order is None or all(data.get(name) == value for name, value in order_places(order).items())


def _text(pattern: re.Pattern[str]) -> Callable[[Any], str | None]:
    return lambda value: value if isinstance(value, str) and pattern.match(value) else None


def _placed(value: Any) -> dict[str, str] | None:
    held = value if isinstance(value, Mapping) else {}
    place = place_of(held.get("namespace"), held.get("name"))
    return {"namespace": place.namespace, "name": place.name} if place is not None else None


def _earlier(value: Any) -> list[_PlaceName]:
    found = [_reported_secret(one) or _placed(one) for one in value] if isinstance(value, list) else []
    return [one for one in found if one][-_MOST_EARLIER:]


_SHAPES: dict[str, Callable[[Any], Any]] = {
    "gcp_secret": _reported_secret,
    "management_secret": _placed,
    "secret_version": _text(_VERSION),
    "content_digest": _text(_DIGEST),
    "earlier": _earlier,
}
