# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The job's structured log, as the job contract defines it. Pure."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any

from ...workflows.provision.environment import LEVELS

__all__ = ["COMPONENT", "render"]

COMPONENT = "pullsecret-job"
# Control characters, Unicode's line and paragraph separators and directions, and invalid UTF-8.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SEPARATOR = re.compile(r"[\s=\"]")


def render(entry: Mapping[str, Any], *, level: str, form: str) -> str | None:
    """Return one line of the log, or None for an entry below the level.

    :param entry: ``level``, ``message`` and any other fields; a missing ``timestamp`` is now.
    """
    if LEVELS.index(entry.get("level", "info")) < LEVELS.index(level):
        return None
    fields = {
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "level": "info",
        "component": COMPONENT,
    }
    fields.update({key: value for key, value in entry.items() if value is not None})
    if form == "json":
        return json.dumps(fields)
    rest = " ".join(
        f"{key}={_word(str(value))}"
        for key, value in fields.items()
        if key not in ("timestamp", "level", "component", "message")
    )
    message = _one_line(str(fields.get("message", "")))
    return f"{fields['timestamp']} {str(fields['level']).upper():5} {message} {rest}".rstrip()


def _word(text: str) -> str:
    """Return a field's value that cannot be mistaken for another field."""
    line = _one_line(text)
    return json.dumps(line, ensure_ascii=False) if _SEPARATOR.search(line) or not line else line


def _one_line(text: str) -> str:
    """Escape characters that would begin another line or control a terminal."""
    return _CONTROL.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)
