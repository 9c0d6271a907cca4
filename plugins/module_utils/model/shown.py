# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decides which names and paths a message may show. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .encoded import holds_secret

__all__ = [
    "HIDDEN",
    "MISPLACED",
    "first_few",
    "has_login",
    "is_name",
    "quoted",
    "shown",
    "shown_path",
    "shown_sentence",
]

HIDDEN = "********"
# The message for an option that must not hold a docker config or an ``auth``.
MISPLACED = "a docker config or a credential is not allowed here"

# No name of a secret, a cluster or a layer has quotes, braces or control characters.
_NAME = re.compile(r"[\w.:/@~+=#,() -]{1,253}\Z")
# Our own messages, which quote keys.
_SENTENCE = re.compile(r"[\w.:/@~+=#,;?()' -]{1,2000}\Z")
# The start of a bearer token, which is never a name.
_TOKEN = re.compile(r"(?:Bearer|Basic) |eyJ[\w-]{5,}\.")
# As in ``amqp://user:password@host/``.
_LOGIN = re.compile(r"://[^/\s]*@")
# The letters of keys, including misspelt ones: no digits, which passwords have.
_SLIP = re.compile(r"[A-Za-z][A-Za-z_. -]{0,39}\Z")


def is_name(text: str) -> bool:
    """Return whether a text that was given as a name can be one, so that a message may quote it."""
    return (
        bool(_NAME.match(text)) and not _TOKEN.match(text) and not has_login(text) and not holds_secret(text)
    )


def first_few(names: Sequence[str], limit: int = 5) -> str:
    """Return printable names for a message, at most ``limit`` of them."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{', '.join(names[:limit]) or 'none'}{more}"


def has_login(text: str) -> bool:
    """Return whether a URL in the text names a user, and so most likely a password."""
    return bool(_LOGIN.search(text))


def shown(name: str) -> str:
    """Return a name for a message, if it can be one."""
    return name if is_name(name) else "(not shown)"


def shown_path(path: str) -> str:
    """Return a path for a message, if it can be one."""
    return path if is_name(path) else "(path not shown)"


def shown_sentence(text: str) -> str:
    """A message that comes back as an option, if it can be one: words that hold no document and no credential."""
    can_be_shown = (
        bool(_SENTENCE.match(text))
        and not _TOKEN.search(text)
        and not has_login(text)
        and not holds_secret(text)
    )
    return text if can_be_shown else "(not shown)"


def quoted(text: str) -> str:
    """Return an unknown key for a message: in quotes if it may be a misspelt one, otherwise nothing of it."""
    return repr(text) if _SLIP.match(text) and not holds_secret(text) else "(not shown)"
