# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists: filters, and pages with their tokens.

Of the filters those are known that the collection sends, `labels.KEY=VALUE` for secrets and `state:STATE` for
versions, joined by AND; all else is InvalidArgument.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from google.api_core.exceptions import InvalidArgument

from .protos import STATE_NUMBER, Message

__all__ = ["fill_page", "read_token"]

_DEFAULT_PAGE, _MAX_PAGE = 100, 25_000
_LABEL = re.compile(r'labels\.([\w-]+)[:=]"?([\w-]+)"?')
_STATE = re.compile(rf"state[:=]({'|'.join(STATE_NUMBER)})")

_Predicate = Callable[[Message], bool]


def fill_page(request: Message, found: Message, items: Iterable[tuple[int, Message]]) -> str:
    """Append the messages of a page to `found`, and return the token of the next page.

    :param items: the messages of the whole list with their positions, which descend.
    """
    if request.page_size < 0:
        raise InvalidArgument("page_size must not be negative.")
    size = min(request.page_size or _DEFAULT_PAGE, _MAX_PAGE)
    of_versions = request.DESCRIPTOR.name == "ListSecretVersionsRequest"
    terms = [_term(text.strip(), of_versions) for text in request.filter.split(" AND ") if request.filter]
    before, last = read_token(request.page_token), 0
    for position, message in items:
        if (before is None or position < before) and all(fits(message) for fits in terms):
            if len(found) == size:
                return str(last)
            found.append(message)
            last = position
    return ""


def read_token(token: str) -> int | None:
    """The position of the last item of the page before; None for the first page."""
    if token and not token.isdecimal():
        raise InvalidArgument("The provided page token is invalid.")
    return int(token) if token else None


def _term(text: str, of_versions: bool) -> _Predicate:
    if of_versions and (found := _STATE.fullmatch(text)):
        state = STATE_NUMBER[found[1]]
        return lambda version: bool(version.state == state)
    if not of_versions and (found := _LABEL.fullmatch(text)):
        key, value = found.groups()
        return lambda secret: bool(secret.labels.get(key) == value)
    raise InvalidArgument("The provided filter is invalid.")
