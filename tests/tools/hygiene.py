# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds content that must not be in the repository: ``python -m tests.tools.hygiene``.

That is: paths of one machine, hosts of package registries (each machine's settings name them), large files, tests
that assert nothing or depend on the machine's speed, lists of sanity ignores, and Python files without a licence
line.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.tools.env import ROOT
from tests.tools.tree import sources

MAX_BYTES = 1 << 20

# In pieces, so that the checks do not match this file.
MACHINE_PATH = re.compile(r"(?<![\w.-])/(?:" + "|".join(["wo" + "rk", "fa" + "rm"]) + r")(?:/|\b(?=[\s\"']))")
REGISTRY_HOST = re.compile(
    r"\b(?:"
    + "|".join(["py" + "pi", "files" + r"\.pythonhosted", "proxy" + r"\.golang", "sum" + r"\.golang"])
    + r")\.org\b"
    r"|\bdeb\." + r"debian\.org\b|\bregistry\." + r"npmjs\.org\b|\bindex\." + r"crates\.io\b"
)
SKIPPED_IN_CI = re.compile(r"pytest\.mark\.skip\b|unittest\.skip\b")
# On a busy machine, an answer may take more than a second.
SHORT = re.compile(r"""\bapi_timeout["']?\s*[=:]\s*0?\.\d""")
ASSERTING = ("assert", "check", "expect", "verify", "must", "require")


def text_complaints(name: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if MACHINE_PATH.search(line):
            yield f"{name}:{number}: a path of one machine"
        if REGISTRY_HOST.search(line):
            yield f"{name}:{number}: the host of a package registry"
        if SKIPPED_IN_CI.search(line) and not name.startswith("tests/tools/"):
            yield f"{name}:{number}: a test that is always skipped"
        if SHORT.search(line) and name.startswith("tests/") and name.endswith(".py"):
            yield f"{name}:{number}: a test that depends on the machine's speed"


def _asserts(function: ast.AST, helpers: set[str]) -> bool:
    """Return whether a test contains assert, raises, or a call of a helper that asserts."""
    for node in ast.walk(function):
        if isinstance(node, (ast.Assert, ast.Raise)):
            return True
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if (
                name in ("raises", "fail", "warns")
                or name in helpers
                or name.lstrip("_").startswith(ASSERTING)
            ):
                return True
    return False


def _functions(text: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def asserting_helpers(texts: Iterable[str]) -> set[str]:
    """Return the names of helper functions that assert."""
    return {
        node.name
        for text in texts
        for node in _functions(text)
        if not node.name.startswith("test") and _asserts(node, set())
    }


def test_complaints(name: str, text: str, helpers: set[str]) -> Iterator[str]:
    for node in _functions(text):
        if node.name.startswith("test") and not _asserts(node, helpers):
            yield f"{name}:{node.lineno}: {node.name} asserts nothing"


def file_complaints(path: Path, helpers: set[str]) -> Iterator[str]:
    name = path.as_posix()
    content = (ROOT / path).read_bytes()
    if len(content) > MAX_BYTES:
        yield f"{name}: {len(content) >> 10} KiB"
    if path.match("tests/sanity/ignore-*.txt"):
        yield f"{name}: sanity tests are passed, not ignored"
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return
    yield from text_complaints(name, text)
    if path.suffix == ".py":
        if text.strip() and "SPDX-License-Identifier: GPL-3.0-or-later" not in text[:600]:
            yield f"{name}: no licence line"
        if path.name.startswith("test_"):
            yield from test_complaints(name, text, helpers)


def main() -> int:
    files = [path for path in sources() if (ROOT / path).is_file()]
    tests = [path for path in files if path.suffix == ".py" and path.parts[0] in ("tests", "extensions")]
    helpers = asserting_helpers((ROOT / path).read_text() for path in tests)
    found = [line for path in files for line in file_complaints(path, helpers)]
    for line in found:
        print(line)
    print(f"{len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
