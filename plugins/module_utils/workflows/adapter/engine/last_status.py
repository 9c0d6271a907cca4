# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What our last status says about a cluster, and what the next one has to repeat.  Pure.

The status' ``data`` is the adapter's only memory, and others may write there: values of another shape than we
write are ignored and not repeated.
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
# Characters of a stored secret's address in a status.
_LONGEST_ADDRESS = 337
# More moves of one cluster nobody has seen.
_MOST_EARLIER = 10

_PlaceName = Union[str, dict[str, str]]


@dataclass(frozen=True)
class ManagementSecretName:
    """A Secret of the management cluster."""

    namespace: str
    name: str


def order_places(order: Order) -> dict[str, Any]:
    """Where an order's pull secret is brought, as ``data`` has it."""
    return {
        "gcp_secret": order.stored_at,
        "management_secret": {"namespace": order.namespace, "name": order.placed_as},
    }


def secret_of(said: Any) -> str | None:
    """What is said, if it is the address of a stored secret; else None."""
    return said if isinstance(said, str) and cluster_store().is_address(said) else None


def _reported_secret(said: Any) -> str | None:
    return secret_of(said) if isinstance(said, str) and len(said) <= _LONGEST_ADDRESS else None


def place_of(namespace: Any, name: Any) -> ManagementSecretName | None:
    """The Secret of these names; None if they are not valid."""
    good = all(isinstance(one, str) for one in (namespace, name))
    if good and KUBERNETES_NAMESPACE.match(namespace) and _NAME.match(name):
        return ManagementSecretName(namespace, name)
    return None


def reported_places(data: Mapping[str, Any]) -> tuple[list[str], list[ManagementSecretName]]:
    """All that our last status says was made: what is stored, by address, and what is in the management cluster."""
    held = _checked_data(data)
    said = [*(held[name] for name in _PLACES if name in held), *held.get("earlier", ())]
    secrets = [found for found in map(_reported_secret, said) if found is not None]
    return secrets, [
        ManagementSecretName(one["namespace"], one["name"]) for one in said if isinstance(one, dict)
    ]


def _checked_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """What of a status' ``data`` has our shape."""
    found = {name: shape(data.get(name)) for name, shape in _SHAPES.items()}
    return {name: value for name, value in found.items() if value}


def carried_over(own: AdapterStatus | None, said: Mapping[str, Any]) -> dict[str, Any]:
    """The next report's ``data``: what is said now, and what was before where nothing is said of it.

    :param said: an empty value takes back what was said.
    """
    remembered = _checked_data(own.data) if own is not None else {}
    earlier = remembered.pop("earlier", [])
    data = {name: value for name, value in {**remembered, **said}.items() if value}
    # Where things were made before spec or placement pointed elsewhere: a removal has to look there, too.
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
    """Whether we said last that what this generation, or this content, is to bring is in its places.

    :param order: where it is to be; None where nobody knows now.
    :param content: digest of what a Job is to bring there.
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
