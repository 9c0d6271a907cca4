# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""YAML that others wrote, read without their being able to end the process."""

from __future__ import annotations

import json
import re
from typing import Any, Optional, Union

__all__ = ["NotYAML", "load_json_or_yaml", "load_yaml", "repeated_key"]

# More brackets, indentation or dashes in a row than a nesting of a few hundred levels needs.
_BRACKETS = 1000
_DEEP = re.compile(rb"(?:[-?:][ \t]+){200}|^[ \t]{1000}", re.MULTILINE)


class NotYAML(ValueError):
    """:ivar line: where it ends to be YAML, from 1; None where that is not known."""

    def __init__(self, line: Optional[int] = None) -> None:
        super().__init__("not YAML")
        self.line = line


def load_json_or_yaml(text: Union[bytes, str]) -> Any:
    """Likewise; JSON, which is YAML too, is read faster as what it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return load_yaml(text)


def load_yaml(text: Union[bytes, str]) -> Any:
    """What the text says.

    :raises NotYAML: it is no YAML, or nested too deeply; the error says where, and nothing of it.
    :raises ImportError: there is no PyYAML.
    """
    import yaml

    try:
        return yaml.load(text, Loader=_loader(text))  # noqa: S506 - both are safe
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # yaml's own error quotes the line.
        mark = getattr(error, "problem_mark", None)
    raise NotYAML(mark.line + 1 if mark is not None else None)


def repeated_key(text: Union[bytes, str]) -> Optional[tuple[tuple[Union[str, int], ...], int]]:
    """(path, line from 1) of a key that its mapping had before, which yaml lets replace what it had; or None.

    :param text: what ``load_yaml`` could read.
    """
    import yaml

    pending: list[tuple[tuple[Union[str, int], ...], Any]] = [((), yaml.compose(text, Loader=_loader(text)))]
    # An anchor's node is met as often as it is named.
    seen: set[int] = set()
    while pending:
        path, node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            pending.extend(((*path, index), item) for index, item in enumerate(node.value))
        elif isinstance(node, yaml.MappingNode):
            had: set[tuple[str, str]] = set()
            for key, value in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    continue
                if (key.tag, key.value) in had:
                    return (*path, key.value), key.start_mark.line + 1
                had.add((key.tag, key.value))
                pending.append(((*path, key.value), value))
    return None


def _loader(text: Union[bytes, str]) -> Any:
    import yaml

    # libyaml is fast, and ends the process where a text is nested some ten thousand levels deep.
    return yaml.SafeLoader if _may_be_deep(text) else getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _may_be_deep(text: Union[bytes, str]) -> bool:
    # UTF-16 is YAML, too.
    probe = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text.replace(b"\0", b"")
    return probe.count(b"[") + probe.count(b"{") > _BRACKETS or bool(_DEEP.search(probe))
