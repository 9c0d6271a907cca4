# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds docker configs in a task's arguments, and removes their forms from output.

Only ``source.inline`` accepts a docker config. Anywhere else it was pasted by mistake, and Ansible itself
would quote it in an error, pass it to callbacks, or write it to a file.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..dockerconfig import sensitive_forms
from ..dockerconfig.display import display
from ..model.encoded import decodings, holds_secret
from ..model.shown import HIDDEN, is_name

__all__ = ["Mask", "forms_in", "misplaced", "quiet", "unquoted"]


_KEYS = frozenset({"auths", "auth", "password", "identitytoken", "registrytoken"})
# Names of options and their choices, including misspelt ones.
_OPTION = re.compile(r"(k8s_)?[A-Za-z][a-z_]{0,29}\Z")
_SHORTEST = 6
_FEW = 8


def misplaced(arguments: Any) -> list[str]:
    """Return the options, such as ``source.env``, that hold a docker config or an ``auth`` where it is not
    allowed.
    """
    return list(dict.fromkeys(path for path, _value in _found(arguments, (), inline=False)))


def forms_in(arguments: Any) -> set[str]:
    """Return every form of every docker config in the arguments, in any option."""
    forms: set[str] = set()
    for _where, value in _found(arguments, (), inline=True):
        for item in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(item, (str, Mapping)):
                forms |= sensitive_forms(item)
            for decoded in decodings(item) if isinstance(item, str) else ():
                forms |= sensitive_forms(decoded)
    return forms


def quiet(arguments: Any) -> Any:
    """Return the arguments for callbacks: without docker configs, and without texts that cannot be names."""
    if isinstance(arguments, Mapping):
        if _is_secret(arguments):
            return HIDDEN
        return {
            name if _is_shown(name) else HIDDEN: HIDDEN if name == "inline" else _quiet_option(name, value)
            for name, value in arguments.items()
        }
    if isinstance(arguments, (list, tuple)):
        return [quiet(value) for value in arguments]
    if isinstance(arguments, str) and arguments and not is_name(arguments):
        return HIDDEN
    return arguments


def _quiet_option(name: Any, value: Any) -> Any:
    """Return an option's value; registries are shown in their printable form."""
    if name == "policy" and isinstance(value, Mapping):
        return quiet({_registry(key, position): layer for position, (key, layer) in enumerate(value.items())})
    if name == "drop" and isinstance(value, (list, tuple)):
        return quiet([_registry(key, position) for position, key in enumerate(value)])
    return quiet(value)


def _registry(key: Any, position: int) -> Any:
    return display(key, position) if isinstance(key, str) else key


def unquoted(message: str, arguments: Any) -> str:
    """Remove the quoted texts from an error of Ansible's own about the arguments.

    Names that could be an option's, or one of its choices, stay: the user needs them.
    """
    for text in sorted(set(_texts(arguments)), key=len, reverse=True):
        if len(text) >= _SHORTEST and not _OPTION.match(text):
            for form in (text, repr(text)[1:-1]):
                message = message.replace(form, HIDDEN)
    return message


class Mask:
    """Replaces forms in texts, in one pass over a text, however many forms there are."""

    def __init__(self, forms: Iterable[str]) -> None:
        self._forms: dict[str, list[str]] = {}
        for form in sorted(set(forms), key=len, reverse=True):
            if len(form) >= _SHORTEST:
                self._forms.setdefault(form[:_SHORTEST], []).append(form)
        # One search for each form is fastest while there are few.
        self._few = len(self._forms) <= _FEW

    def text(self, text: str) -> str:
        """Return the text without any of the forms."""
        if self._few and not any(form in text for forms in self._forms.values() for form in forms):
            return text
        kept, begin, at = [], 0, 0
        while at <= len(text) - _SHORTEST:
            form = next(
                (
                    form
                    for form in self._forms.get(text[at : at + _SHORTEST], ())
                    if text.startswith(form, at)
                ),
                None,
            )
            if form is None:
                at += 1
                continue
            kept += [text[begin:at], HIDDEN]
            begin = at = at + len(form)
        return text if not kept else "".join([*kept, text[begin:]])

    def value(self, value: Any) -> Any:
        """Return a result without any of the forms, also in its keys."""
        if not self._forms:
            return value
        if isinstance(value, dict):
            return {self.value(key): self.value(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return self.text(value) if isinstance(value, str) else value


def _found(value: Any, path: tuple[str, ...], *, inline: bool) -> Iterator[tuple[str, Any]]:
    """Yield (option, its value) for each docker config; ``inline``: including those that are allowed."""
    if path[-2:] == ("source", "inline"):
        # A list is not a docker config, and Ansible's own masking stops at it.
        if value is not None and (inline or isinstance(value, (list, tuple))):
            yield ".".join(path), value
    elif _is_secret(value):
        yield ".".join(path) or "the task", value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            shown, secret = _option(name)
            if secret:
                yield ".".join((*path, shown)), name
            if item is not None and not isinstance(item, (bool, int, float)):
                yield from _found(item, (*path, shown), inline=inline)
    elif isinstance(value, (list, tuple)):
        # Ansible splits a text that is given for a list at its commas.
        text = ",".join(value) if len(value) > 1 and all(isinstance(item, str) for item in value) else ""
        if _is_secret(text):
            yield ".".join(path) or "the task", text
        for item in value:
            yield from _found(item, path, inline=inline)


# A fleet's arguments have few names, thousands of times each.


@functools.lru_cache(maxsize=512, typed=True)
def _is_key(name: Any) -> bool:
    return isinstance(name, str) and name.lower() in _KEYS


@functools.lru_cache(maxsize=512, typed=True)
def _is_shown(name: Any) -> bool:
    return is_name(str(name))


@functools.lru_cache(maxsize=512, typed=True)
def _option(name: Any) -> tuple[str, bool]:
    """Return an option's name in printable form, and whether it is a misplaced secret."""
    secret = _is_secret(name)
    return str(name) if _OPTION.match(str(name)) and not secret else "(a name not shown)", secret


def _is_secret(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_is_key, value))
    return isinstance(value, str) and holds_secret(value)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(name)
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value
