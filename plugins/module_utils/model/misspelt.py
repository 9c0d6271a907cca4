# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds unknown names that were meant to be known ones. Pure.

Ansible ignores a variable that nothing reads, and the HyperFleet API stores any field of a spec. So a
misspelt name would silently have no effect. Names that others use may begin with the same word, such as
``node_exporter_version``, and are accepted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache

__all__ = ["OTHERS", "has_same_letters", "meant", "meant_or_cut", "nearest", "slip_of"]

# provision_retries has a ratio of 0.875 to provision_retry; node_labels 0.818 to node_layers. provision_user
# has 0.875 to provision_clusters: such words must begin alike.
_NEAR = 0.85
_VERY_NEAR = 0.93
# A word of fewer letters is one letter away from too many others.
_SHORTEST = 5
_PLURAL = re.compile(r"(?:ies|(?<!s)s)(?=_|$)")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
OTHERS = ("ansible_", "awx_", "tower_", "inventory_", "hostvars", "vars", "groups")
"""Prefixes of Ansible's and AWX's variables, which need no check."""


def meant(name: str, known: Collection[str]) -> str | None:
    """Return the known name that a name resembles, or None.

    The two are equal without underscores, or have the same number of words: ``adapter_config_map`` is no
    misspelling of ``adapter_config``.
    """
    if name in known or name.startswith(OTHERS):
        return None
    for one in known:
        if has_same_letters(name, one):
            return one
    plain = _plain(name)
    alike = {_plain(one): one for one in known if _is_worded_alike(plain, _plain(one))}
    close = get_close_matches(plain, list(alike), n=1, cutoff=_NEAR)
    return alike[close[0]] if close else None


def slip_of(name: str, known: Collection[str]) -> str | None:
    """Return the known name that differs from a name in one letter, an underscore or a plural only, or None.

    For names that may be meant for others. A single word, such as ``stage``, is ambiguous.
    """
    if name in known or name.startswith(OTHERS):
        return None
    plain = _plain(name)
    return next((one for one in known if _is_slip(plain, _plain(one))), None)


def meant_or_cut(name: str, known: Collection[str], others: Mapping[str, str]) -> str | None:
    """As ``meant``; also a word with two letters swapped, the first words of a known name, or a synonym of
    it.

    For names that were given to us, such as keys of a cluster.

    :param others: synonyms to their known names.
    """
    if name in known or name.startswith(OTHERS):
        return None
    near = meant(name, known)
    if near is None and others.get(name) in known:
        near = others[name]
    plain = _plain(name)
    if near is None:
        near = next((one for one in known if _is_typo(plain, one)), None)
    if near is None:
        longer = [one for one in known if one.startswith(f"{plain}_")]
        near = longer[0] if len(longer) == 1 else None
    return near


def nearest(name: str, known: Collection[str]) -> str:
    """Return the known name that is most similar to a name."""
    return get_close_matches(name, list(known), n=1, cutoff=0.0)[0]


def has_same_letters(name: str, other: str) -> bool:
    """Return whether two names differ only in case, underscores and hyphens."""
    return _letters(name) == _letters(other)


def _is_worded_alike(name: str, other: str) -> bool:
    mine, others = name.split("_"), other.split("_")
    # Called for every variable of a run: names of very different length cannot be similar.
    if len(mine) != len(others) or abs(len(name) - len(other)) > len(other) // 3:
        return False
    begins_alike = all(one[:1] == two[:1] for one, two in zip(mine, others))
    return begins_alike or SequenceMatcher(None, name, other).ratio() >= _VERY_NEAR


def _is_slip(name: str, other: str) -> bool:
    if "_" not in other or abs(len(name) - len(other)) > other.count("_") + 2:
        return False
    if has_same_letters(name, other) or _singular(name) == _singular(other):
        return True
    return _is_one_edit(name, other)


def _is_typo(name: str, other: str) -> bool:
    """Return whether two neighbours are swapped, or a letter is missing or extra, except a plural's.

    Another letter makes another word, as in ``stage`` and ``state``.
    """
    if min(len(name), len(other)) < _SHORTEST or not _is_one_edit(name, other):
        return False
    if len(name) == len(other):
        return sorted(name) == sorted(other)
    return _singular(name) != _singular(other)


def _is_one_edit(name: str, other: str) -> bool:
    """Return whether one letter is added, missing or replaced, or two neighbours are swapped."""
    pairs = enumerate(zip(name, other))
    begin = next((place for place, (one, two) in pairs if one != two), min(len(name), len(other)))
    mine, others = name[begin:], other[begin:]
    if len(mine) != len(others):
        short, long = sorted((mine, others), key=len)
        return long[1:] == short
    return mine[1:] == others[1:] or (mine[:2] == others[1::-1] and mine[2:] == others[2:])


def _singular(name: str) -> str:
    return _PLURAL.sub(lambda ending: "y" if ending[0] == "ies" else "", name)


# Each name of a run is compared with each known one.
@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    """Return a name in snake_case, from any notation."""
    return _HUMP.sub("_", name).lower().replace("-", "_")


def _letters(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
