# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The limits of the syncer's settings, checked by the controller that writes them and by the syncer itself."""

from __future__ import annotations

import re

__all__ = [
    "LONGEST_LEASE",
    "LONGEST_SECONDS",
    "MOST_SLOTS",
    "is_healthz",
    "is_port",
    "is_seconds",
    "is_unit",
]

LONGEST_SECONDS = 86400
"""For a health window, and for any other setting in seconds."""

LONGEST_LEASE = 600
"""Seconds that a Lease's holder may be silent before others take its slot, whatever the Lease says."""

MOST_SLOTS = 1024
"""Their names go into one environment variable, which the kernel limits to 128 KiB."""

_UNIT = re.compile(r"[\w.:@-]{1,200}\.service", re.ASCII)
_HEALTHZ = re.compile(r"http://(?:127\.0\.0\.1|localhost|\[::1\]):([0-9]{1,5})/[\w/.-]*", re.ASCII)


def is_seconds(value: float, least: float = 0) -> bool:
    """Return whether it is a valid number of seconds; NaN is not."""
    return least <= value <= LONGEST_SECONDS


def is_port(text: str) -> bool:
    """Return whether it is a TCP port, 1-65535, in ASCII digits."""
    return text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= 65535


def is_healthz(url: str) -> bool:
    """Return whether it is a URL on the node's own loopback, ``http://127.0.0.1:PORT/PATH``."""
    found = _HEALTHZ.fullmatch(url)
    return found is not None and is_port(found.group(1))


def is_unit(name: str) -> bool:
    """Return whether it can be the name of a service."""
    return _UNIT.fullmatch(name) is not None
