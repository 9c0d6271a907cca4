# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small texts of YAML that would never be read to their end, or only after long."""

from __future__ import annotations

__all__ = ["LAUGHS", "MERGES", "OTHERS"]


def _levels(first: str, form: str, times: int, count: int) -> str:
    lines = [f"a0: &a0 {first}"]
    for number in range(1, count):
        lines.append(f"a{number}: &a{number} " + form.format(", ".join([f"*a{number - 1}"] * times)))
    return "\n".join(lines) + "\n"


# 4^12 pairs, which PyYAML copies one by one; it is less than 500 bytes long.
MERGES = _levels("{x: 1}", "{{<<: [{}]}}", 4, 13)
# 9^8 values, cheap to load and never written out.
LAUGHS = _levels("[x]", "[{}]", 9, 9)
OTHERS = {
    "a base-60 number": ("a: 1" + ":1" * 400_000, "has a number of more than 100 characters"),
    "a base-60 float": ("a: 1" + ":1" * 400_000 + ".0", "has a number of more than 100 characters"),
    "digits": ("a: " + "1" * 1_000_000, "has a number of more than 100 characters"),
    "merge keys": ("{" + "<<: {}, " * 20_000 + "}", "has a mapping with more than 100 merge keys"),
    "tag directives": (
        "".join(f"%TAG !a{number}! x{number}\n" for number in range(40_000)) + "--- a",
        "has more than 10 tag directives",
    ),
}
