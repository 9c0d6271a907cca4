# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Resource names. A project goes by id or by number; answers carry the number, as the service's do."""

from __future__ import annotations

import hashlib
import re

from .errors import invalid

_PROJECT = re.compile(r"projects/([a-z0-9.:-]{1,100})")
_SECRET = re.compile(r"projects/([a-z0-9.:-]{1,100})/secrets/([A-Za-z0-9_-]{1,255})")
_VERSION = re.compile(
    r"projects/([a-z0-9.:-]{1,100})/secrets/([A-Za-z0-9_-]{1,255})/versions/([A-Za-z0-9_-]{1,63})"
)
SECRET_ID = re.compile(r"[A-Za-z0-9_-]{1,255}")


class Projects:
    """Two-way map of project ids and numbers. An id seen for the first time gets a number made from it."""

    def __init__(self) -> None:
        self._number: dict[str, str] = {}
        self._id: dict[str, str] = {}

    def number(self, project: str) -> str:
        """The number of a project given by id or number."""
        if project.isdigit():
            return project
        number = self._number.get(project)
        if number is None:
            digest = hashlib.sha256(project.encode()).digest()
            number = str(100_000_000_000 + int.from_bytes(digest[:8], "big") % 900_000_000_000)
            self._number[project] = number
            self._id[number] = project
        return number

    def by_id(self, name: str) -> str:
        """A resource name with the project's id in it, where that is known."""
        head, dummy, rest = name.partition("/")
        project, slash, tail = rest.partition("/")
        return f"{head}/{self._id.get(project, project)}{slash}{tail}"


def parse_project(name: str) -> str:
    match = _PROJECT.fullmatch(name)
    if match is None:
        raise invalid(f"The provided project name [{name}] is malformed: expected [projects/*].")
    return match[1]


def parse_secret(name: str) -> tuple[str, str]:
    match = _SECRET.fullmatch(name)
    if match is None:
        raise invalid(f"The provided Secret name [{name}] is malformed: expected [projects/*/secrets/*].")
    return match[1], match[2]


def parse_version(name: str) -> tuple[str, str, str]:
    match = _VERSION.fullmatch(name)
    if match is None:
        raise invalid(
            f"The provided Secret Version name [{name}] is malformed: "
            "expected [projects/*/secrets/*/versions/*]."
        )
    return match[1], match[2], match[3]
