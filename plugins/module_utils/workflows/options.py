# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Argument specs that the modules share, and the defaults that targets take from top-level options.

A target's options have no default in the specs, because a default could not be told from a choice. The
defaults are in ``DEFAULTS`` and are applied last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..model.errors import ConfigurationError
from ..model.naming import shown_name
from ..model.shown import shown
from ..places.sources import connection_options, source_spec

__all__ = [
    "document_options",
    "exclusive",
    "identities",
    "resolve_targets",
    "run_options",
    "with_defaults",
    "with_targets",
]


# Defaults for targets if neither the target nor the task has a value.
_DEFAULTS: dict[str, Any] = {"state": "present", "precedence": "additional", "adopt": False}
# Merged key by key. Every other option of a target replaces the task's.
_MERGED = ("labels", "annotations")
# A target with one of these options ignores the task's other ones.
_ALTERNATIVES = (("source", "layers", "restore_version"),)
_EXCLUSIVE = ("source", "layers")


def document_options() -> dict[str, Any]:
    """Return the options for a target's docker config: ``source``, or ``layers`` to merge."""
    return {
        "source": source_spec(),
        "layers": {
            "type": "list",
            "elements": "dict",
            "options": {
                "name": {"type": "str", "required": True},
                "source": source_spec(required=True),
                "optional": {"type": "bool", "default": False},
            },
        },
        "precedence": {"type": "str", "choices": ["additional", "original"]},
        "policy": {"type": "dict"},
        "drop": {"type": "list", "elements": "str"},
        "strict": {"type": "bool"},
    }


def run_options() -> dict[str, Any]:
    """Return the options for running the batch and connecting to the services."""
    return {
        "concurrency": {"type": "int", "default": 16},
        "timeout": {"type": "float", "default": 300.0},
        "api_timeout": {"type": "float", "default": 30.0},
        "retry": {
            "type": "dict",
            "default": {},
            "options": {
                "tries": {"type": "int", "default": 5},
                "delay": {"type": "float", "default": 1.0},
                "max_delay": {"type": "float", "default": 30.0},
            },
        },
        "digest_key": {"type": "str", "no_log": True},
        "progress_file": {"type": "path"},
        **connection_options(),
    }


def with_targets(target_options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a module's complete spec: the target options at the top level and in ``targets``, and the run's
    options.
    """
    return dict(
        target_options,
        targets={
            "type": "list",
            "elements": "dict",
            "options": dict(target_options),
            "mutually_exclusive": exclusive(target_options),
        },
        **run_options(),
    )


def exclusive(target_options: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return ``mutually_exclusive`` of an argument spec, with the options that exist."""
    return [_EXCLUSIVE] if all(name in target_options for name in _EXCLUSIVE) else []


def identities(target: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return a target's ``id`` and ``cluster_id``, as given."""
    return target.get("id"), target.get("cluster_id")


def resolve_targets(params: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return each target with the task's options as defaults, or the task itself without a list.

    :raises ConfigurationError: two targets have the same id.
    """
    top = {name: params.get(name) for name in names}
    if params.get("targets") is None:
        return [with_defaults(top)]
    resolved = [with_defaults(_over(top, target, names)) for target in params["targets"]]
    seen: dict[str, int] = {}
    for index, target in enumerate(resolved):
        given, cluster_id = identities(target)
        identity = given or cluster_id
        if identity is not None and seen.setdefault(identity, index) != index:
            called = shown(given) if given else shown_name("cluster_id", cluster_id)
            raise ConfigurationError(
                f"targets {seen[identity] + 1} and {index + 1} have the same id {called}"
            )
    return resolved


def _over(top: Mapping[str, Any], target: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for name in names:
        value = target.get(name)
        if name in _MERGED:
            merged[name] = {**(top.get(name) or {}), **(value or {})}
        elif value is not None:
            merged[name] = value
        elif not any(
            name in group and any(target.get(other) is not None for other in group) for group in _ALTERNATIVES
        ):
            merged[name] = top.get(name)
    return merged


def with_defaults(target: Mapping[str, Any]) -> dict[str, Any]:
    """Return a target's options, completed with the modules' defaults."""
    missing = {name: value for name, value in _DEFAULTS.items() if target.get(name) is None}
    return {**target, **missing}
