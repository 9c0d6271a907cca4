# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads YAML and JSON that users wrote, with limits that are checked before the cost arises.

A text of 463 bytes can describe millions of values: an alias repeats everything in its anchor's node, and a
merge key (``<<``) copies it. So values are counted with all aliases expanded, while PyYAML composes the nodes
and before it constructs anything. Code that walks through the result later has the same limits.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from typing import Any

__all__ = ["NotYAML", "load_json", "load_json_or_yaml", "load_yaml", "repeated_key"]

# A cluster or a kubeconfig has some twenty values, and a kubeconfig of a thousand contexts several thousand.
_VALUES = 100_000
_LARGEST = 16 << 20
# Kubernetes' deepest kind, CustomResourceDefinition, has some forty levels.
_DEPTH = 100
# PyYAML parses the base-60 number 1:1:1:… in quadratic time, and deletes each merge key from a list.
_LONGEST_NUMBER = 100
_MERGES = 100
# libyaml compares each tag directive with all previous ones.
_DIRECTIVES = 10
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_MERGE = "tag:yaml.org,2002:merge"
_NOT_YAML = "is not YAML"
_TOO_DEEP = f"is nested more than {_DEPTH} levels deep"


class NotYAML(ValueError):
    """The text is not YAML, or exceeds a limit. The message begins with a verb and quotes nothing.

    :ivar line: of the problem, from 1; None if it is unknown.
    """

    def __init__(self, problem: str = _NOT_YAML, line: int | None = None) -> None:
        super().__init__(f"{problem} (line {line})" if line else problem)
        self.problem = problem
        self.line = line


def load_json(text: bytes | str) -> Any:
    """Parse a JSON text.

    :raises NotYAML: it is not JSON, or nested too deeply.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        # The decoder's own error holds the text.
        line = getattr(error, "lineno", None)
        problem = _TOO_DEEP if isinstance(error, RecursionError) else "is not JSON"
    else:
        if not _is_deep(found, text):
            return found
        problem, line = _TOO_DEEP, None
    raise NotYAML(problem, line)


def load_json_or_yaml(text: bytes | str, *, most: int = _VALUES, largest: int = _LARGEST) -> Any:
    """As ``load_yaml``; JSON, which is also YAML, is parsed faster as JSON."""
    _check_size(text, largest)
    try:
        return load_json(text)
    except NotYAML:
        pass
    try:
        return load_yaml(text, most=most, largest=largest)
    except NotYAML as error:
        problem = "is neither JSON nor YAML" if error.problem == _NOT_YAML else error.problem
        raise NotYAML(problem, error.line) from None


def load_yaml(text: bytes | str, *, most: int = _VALUES, largest: int = _LARGEST) -> Any:
    """Parse a YAML text.

    :param most: maximum number of values with aliases expanded; a key counts as well.
    :param largest: maximum number of bytes (characters of a str).
    :raises NotYAML: it is not YAML, or exceeds a limit; the error names the line, and quotes nothing.
    :raises ImportError: PyYAML is not installed.
    """
    return _loaded(text, most, largest, "get_single_data")


def repeated_key(text: bytes | str) -> tuple[tuple[str | int, ...], int] | None:
    """Return (path, line from 1) of a repeated key, whose last value yaml would use silently; or None.

    :param text: a text that ``load_yaml`` could read.
    """
    import yaml

    root = _loaded(text, _VALUES, _LARGEST, "get_single_node")
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), root)]
    # An anchor's node appears as often as it is used.
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


def _loaded(text: bytes | str, most: int, largest: int, what: str) -> Any:
    import yaml

    _check_size(text, largest)
    if _count(text, "%TAG") > _DIRECTIVES:
        raise NotYAML(f"has more than {_DIRECTIVES} tag directives")
    problem, line = _NOT_YAML, None
    try:
        loader = _loader()(text, most)
        try:
            return getattr(loader, what)()
        finally:
            loader.dispose()
    except NotYAML as error:
        problem, line = error.problem, error.line
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # yaml's own error quotes the line.
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else None
    raise NotYAML(problem, line)


@functools.cache
def _loader() -> Any:
    """Return the loader's class: libyaml's parser if available, which is fast, and PyYAML's own composer."""
    import yaml

    fast = getattr(yaml, "CSafeLoader", None)
    bases = (_Bounds, yaml.composer.Composer, fast) if fast is not None else (_Bounds, yaml.SafeLoader)
    return type("_Loader", bases, {"base": fast or yaml.SafeLoader, "alias": yaml.AliasEvent})


class _Bounds:
    """The differences to a loader of PyYAML."""

    base: Any
    alias: Any

    def __init__(self, text: bytes | str, most: int) -> None:
        self.base.__init__(self, text)
        self.anchors: dict[str, Any] = {}
        self._most = most
        # The number of values so far, the composer's current level, and the deepest level since the current
        # node began.
        self._values = self._level = self._deepest = 0
        # Values and levels of each anchor's node, once it is complete.
        self._whole: dict[str, tuple[int, int]] = {}

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose each node of the document, and each alias."""
        event = self.peek_event()  # type: ignore[attr-defined]
        anchor, is_alias = event.anchor, isinstance(event, self.alias)
        if is_alias and anchor in self.anchors and anchor not in self._whole:
            raise NotYAML("has an alias to a value that contains it", _line(event))
        values, levels = self._whole.get(anchor, (1, 1)) if is_alias else (1, 1)
        before, deepest = self._values, self._deepest
        self._level += 1
        self._values += values
        self._deepest = self._level + levels - 1
        if self._deepest > _DEPTH:
            raise NotYAML(_TOO_DEEP, _line(event))
        if self._values > self._most:
            raise NotYAML(f"has more than {self._most} values after its aliases are expanded", _line(event))
        node = super().compose_node(parent, index)  # type: ignore[misc]
        if anchor is not None and not is_alias:
            self._whole[anchor] = self._values - before, self._deepest - self._level + 1
        self._deepest = max(self._deepest, deepest)
        self._level -= 1
        return node

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """PyYAML answers ``!!int ''`` with an IndexError, and other tags with the value in the message."""
        if node.tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER:
            raise NotYAML(f"has a number of more than {_LONGEST_NUMBER} characters", _line(node))
        try:
            return super().construct_object(node, deep)  # type: ignore[misc]
        except (NotYAML, RecursionError):
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            pass
        raise NotYAML("has a value that does not fit its tag", _line(node))

    def flatten_mapping(self, node: Any) -> None:
        """Put merged values into the mapping."""
        if sum(key.tag == _MERGE for key, dummy in node.value) > _MERGES:
            raise NotYAML(f"has a mapping with more than {_MERGES} merge keys", _line(node))
        super().flatten_mapping(node)  # type: ignore[misc]


def _line(thing: Any) -> int:
    """Return the line where an event or a node begins."""
    line: int = thing.start_mark.line
    return line + 1


def _check_size(text: bytes | str, largest: int) -> None:
    if len(text) > largest:
        raise NotYAML(f"is larger than {largest >> 20} MiB")


def _count(text: bytes | str, word: str) -> int:
    """Return how often an ASCII word is in the text."""
    # UTF-16 is also YAML.
    return text.count(word) if isinstance(text, str) else text.replace(b"\0", b"").count(word.encode())


def _is_deep(document: Any, text: bytes | str) -> bool:
    """Return whether a JSON text is nested too deeply."""
    if _count(text, "[") + _count(text, "{") <= _DEPTH:
        return False
    level = [document]
    for _number in range(_DEPTH):
        level = [item for one in level for item in _inside(one)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
