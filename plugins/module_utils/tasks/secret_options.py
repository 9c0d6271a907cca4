# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the secrets among a task's arguments by their argument specs (``no_log``), and hides them.

A docker config is recognised by its form (``secrecy``). A bearer token or a header looks like any other name:
only the spec of its option identifies it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..model.shown import HIDDEN, has_login
from ..runtime.secrecy import quiet

__all__ = ["hidden_texts", "public_texts", "quiet_arguments"]

# The only option whose secret is a docker config.
_DOCUMENT = "inline"
_SHORTEST = 6


def hidden_texts(spec: Mapping[str, Any], arguments: Any) -> set[str]:
    """Return the texts of secret options that no result may show.

    A header may hold a tenant's name, which is a part of the tenant's clusters' names. Such a value is public
    if another option has it as well, or if it is short.
    """
    found = dict(_secrets(spec, arguments))
    names = {text for text, is_header in found.items() if is_header}
    texts = set(found) - names
    if names:
        others = list(_texts(quiet_arguments(spec, arguments)))
        texts |= {
            name for name in names if len(name) >= _SHORTEST and not any(name in other for other in others)
        }
    return texts


def public_texts(spec: Mapping[str, Any], arguments: Any) -> set[str]:
    """Return the texts of secret options that are public by the rule of ``hidden_texts``."""
    return {text for text, _is_header in _secrets(spec, arguments)} - hidden_texts(spec, arguments)


def quiet_arguments(spec: Mapping[str, Any], arguments: Any) -> Any:
    """Return the arguments for callbacks: no docker config, no secret option and no unknown option."""
    return quiet(_without_secrets(spec, arguments))


def _secrets(spec: Mapping[str, Any], arguments: Any) -> Iterator[tuple[str, bool]]:
    """Yield (text, whether it is a header's value) for each secret option except docker configs."""
    if not isinstance(arguments, Mapping):
        return
    for name, rule in spec.items():
        value = arguments.get(name)
        if value is None or name == _DOCUMENT:
            continue
        if rule.get("no_log"):
            is_mapping = rule.get("type") == "dict"
            for text in _texts(_as_mapping(value) if is_mapping else value):
                yield text, is_mapping
                _scheme, _space, token = text.partition(" ")
                if token:
                    # `Authorization: Bearer …`: the token alone must also be hidden.
                    yield token, is_mapping
        elif _has_secret(rule, documents=False):
            for part in value if isinstance(value, (list, tuple)) else [value]:
                yield from _secrets(rule["options"], _as_mapping(part))


def _without_secrets(spec: Mapping[str, Any], arguments: Any) -> Any:
    if not isinstance(arguments, Mapping):
        # Ansible also reads a mapping from a text: `host=… api_key=…`.
        return HIDDEN
    return {name: _shown_option(spec.get(name), value) for name, value in arguments.items()}


def _shown_option(rule: Mapping[str, Any] | None, value: Any) -> Any:
    if value is None:
        return None
    if rule is None or rule.get("no_log"):
        return HIDDEN
    if not _has_secret(rule):
        return _without_logins(value)
    if isinstance(value, (list, tuple)):
        return [_without_secrets(rule["options"], part) for part in value]
    return _without_secrets(rule["options"], value)


def _without_logins(value: Any) -> Any:
    """A URL with a login is refused, but callbacks see it with the refusal."""
    if isinstance(value, Mapping):
        return {name: _without_logins(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_logins(item) for item in value]
    return HIDDEN if isinstance(value, str) and has_login(value) else value


def _has_secret(rule: Mapping[str, Any], *, documents: bool = True) -> bool:
    options: Mapping[str, Any] = rule.get("options") or {}
    return any(
        bool(part.get("no_log")) or _has_secret(part, documents=documents)
        for name, part in options.items()
        if documents or name != _DOCUMENT
    )


def _as_mapping(value: Any) -> Any:
    """Return a mapping from the forms that Ansible accepts: JSON, or ``name=value`` pairs."""
    if not isinstance(value, str):
        return value
    # Not at the top of the file: the job's program has no Ansible, and does not need it.
    from ansible.module_utils.common.validation import check_type_dict

    try:
        return check_type_dict(value)
    except (TypeError, ValueError):
        return value


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a value, except the keys of mappings."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)
