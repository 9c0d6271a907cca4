# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Where Google may keep a secret: the policy's text in a cluster's spec and the Job's environment.  Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .errors import ConfigurationError, WrongOption
from .naming import check_name
from .shown import shown

__all__ = ["Replication", "check_locations", "parse_replication"]


class Replication(NamedTuple):
    """A replication policy in the words of the module.

    :param replication: ``automatic`` or ``user_managed``; :param locations: of the second.
    """

    replication: str
    locations: tuple[str, ...] = ()


def parse_replication(policy: Any, name: str) -> Replication:
    """The one reading of a policy's text, ``automatic`` or ``user-managed:LOCATION,LOCATION``.

    What is not understood must not become automatic, which is everywhere in the world.

    :param name: what an error calls it, such as ``REPLICATION_POLICY`` or its path in a cluster's spec.
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
    """What it is instead of a string; the first key says of a mapping whether it is Google's own form."""
    if not isinstance(policy, Mapping):
        return "not a string"
    return f"a mapping with {shown(str(next(iter(policy))))}" if policy else "an empty mapping"


def check_locations(locations: Sequence[str]) -> None:
    """Of user-managed replicas.

    :raises WrongOption: one is no name of a location, or named twice.
    """
    for index, location in enumerate(locations):
        check_name("location", location, f"locations[{index}]")
        if location in locations[:index]:
            raise WrongOption("locations", f"has '{location}' twice")
