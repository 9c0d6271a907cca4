# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubeconfig files, as kubectl reads them: no package of Kubernetes is loaded into the rulebook's process.

A fleet's kubeconfig may have a thousand contexts; it is parsed once, not once a context, and what is in it
never goes through a temporary file. What is in a Secret is read by the modules' own reader, which trusts it
with less.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import shown, shown_path
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.atomic_file import read_regular
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.yaml_text import (
    NotYAML,
    load_json_or_yaml,
)

__all__ = ["Entry", "Kubeconfigs"]

_SECTIONS = ("clusters", "users", "contexts")
# Files that are kept parsed; one with many contexts is asked for again and again, one a cluster once.
_KEPT = 4


@dataclass(frozen=True)
class Entry:
    """A context's cluster and user; each is a kubeconfig's mapping with the files in it as absolute paths."""

    cluster: Mapping[str, Any] = field(repr=False)
    user: Mapping[str, Any] = field(repr=False)


class Kubeconfigs:
    """Reads files, and again when they have changed."""

    def __init__(self) -> None:
        self._parsed: OrderedDict[str, tuple[tuple[int, ...], dict[str, Any]]] = OrderedDict()

    def entry(self, kubeconfig: Optional[str], context: Optional[str]) -> Entry:
        """The context of that name, or the current one.

        :param kubeconfig: a path or several with colons between; KUBECONFIG or ~/.kube/config where None.
        :raises ConfigurationError: naming the file and what it lacks.
        """
        wanted = kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
        paths = [os.path.expanduser(path) for path in wanted.split(os.pathsep) if path]
        found = [self._file(path) for path in paths if len(paths) == 1 or os.path.exists(path)]
        return _entry(found, context, ", ".join(map(shown_path, paths)))

    def _file(self, path: str) -> dict[str, Any]:
        try:
            status = os.stat(path)
            signature = (status.st_ino, status.st_size, status.st_mtime_ns)
            kept = self._parsed.get(path)
            if kept and kept[0] == signature:
                return kept[1]
            text = read_regular(path)[0]
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ConfigurationError(f"no usable kubeconfig: {shown_path(path)}: {reason}") from None
        parsed = _parse(text, path)
        self._parsed[path] = (signature, parsed)
        self._parsed.move_to_end(path)
        while len(self._parsed) > _KEPT:
            self._parsed.popitem(last=False)
        return parsed


def _entry(found: list[dict[str, Any]], context: Optional[str], where: str) -> Entry:
    current = context or next((one["current-context"] for one in found if one["current-context"]), None)
    if not current:
        raise ConfigurationError(
            f"no usable kubeconfig: {where}: it has no current-context, and none was named"
        )
    chosen = _named(found, "contexts", current, where)
    user = chosen.get("user")
    return Entry(
        _named(found, "clusters", chosen.get("cluster"), where),
        _named(found, "users", user, where) if user else {},
    )


def _named(found: list[dict[str, Any]], section: str, name: Any, where: str) -> dict[str, Any]:
    for one in found:
        if name in one[section]:
            entry: dict[str, Any] = one[section][name]
            return entry
    raise ConfigurationError(f"no usable kubeconfig: {where}: no entry {shown(str(name))} in its {section}")


def _parse(text: bytes, path: str) -> dict[str, Any]:
    """``{current-context, clusters: {name: …}, users: …, contexts: …}``."""
    try:
        document = load_json_or_yaml(text)
    except NotYAML as error:
        raise ConfigurationError(f"no usable kubeconfig: {shown_path(path)}: it {error}") from None
    if not isinstance(document, Mapping):
        raise ConfigurationError(
            f"no usable kubeconfig: {shown_path(path)}: it is not a mapping in YAML or JSON"
        )
    parsed: dict[str, Any] = {"current-context": document.get("current-context")}
    base = os.path.dirname(os.path.abspath(path))
    for section in _SECTIONS:
        entries = document.get(section)
        parsed[section] = {}
        for entry in entries if isinstance(entries, list) else []:
            inner = entry.get(section[:-1]) if isinstance(entry, Mapping) else None
            if isinstance(inner, Mapping):
                # The first of a name counts, as with kubectl.
                parsed[section].setdefault(entry.get("name"), _absolute(inner, base))
    return parsed


def _absolute(entry: Mapping[str, Any], base: str) -> dict[str, Any]:
    """The entry with its files relative to nothing."""
    made = dict(entry)
    for name in ("certificate-authority", "client-certificate", "client-key", "tokenFile"):
        if isinstance(made.get(name), str) and made[name]:
            made[name] = os.path.join(base, made[name])
    plugin = made.get("exec")
    if isinstance(plugin, Mapping) and os.sep in str(plugin.get("command") or ""):
        made["exec"] = {**plugin, "command": os.path.join(base, str(plugin["command"]))}
    return made
