# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the files of clusters. Reads none of them."""

from __future__ import annotations

import os
from typing import NamedTuple

from ansible.errors import AnsibleLookupError

from ..module_utils.model.limits import is_path
from ..module_utils.model.shown import is_name

__all__ = ["ClusterFile", "cluster_files_of", "is_short_name"]

_ENDINGS = (".json", ".yaml", ".yml")
# A problem that names two paths has to be short enough to be shown.
_LONG = 80


class ClusterFile(NamedTuple):
    """:param shown: the path as it was given, for messages."""

    path: str
    shown: str


def cluster_files_of(term: str) -> list[ClusterFile]:
    """Return the file, or the cluster files of the directory, in the order of their names.

    :raises AnsibleLookupError: there is none.
    """
    if not is_path(term):
        raise AnsibleLookupError(f"{_printable(term)} must be the path of a file or a directory")
    path = os.path.abspath(os.path.expanduser(term))
    if os.path.isfile(path):
        return [ClusterFile(path, _printable(term))]
    try:
        names = sorted(os.listdir(path))
    except (FileNotFoundError, NotADirectoryError):
        raise AnsibleLookupError(
            f"{_printable(term)} does not exist, or is neither a file nor a directory"
        ) from None
    except OSError as error:
        raise AnsibleLookupError(f"{_printable(term)} cannot be listed: {error.strerror}") from None
    files = [
        ClusterFile(os.path.join(path, name), _printable(os.path.join(term, name)))
        for name in names
        if name.endswith(_ENDINGS) and not name.startswith(".")
    ]
    if not files:
        raise AnsibleLookupError(f"{_printable(term)} has no cluster files (*{', *'.join(_ENDINGS)})")
    return files


def is_short_name(text: str) -> bool:
    """Return whether a message may quote the text, beside another one."""
    return is_name(text) and len(text) < _LONG


def _printable(path: str) -> str:
    names = (path, os.path.basename(path))
    return next(filter(is_short_name, names), "a file (its name not shown)")
