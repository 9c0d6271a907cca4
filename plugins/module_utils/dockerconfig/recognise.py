# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a file is a docker config at all, valid or not: only such a file may be replaced or removed."""

from __future__ import annotations

import json
import re

__all__ = ["is_docker_config"]

# The beginning of one whose writer was killed: other programs write in place.
_CUT_OFF = re.compile(rb'\s*\{\s*"auths"\s*:', re.IGNORECASE)


def is_docker_config(data: bytes) -> bool:
    """Return whether a file's content is a JSON object with ``auths``, or the beginning of one.

    It need not pass the rules, because a run repairs an invalid one. An empty file is not one, nor is another
    program's JSON.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return _CUT_OFF.match(data) is not None
    # As Go reads it, in any case.
    return isinstance(document, dict) and any(name.lower() == "auths" for name in document)
