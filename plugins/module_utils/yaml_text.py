# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""YAML that others wrote, read without their being able to end the process."""

from __future__ import annotations

import json
import re
from typing import Any, Union

__all__ = ["load_json_or_yaml", "load_yaml"]

# More brackets, indentation or dashes in a row than a nesting of a few hundred levels needs.
_BRACKETS = 1000
_DEEP = re.compile(rb"(?:[-?:][ \t]+){200}|^[ \t]{1000}", re.MULTILINE)


def load_json_or_yaml(text: Union[bytes, str]) -> Any:
    """Likewise; JSON, which is YAML too, is read faster as what it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return load_yaml(text)


def load_yaml(text: Union[bytes, str]) -> Any:
    """What the text says.

    :raises ValueError: it is no YAML, or nested too deeply; the error says nothing of it.
    :raises ImportError: there is no PyYAML.
    """
    import yaml

    # libyaml is fast, and ends the process where a text is nested some ten thousand levels deep.
    loader = yaml.SafeLoader if _may_be_deep(text) else getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - both are safe
    except (yaml.YAMLError, ValueError, RecursionError):
        # yaml's own error quotes the line.
        pass
    raise ValueError("not YAML")


def _may_be_deep(text: Union[bytes, str]) -> bool:
    # UTF-16 is YAML, too.
    probe = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text.replace(b"\0", b"")
    return probe.count(b"[") + probe.count(b"{") > _BRACKETS or bool(_DEEP.search(probe))
