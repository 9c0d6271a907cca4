# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Validates a document against the AdapterConfig's schema. Messages name paths and rules, never values.

jsonschema's own messages quote values, so they are not used. It also follows every YAML alias, so a document
that would grow without limit is refused first.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ....model.errors import ConfigurationError, missing_package
from ....model.shown import MISPLACED, is_name
from ....runtime.secrecy import misplaced
from .schema import SCHEMA

__all__ = ["path_of", "validate_document"]

_LARGEST = 20_000
_DEEPEST = 32
_LONGEST = 65_536
# A longer list would hide which problem to fix first.
_SHOWN = 8
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_./-]{0,62}\Z")


def validate_document(document: Any) -> None:
    """Raise an error unless the document is a valid AdapterConfig.

    :raises ConfigurationError: one line with each path and the rule that it breaks.
    """
    _raise_problems(_unfit(document))
    errors = sorted(
        _validator().iter_errors(document), key=lambda error: [str(part) for part in error.absolute_path]
    )
    _raise_problems(line for error in errors for line in _lines(error))


def _raise_problems(problems: Iterable[str]) -> None:
    """Raise an error if there are problems.

    :raises ConfigurationError: names the first problems.
    """
    lines = list(dict.fromkeys(problems))
    if lines:
        more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
        raise ConfigurationError("; ".join(lines[:_SHOWN]) + more)


def path_of(parts: Iterable[Any]) -> str:
    """Return a path such as ``spec.criteria.preconditions[2].expression``. A key that cannot be a field's is
    not shown.
    """
    shown = ""
    for part in parts:
        if isinstance(part, int):
            shown += f"[{part}]"
        else:
            shown += ("." if shown else "") + _key(part)
    return shown or "the document"


def _key(key: Any) -> str:
    fits = isinstance(key, str) and _KEY.match(key) and is_name(key)
    return key if fits else "(a key that is not shown)"


def _unfit(document: Any) -> Iterator[str]:
    """Find what a schema cannot express: misplaced secrets, and documents that are too large."""
    pending: list[tuple[tuple[Any, ...], Any]] = [((), document)]
    seen = 0
    while pending:
        path, value = pending.pop()
        seen += 1
        if seen > _LARGEST or len(path) > _DEEPEST:
            yield "the document is too large or nested too deeply for an AdapterConfig"
            return
        if isinstance(value, Mapping):
            for key, item in value.items():
                if not isinstance(key, str):
                    yield f"{path_of(path)} has a key that is not text"
                elif len(key) > _LONGEST or misplaced({"value": key}):
                    yield f"{path_of(path)} has an invalid key: {MISPLACED}"
                else:
                    pending.append(((*path, key), item))
        elif isinstance(value, (list, tuple)):
            pending.extend(((*path, index), item) for index, item in enumerate(value))
        elif isinstance(value, str):
            if len(value) > _LONGEST:
                yield f"{path_of(path)} is longer than {_LONGEST} characters"
            elif misplaced({"value": value}):
                yield f"{path_of(path)}: {MISPLACED}"


def _lines(error: Any) -> Iterator[str]:
    """Describe a validation error in our words: ``error`` is jsonschema's, whose ``message`` quotes values."""
    path, rule = list(error.absolute_path), error.validator
    where = path_of(path)
    if rule == "required":
        for name in error.validator_value:
            if name not in error.instance:
                yield f"{path_of([*path, name])} is missing"
    elif rule == "additionalProperties":
        known = list(error.schema["properties"])
        for name in error.instance:
            if name not in known:
                yield f"{path_of([*path, name])} is not a known field{_hint(name, known)}"
    elif rule in ("anyOf", "not"):
        yield f"{where} {error.schema['description']}"
    elif rule in ("maxItems", "maxProperties"):
        yield f"{where} has more than {error.validator_value} entries"
    elif rule == "uniqueItems":
        yield f"{where} has an entry twice"
    elif "propertyNames" in error.absolute_schema_path:
        yield f"{where} has an invalid key; keys must be {error.schema['description']}"
    else:
        yield f"{where} must be {error.schema['description']}"


def _hint(name: str, known: list[str]) -> str:
    by_lower = {each.lower().replace("_", ""): each for each in known}
    near = difflib.get_close_matches(name.lower().replace("_", "")[:64], by_lower, 1)
    return f"; did you mean {by_lower[near[0]]}?" if near else ""


@functools.lru_cache(maxsize=1)
def _validator() -> Any:
    try:
        from jsonschema import Draft202012Validator, ValidationError, validators
    except ImportError as error:
        raise missing_package(error, "jsonschema") from None

    def pattern(_validator: Any, wanted: str, instance: Any, _schema: Any) -> Iterator[Any]:
        # In JSON Schema $ matches only at the end. In Python it also matches before a final line break.
        if isinstance(instance, str) and not re.search(re.sub(r"\$\Z", r"\\Z", wanted), instance):
            yield ValidationError("")

    # 3.0 is an integer in JSON Schema, but not in Kubernetes, to which it would be sent.
    types = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _checker, value: isinstance(value, int) and not isinstance(value, bool)
    )
    # This function has no type annotations.
    extend: Any = validators.extend
    return extend(Draft202012Validator, {"pattern": pattern}, type_checker=types)(SCHEMA)
