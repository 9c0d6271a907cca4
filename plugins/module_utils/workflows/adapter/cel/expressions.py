# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compiles and evaluates one CEL expression of a precondition, with a bound on its cost.

The evaluator (PyPI's common-expression-language) is a sandbox in Rust without input, output or recursion. It
cannot be interrupted, so expressions that could take long are refused before: triply nested loops, lists that
are built, and patterns that are slow to compile or that come from a cluster.
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.util
import logging
import re
import sys
import threading
import time
from typing import Any

from ....model.errors import ConfigurationError, missing_package
from .tokens import (
    Token,
    conjuncts,
    loop_variables,
    nesting,
    paths,
    position,
    quoted_adapters,
    source_text,
    tokens,
)
from .view import ROOTS

__all__ = ["Expression", "Operand", "compile_expression", "evaluation_context"]

# The maximum number of values of a cluster, by how deep an expression's loops are nested.
_SIZES = (100_000, 10_000, 1_000)
_LONGEST = 2000
_LONGEST_PATTERN = 200
# CPU time. A usual pattern takes 0.1 ms.
_SLOWEST_PATTERN = 0.02
_FUNCTIONS = frozenset(
    {
        "size",
        "contains",
        "startsWith",
        "endsWith",
        "matches",
        "string",
        "int",
        "uint",
        "double",
        "bytes",
        "type",
        "dyn",
        "timestamp",
        "duration",
        "getFullYear",
        "getMonth",
        "getDayOfYear",
        "getDayOfMonth",
        "getDate",
        "getDayOfWeek",
        "getHours",
        "getMinutes",
        "getSeconds",
        "getMilliseconds",
    }
)
_OPERATOR = re.compile(r"[^A-Za-z]|@")
_loading = threading.Lock()


class Operand:
    """An operand of ``&&``, or a whole expression, that can be evaluated alone.

    :param words: with adapters' names in quotes.
    """

    def __init__(self, words: list[Token]) -> None:
        self.words = words
        self.paths = paths(words, ROOTS.keys() - {"nil"} - loop_variables(words))
        self._program = _compile(source_text(words))
        self.variables: list[str] = self._program.variables()
        self.functions: list[str] = self._program.functions()

    def evaluate(self, values: Any) -> bool | str:
        """Return whether it holds, or the name of the kind of error that evaluation raised.

        :param values: from ``evaluation_context``.
        """
        try:
            found = self._program.execute(values)
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a panic in Rust is not an Exception
            return type(error).__name__
        return found if isinstance(found, bool) else "NotBool"


class Expression:
    """One compiled expression.

    :param source: as it was written.
    :raises ConfigurationError: it cannot be used; the message ends "the expression …".
    """

    def __init__(self, source: str) -> None:
        self.source = source
        if len(source) > _LONGEST:
            raise ConfigurationError(f"is longer than {_LONGEST} characters")
        written = tokens(source)
        mine = loop_variables(written)
        self.words = quoted_adapters(written, mine | ROOTS.keys())
        self.whole = Operand(self.words)
        _check_loops(self.words)
        self.roots = _roots(self.whole, mine, written)
        loops = nesting(self.words)
        _check_functions(self.whole, written)
        if "matches" in self.whole.functions:
            _check_patterns(self.words)
            loops += bool(loops)
        if loops >= len(_SIZES):
            raise ConfigurationError("nests loops too deeply, or has a regular expression in nested loops")
        self.largest = _SIZES[loops]
        split = conjuncts(self.words)
        self.parts = [Operand(words) for words in split] if len(split) > 1 else [self.whole]


@functools.lru_cache(maxsize=256)
def compile_expression(source: str) -> Expression:
    """Compile an expression, once in a process.

    :raises ConfigurationError: as ``Expression``, or the evaluator cannot be imported.
    """
    return Expression(source)


def evaluation_context(values: dict[str, Any]) -> Any:
    """Convert a view to the evaluator's form, once for all expressions."""
    return _library().Context(values)


def _compile(source: str) -> Any:
    library = _library()
    try:
        return library.compile(source)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a panic in Rust is not an Exception
        # The parser's message quotes the expression. Its position is enough.
        where = re.search(r"<input>:([0-9]+):([0-9]+)", str(error))
        at = f" at line {where.group(1)}, column {where.group(2)}" if where else ""
        raise ConfigurationError(f"is not valid CEL{at}") from None


def _roots(part: Operand, mine: set[str], written: list[Token]) -> frozenset[str]:
    unknown = [name for name in part.variables if name not in ROOTS and name not in mine]
    if unknown:
        known = ", ".join(name for name in ROOTS if name != "nil")
        where = position(written, unknown[0])
        raise ConfigurationError(f"uses an unknown name{where} (known: {known})")
    return frozenset(name for name in part.variables if name in ROOTS)


def _check_functions(part: Operand, written: list[Token]) -> None:
    for name in part.functions:
        if not _OPERATOR.match(name) and name not in _FUNCTIONS:
            raise ConfigurationError(f"uses an unknown function{position(written, name)}")


def _check_loops(words: list[Token]) -> None:
    """Refuse loops that build lists: they copy the list at each step, which takes a second for a thousand
    values.
    """
    for before, after in zip(words, words[1:]):
        if before.kind == "name" and before.text in ("map", "filter") and after.text == "(":
            raise ConfigurationError(f"builds a list with {before.text}: use all, exists or exists_one")


def _check_patterns(words: list[Token]) -> None:
    for index, word in enumerate(words):
        if word.kind != "name" or word.text != "matches":
            continue
        after = words[index + 1 : index + 4]
        if [token.text for token in after[::2]] != ["(", ")"] or after[1].kind != "string":
            raise ConfigurationError("must call matches() with one literal string in quotes")
        if len(after[1].text) > _LONGEST_PATTERN:
            raise ConfigurationError(f"has a regular expression of more than {_LONGEST_PATTERN} characters")
        seconds, wrong = _time_of(after[1].text)
        if wrong:
            raise ConfigurationError("has an invalid regular expression, or one that is too large")
        if seconds > _SLOWEST_PATTERN:
            raise ConfigurationError("has a regular expression that takes too long")


def _time_of(pattern: str) -> tuple[float, str]:
    """(seconds of CPU for one use, what went wrong)"""
    part, fastest, wrong = _compile(f'"".matches({pattern})'), float("inf"), ""
    for _try in range(3):
        begun = time.thread_time()
        try:
            part.execute({})
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - as above
            wrong = type(error).__name__
        fastest = min(fastest, time.thread_time() - begun)
    return fastest, wrong


@functools.lru_cache(maxsize=1)
def _library() -> Any:
    """Load the evaluator alone: its package also imports a command line, which takes 0.3 s."""
    with _loading:
        loaded = sys.modules.get("cel.cel")
        if loaded is not None:
            return loaded
        # The library logs its input.
        for name in ("cel", "antlr4rust"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        package = importlib.util.find_spec("cel")
        places = package.submodule_search_locations if package else None
        found = importlib.machinery.PathFinder.find_spec("cel.cel", places) if places else None
        try:
            if found is None or found.loader is None:
                import cel

                return cel
            library = importlib.util.module_from_spec(found)
            # It can be loaded once in a process. Registered here, a later import of the package finds it.
            sys.modules["cel.cel"] = library
            found.loader.exec_module(library)
        except ImportError as error:
            sys.modules.pop("cel.cel", None)
            raise missing_package(error, "common-expression-language") from None
        return library
