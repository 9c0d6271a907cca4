# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Builds a ``GuestPullSecret`` from a task's options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...model.errors import ConfigurationError, WrongOption
from ...model.guest_cluster import GuestPullSecret
from ...model.naming import check_name

__all__ = ["build_guest_pull_secret"]

_SHARE = re.compile(r"(100|[1-9]?[0-9])%\Z")
# As `kubectl -l` has it: keys, values and the operators = == != in notin, without anything that ends a query.
_SELECTOR = re.compile(r"[A-Za-z0-9._/=!, ()-]{1,1000}\Z")
_LONGEST_PATTERN_CHARACTERS = 256


def build_guest_pull_secret(options: Mapping[str, Any]) -> GuestPullSecret:
    """Return what the options describe.

    :raises ConfigurationError: names the invalid option.
    """
    present = options["state"] == "present"
    if present and not (options.get("source") or options.get("layers")):
        raise ConfigurationError("one of source and layers is required")
    selector = (options.get("namespace_selector") or "").strip() or None
    pattern = options.get("namespace_pattern") or None
    if present and selector is None and pattern is None:
        raise ConfigurationError(
            "namespace_selector or namespace_pattern is required",
            "namespace_pattern: .* selects every namespace",
        )
    return GuestPullSecret(
        set_name=check_name("namespace", options["set_name"], "set_name"),
        secret_name=check_name("name", options["secret_name"], "secret_name"),
        secret_namespaces=_namespaces(options["secret_namespaces"]),
        label_selector=_selector(selector),
        pattern=_pattern(pattern),
        present=present,
        adopt=options["adopt"],
        label_clusters=options["label_clusters"],
        prune=options["prune"],
        prune_percent=_percent(options["prune_limit"]),
    )


def _namespaces(names: list[str]) -> tuple[str, ...]:
    if not names:
        raise WrongOption("secret_namespaces", "is empty")
    checked = [
        check_name("namespace", name, f"secret_namespaces[{index}]") for index, name in enumerate(names)
    ]
    return tuple(dict.fromkeys(checked))


def _selector(text: str | None) -> str | None:
    if text is not None and not _SELECTOR.match(text):
        raise WrongOption("namespace_selector", "must be a label selector, such as capi-pull-secret=true")
    return text


def _pattern(text: str | None) -> str | None:
    if text is not None and (len(text) > _LONGEST_PATTERN_CHARACTERS or not _compiles(text)):
        raise WrongOption(
            "namespace_pattern",
            f"must be a regular expression of at most {_LONGEST_PATTERN_CHARACTERS} characters",
        )
    return text


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (OverflowError, RecursionError, re.error):
        return False
    return True


def _percent(text: str) -> int:
    if not _SHARE.match(text):
        raise WrongOption("prune_limit", "must be a share of the guests, such as 10%")
    return int(text[:-1])
