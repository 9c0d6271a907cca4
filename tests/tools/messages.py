# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m tests.tools.messages [PATH…]``: prints every error message of the collection, one per line.

A line is ``file:line: maker: text``. The maker is the exception, the function that is called with the text,
``return``, or the name that the text is assigned to. Inserted values are in braces.

The messages of helpers are listed where their words are. So the program lists every string of several words, except
documentation, patterns, keys of mappings, and strings in comparisons. The words may also be in an inserted string.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[2]
_WHERE = ("plugins", "extensions", "roles", "playbooks")
# Files that contain only documentation.
_FRAGMENTS = "doc_fragments"
_DOCUMENTATION = {"DOCUMENTATION", "EXAMPLES", "RETURN", "__doc__"}
_YAML_KEYS = {"msg", "fail_msg"}
# Two words, one of which may be an inserted value.
_WORDS = re.compile(r"[A-Za-z]{2,}[,;:.)'\"]* (?:[('\"]*[A-Za-z]{2,}|\{)|\}[,;:.)'\"]* [('\"]*[A-Za-z]{2,}")
# Calls whose strings are not messages.
_NO_MESSAGES = {
    *("compile", "search", "match", "fullmatch", "findall", "finditer", "sub", "split", "rsplit", "getattr"),
    *(
        "partition",
        "rpartition",
        "replace",
        "startswith",
        "endswith",
        "strip",
        "removeprefix",
        "removesuffix",
    ),
    *("strptime", "strftime", "encode", "TypeVar", "cast", "find", "index", "count", "import_module"),
}


class Message(NamedTuple):
    """``maker``: see the module's docstring."""

    file: str
    line: int
    maker: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.maker}: {' '.join(self.text.split())}"


def messages(paths: Iterable[Path], root: Path = ROOT) -> list[Message]:
    """Return the messages of files and directories, by file and line."""
    found = []
    for path in sorted({file for one in paths for file in (one.rglob("*") if one.is_dir() else [one])}):
        name = str(path.relative_to(root))
        if path.suffix == ".py" and not {"__pycache__", _FRAGMENTS}.intersection(path.parts):
            found += in_python(path.read_text(encoding="utf-8"), name)
        elif path.suffix in (".yml", ".yaml"):
            found += in_yaml(path.read_text(encoding="utf-8"), name)
    return found


def in_python(source: str, name: str) -> list[Message]:
    """Return the messages of a Python file."""
    tree = ast.parse(source)
    return sorted(Message(name, node.lineno, maker, text) for node, maker, text in _walk(tree, "", False))


def _walk(node: ast.AST, maker: str, is_raised: bool) -> Iterator[tuple[ast.expr, str, str]]:
    if isinstance(node, ast.expr):
        text = _text(node)
        if text is not None:
            # An exception may be returned. Its text is listed even if all its words are inserted values.
            if _has_words(node) or (maker[:1].isupper() and _WORDS.search(text)):
                yield node, maker, text
            return
    if isinstance(node, ast.Call):
        called = _last_name(node.func)
        if called in _NO_MESSAGES:
            return
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if is_raised and any(map(_text, given)):
            # An exception's message and its hint.
            parts = [_text(one) or _placeholder(one) for one in given if not _is_nothing(one)]
            yield node, called, "; ".join(parts)
            return
        for one in (node.func, *given):
            yield from _walk(one, called, False)
        return
    if isinstance(node, ast.Raise):
        if node.exc is not None:
            yield from _walk(node.exc, "raise", True)
        return
    if _is_documentation(node) or isinstance(node, ast.Compare):
        return
    if isinstance(node, (ast.Return, ast.Yield)):
        maker = type(node).__name__.lower()
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        maker = _last_name(targets[0])
        if node.value is not None:
            yield from _walk(node.value, maker, False)
        return
    keys = _keys(node)
    for child in ast.iter_child_nodes(node):
        if child not in keys:
            yield from _walk(child, maker, False)


def _keys(node: ast.AST) -> list[ast.expr | None]:
    if isinstance(node, ast.Dict):
        return node.keys
    return [node.key] if isinstance(node, ast.DictComp) else []


def _has_words(node: ast.expr) -> bool:
    """Return whether the string, or a string inserted into it, has words. Inserted code does not count."""
    text = _text(node) or ""
    texts = []
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            texts.append(one.value)
        elif isinstance(one, ast.expr):
            text = text.replace(_placeholder(one), "{}")
    return any(map(_WORDS.search, [text, *texts]))


def _is_documentation(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Assign) and _last_name(node.targets[0]) in _DOCUMENTATION


def _is_nothing(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _text(node: ast.expr) -> str | None:
    """Return the text of an expression; None if it is not a string."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_part(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
        left, right = _text(node.left), _text(node.right)
        if isinstance(node.op, ast.Mod):
            return left
        if left is None and right is None:
            return None
        return (left or _placeholder(node.left)) + (right or _placeholder(node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _text(node.func.value)
    if isinstance(node, ast.IfExp):
        body, other = _text(node.body), _text(node.orelse)
        return f"({body}|{other})" if body is not None and other is not None else None
    return None


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.FormattedValue):
        chosen = _text(node.value) if isinstance(node.value, ast.IfExp) else None
        return chosen or _placeholder(node.value)
    return _text(node) or ""


def _placeholder(node: ast.expr) -> str:
    return "{" + ast.unparse(node) + "}"


def _last_name(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else "text"


def in_yaml(source: str, name: str) -> list[Message]:
    """Return the messages of a role or a playbook: the values of ``msg`` and ``fail_msg``."""
    found: list[Message] = []
    todo = list(yaml.compose_all(source, yaml.SafeLoader))
    while todo:
        node = todo.pop()
        if isinstance(node, yaml.SequenceNode):
            todo += node.value
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value in _YAML_KEYS and isinstance(value, yaml.ScalarNode):
                    found.append(Message(name, key.start_mark.line + 1, key.value, value.value))
                todo.append(value)
    return sorted(found)


def main() -> None:
    """Print the messages."""
    for message in messages([Path(one).resolve() for one in sys.argv[1:]] or [ROOT / one for one in _WHERE]):
        print(message)


if __name__ == "__main__":
    main()
