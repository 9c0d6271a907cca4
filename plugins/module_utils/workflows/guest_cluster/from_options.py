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
from ...model.naming import LABEL_SELECTOR, check_name

__all__ = ["build_guest_pull_secret"]

_SHARE = re.compile(r"(100|[1-9]?[0-9])%\Z")
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
    if not options["secret_namespaces"]:
        raise WrongOption("secret_namespaces", "is empty")
    is_direct = options["delivery"] == "direct"
    for option in ("secret_namespace_selector", "all_secret_namespaces", "service_accounts"):
        if options.get(option) and not is_direct:
            raise WrongOption(option, "needs delivery: direct, since Cluster API looks at nothing in a guest")
    if is_direct and options["label_clusters"]:
        raise WrongOption("label_clusters", "has no effect with delivery: direct; leave it out")
    return GuestPullSecret(
        set_name=check_name("namespace", options["set_name"], "set_name"),
        secret_name=check_name("name", options["secret_name"], "secret_name"),
        secret_namespaces=_names("namespace", "secret_namespaces", options["secret_namespaces"]),
        is_direct=is_direct,
        guest_selector=_guest_selector(options),
        service_accounts=_names("name", "service_accounts", options.get("service_accounts") or []),
        report_drift=options["report_drift"],
        label_selector=_selector("namespace_selector", selector),
        pattern=_pattern(pattern),
        present=present,
        adopt=options["adopt"],
        label_clusters=options["label_clusters"],
        prune=options["prune"],
        prune_percent=_percent(options["prune_limit"]),
    )


def _names(kind: str, option: str, names: list[str]) -> tuple[str, ...]:
    checked = (check_name(kind, name, f"{option}[{index}]") for index, name in enumerate(names))
    return tuple(dict.fromkeys(checked))


def _guest_selector(options: Mapping[str, Any]) -> str | None:
    selector = (options.get("secret_namespace_selector") or "").strip() or None
    if not options["all_secret_namespaces"]:
        return _selector("secret_namespace_selector", selector)
    if selector is not None:
        raise WrongOption(
            "secret_namespace_selector", "has no effect with all_secret_namespaces; leave one out"
        )
    return ""


def _selector(option: str, text: str | None) -> str | None:
    if text is not None and not LABEL_SELECTOR.match(text):
        raise WrongOption(option, "must be a label selector, such as capi-pull-secret=true")
    return text


def _pattern(text: str | None) -> str | None:
    try:
        is_valid = len(text or "") <= _LONGEST_PATTERN_CHARACTERS and bool(re.compile(text or ""))
    except (OverflowError, RecursionError, re.error):
        is_valid = False
    if not is_valid:
        raise WrongOption(
            "namespace_pattern",
            f"must be a regular expression of at most {_LONGEST_PATTERN_CHARACTERS} characters",
        )
    return text


def _percent(text: str) -> int:
    if not _SHARE.match(text):
        raise WrongOption("prune_limit", "must be a share of the guests, such as 10%")
    return int(text[:-1])
