# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which names and paths a message may show.  Pure."""

from __future__ import annotations

import re

from ..dockerconfig.encoded import holds_secret

__all__ = ["HIDDEN", "MISPLACED", "has_login", "is_name", "quoted", "shown", "shown_path"]

HIDDEN = "********"
# What to say of an option that holds a docker config, or an ``auth``, in the wrong place.
MISPLACED = "a docker config or a credential is not allowed here"

# Nobody's name for a place, a cluster or a layer has quotes, braces or control characters in it.
_NAME = re.compile(r"[\w.:/@~+=#,() -]{1,253}\Z")
# What a bearer token begins with: nobody's name for anything.
_TOKEN = re.compile(r"(?:Bearer|Basic) |eyJ[\w-]{5,}\.")
# As in ``amqp://user:password@host/``.
_LOGIN = re.compile(r"://[^/\s]*@")
# What keys are called, as people misspell them: no digits, which passwords have.
_SLIP = re.compile(r"[A-Za-z][A-Za-z_. -]{0,39}\Z")


def is_name(text: str) -> bool:
    """Whether a text that was given as a name can be one, so that a message may quote it."""
    return (
        bool(_NAME.match(text)) and not _TOKEN.match(text) and not has_login(text) and not holds_secret(text)
    )


def has_login(text: str) -> bool:
    """Whether an address in the text names a user, and so most likely a password."""
    return bool(_LOGIN.search(text))


def shown(name: str) -> str:
    """A name for a message, if it can be one."""
    return name if is_name(name) else "(not shown)"


def shown_path(path: str) -> str:
    """A path for a message, if it can be one."""
    return path if is_name(path) else "(path not shown)"


def quoted(text: str) -> str:
    """An unknown key for a message: in quotes if it can be a slip of a known one, else nothing of it."""
    return repr(text) if _SLIP.match(text) and not holds_secret(text) else "(not shown)"
