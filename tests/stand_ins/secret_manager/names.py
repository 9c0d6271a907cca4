# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resource names. A project goes by id or by number; answers carry the number, as the service's do."""

from __future__ import annotations

import functools
import hashlib
import re

from google.api_core.exceptions import InvalidArgument

_NAME = re.compile(
    r"projects/([a-z0-9.:-]{1,100})(?:/secrets/([A-Za-z0-9_-]{1,255})(?:/versions/([A-Za-z0-9_-]{1,63}))?)?"
)
_FORMS = ("projects/*", "projects/*/secrets/*", "projects/*/secrets/*/versions/*")


class Projects:
    """Two-way map of project ids and numbers. An id seen for the first time gets a number made from it."""

    def __init__(self) -> None:
        self._id: dict[str, str] = {}

    def number(self, project: str) -> str:
        """The number of a project given by id or number."""
        if project.isdigit():
            return project
        number = _make_number(project)
        self._id[number] = project
        return number

    def by_id(self, name: str) -> str:
        """A resource name with the project's id in it, where that is known."""
        head, project, *rest = name.split("/")
        return "/".join([head, self._id.get(project, project), *rest])


@functools.cache
def _make_number(project: str) -> str:
    digest = hashlib.sha256(project.encode()).digest()
    return str(100_000_000_000 + int.from_bytes(digest[:8], "big") % 900_000_000_000)


def parse(name: str, parts: int) -> list[str]:
    """The project of a name, with two parts the id of its secret, with three its version; InvalidArgument."""
    match = _NAME.fullmatch(name)
    found = [part for part in match.groups() if part] if match else []
    if len(found) != parts:
        raise InvalidArgument(f"The provided name [{name}] is malformed: expected [{_FORMS[parts - 1]}].")
    return found
