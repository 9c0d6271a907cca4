# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Page sizes and opaque page tokens, good only for the list and filter they were made for."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Callable, Iterable
from typing import TypeVar

from .errors import invalid

MAX_PAGE = 25_000
T = TypeVar("T")


def page_size(asked: int, default: int) -> int:
    if asked < 0:
        raise invalid("page_size must not be negative.")
    return min(asked or default, MAX_PAGE)


def make_token(scope: str, position: int) -> str:
    """Continue below `position` in the list that `scope` (parent and filter) describes."""
    return (
        base64.urlsafe_b64encode(f"{zlib.crc32(scope.encode()):x}.{position}".encode()).decode().rstrip("=")
    )


def read_token(scope: str, token: str) -> int | None:
    if not token:
        return None
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
        mark, dummy, position = text.partition(".")
        if int(mark, 16) == zlib.crc32(scope.encode()):
            return int(position)
    except (ValueError, binascii.Error):
        pass
    raise invalid("The provided page token is invalid.")


def take_page(items: Iterable[T], wanted: Callable[[T], bool], size: int) -> tuple[list[T], bool]:
    """The first `size` items that are wanted, and whether there is another one behind them."""
    page: list[T] = []
    for item in items:
        if wanted(item):
            if len(page) == size:
                return page, True
            page.append(item)
    return page, False
