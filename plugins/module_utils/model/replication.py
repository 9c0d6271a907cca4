# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parses the replication policy in a cluster's spec and the Job's environment. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .errors import ConfigurationError, WrongOption
from .naming import check_name
from .shown import shown

__all__ = ["Replication", "check_locations", "parse_replication"]


class Replication(NamedTuple):
    """A replication policy as module options.

    :param replication: ``automatic`` or ``user_managed``.
    :param locations: for ``user_managed``.
    """

    replication: str
    locations: tuple[str, ...] = ()


def parse_replication(policy: Any, name: str) -> Replication:
    """Parse a policy's text, ``automatic`` or ``user-managed:LOCATION,LOCATION``.

    An invalid policy must not become automatic, which means everywhere in the world.

    :param name: its name for errors, such as ``REPLICATION_POLICY`` or its path in a cluster's spec.
    :raises ConfigurationError: it is anything else.
    """
    neither = f"{name} must be automatic or user-managed:LOCATION,LOCATION"
    if not isinstance(policy, str):
        raise ConfigurationError(f"{neither} (it is {_shape(policy)})")
    kind, _colon, places = policy.strip().partition(":")
    locations = tuple(place.strip() for place in places.split(",") if place.strip())
    if kind == "automatic" and not locations:
        return Replication("automatic")
    if kind not in ("user-managed", "user_managed") or not locations:
        raise ConfigurationError(neither)
    try:
        check_locations(locations)
    except ConfigurationError:
        # The caught message names the module's option "locations", which is not in a cluster's spec.
        raise ConfigurationError(
            f"{name} has a location twice, or one that is not lower case letters, digits and dashes"
        ) from None
    return Replication("user_managed", locations)


def _shape(policy: Any) -> str:
    """Return its type if it is not a string; a mapping's first key shows whether it has Google's own form."""
    if not isinstance(policy, Mapping):
        return "not a string"
    return f"a mapping with {shown(str(next(iter(policy))))}" if policy else "an empty mapping"


def check_locations(locations: Sequence[str]) -> None:
    """Check the locations of user-managed replicas.

    :raises WrongOption: one is not the name of a location, or is repeated.
    """
    for index, location in enumerate(locations):
        check_name("location", location, f"locations[{index}]")
        if location in locations[:index]:
            raise WrongOption("locations", f"has '{location}' twice")
