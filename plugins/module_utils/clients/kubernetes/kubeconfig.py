# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads kubeconfig files: each is parsed once, and several are merged as by kubectl.

The modules pass the result to the official client, and the event source uses it directly. A library that
reads the complete file for each context takes 12 s for a hundred contexts. ``embedded`` reads a kubeconfig
that a tenant may have written, and trusts it less.
"""

from __future__ import annotations

import errno
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...model.errors import ConfigurationError
from ...model.shown import shown, shown_path
from ...runtime.atomic_file import read_regular
from ...runtime.yaml_text import NotYAML, load_json_or_yaml

__all__ = ["Kubeconfigs", "Login", "paths_of", "shown_paths"]

_DEFAULT = "~/.kube/config"
_SECTIONS = {"clusters": "cluster", "users": "user", "contexts": "context"}
_FILES = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
# How many parsed files are kept: a file with many contexts is used again and again, one of a single cluster
# once.
_KEPT = 4
_CHECK_PATH = "check the path in the option kubeconfig, K8S_AUTH_KUBECONFIG or KUBECONFIG"
_SET_PATH = "set the option kubeconfig, or the variable K8S_AUTH_KUBECONFIG or KUBECONFIG"
_REPLACE = "correct the file, or name another kubeconfig"


@dataclass(frozen=True)
class Login:
    """A context's cluster and user; each is a kubeconfig's mapping with absolute paths of files.

    :param directory: of the file that the cluster is from.
    """

    cluster: Mapping[str, Any] = field(repr=False)
    user: Mapping[str, Any] = field(repr=False)
    directory: str


class _Entry(NamedTuple):
    """One entry of a section; ``times`` is how often its file has the name, ``value`` None if it is not a
    mapping.
    """

    value: dict[str, Any] | None
    directory: str
    times: int = 1


class _Parsed(NamedTuple):
    current: Any
    sections: dict[str, dict[str, _Entry]]


class Kubeconfigs:
    """Reads files, and reads one again when it has changed. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # A file that is slow to read delays only callers for the same file.
        self._reading: dict[str, threading.Lock] = {}
        self._parsed: OrderedDict[str, tuple[tuple[int, ...], _Parsed]] = OrderedDict()

    def login(self, kubeconfig: str | None, context: str | None) -> Login:
        """Return the context of that name, or the current one.

        :param kubeconfig: a path, or several separated by colons; None means KUBECONFIG or ~/.kube/config.
        :raises ConfigurationError: names the file and what is wrong with it, and quotes only names.
        """
        paths = paths_of(kubeconfig)
        hint = _CHECK_PATH if kubeconfig or os.environ.get("KUBECONFIG") else _SET_PATH
        found = [self._file(path, hint) for path in paths if len(paths) == 1 or os.path.exists(path)]
        where = shown_paths(paths)
        if not found:
            raise ConfigurationError(f"no usable kubeconfig: {where}: {os.strerror(errno.ENOENT)}", hint)
        return _login(found, context, where)

    def _file(self, path: str, hint: str) -> _Parsed:
        with self._lock:
            reading = self._reading.setdefault(path, threading.Lock())
        with reading:
            try:
                status = os.stat(path)
                signature = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
                with self._lock:
                    kept = self._parsed.get(path)
                if kept and kept[0] == signature:
                    return kept[1]
                # It refuses a pipe, whose writer may never come.
                text = read_regular(path)[0]
            except OSError as error:
                reason = error.strerror or type(error).__name__
                raise ConfigurationError(
                    f"no usable kubeconfig: {shown_path(path)}: {reason}", hint
                ) from None
            parsed = _parse(text, path)
            with self._lock:
                self._parsed[path] = (signature, parsed)
                self._parsed.move_to_end(path)
                while len(self._parsed) > _KEPT:
                    self._parsed.popitem(last=False)
            return parsed


def paths_of(kubeconfig: str | None) -> list[str]:
    """Return the files that are read for an option, or for none."""
    wanted = kubeconfig or os.environ.get("KUBECONFIG") or _DEFAULT
    return [os.path.expanduser(path) for path in wanted.split(os.pathsep) if path]


def shown_paths(paths: Sequence[str]) -> str:
    """Return the paths for a message, or none of them if one cannot be shown: a credential with a colon, in
    the place of the option, is several paths.
    """
    return next((hidden for path in paths if (hidden := shown_path(path)) != path), ", ".join(paths))


def _login(found: Sequence[_Parsed], context: str | None, where: str) -> Login:
    current = context or next((one.current for one in found if one.current), None)
    if not current:
        raise ConfigurationError(
            f"no usable kubeconfig: {where}: it has no current-context, and no context was given",
            "name a context of the file; kubectl config get-contexts lists them",
        )
    chosen = _value(found, "contexts", current, where)[0]
    cluster, directory = _value(found, "clusters", chosen.get("cluster"), where)
    user = chosen.get("user")
    return Login(cluster, _value(found, "users", user, where)[0] if user else {}, directory)


def _value(found: Sequence[_Parsed], section: str, name: Any, where: str) -> tuple[dict[str, Any], str]:
    """Return the entry of that name in the first file that has one, and the directory of the file."""
    key = str(name)
    entry = next((one.sections[section][key] for one in found if key in one.sections[section]), None)
    problem = None
    if entry is None:
        problem = f"no entry named {shown(key)} in its {section}"
    elif entry.times > 1:
        problem = f"{entry.times} entries named {shown(key)} in its {section}"
    elif entry.value is None:
        problem = f"the entry named {shown(key)} in its {section} has no {_SECTIONS[section]}"
    else:
        return entry.value, entry.directory
    hint = "correct the context's entry in the file"
    if section == "contexts":
        hint = "correct the name of the context; kubectl config get-contexts lists them"
    raise ConfigurationError(f"no usable kubeconfig: {where}: {problem}", hint)


def _parse(text: bytes, path: str) -> _Parsed:
    try:
        document = load_json_or_yaml(text)
    except NotYAML as error:
        raise ConfigurationError(f"no usable kubeconfig: {shown_path(path)}: it {error}", _REPLACE) from None
    if not isinstance(document, Mapping):
        problem = "is empty" if document is None else "must be a mapping in YAML or JSON"
        raise ConfigurationError(f"no usable kubeconfig: {shown_path(path)}: it {problem}", _REPLACE)
    directory = os.path.dirname(os.path.abspath(path))
    sections = {
        section: _entries(document.get(section), kind, directory) for section, kind in _SECTIONS.items()
    }
    return _Parsed(document.get("current-context"), sections)


def _entries(listed: Any, kind: str, directory: str) -> dict[str, _Entry]:
    entries: dict[str, _Entry] = {}
    for one in listed if isinstance(listed, list) else ():
        if not isinstance(one, Mapping):
            continue
        name, value = str(one.get("name")), one.get(kind)
        if name in entries:
            entries[name] = entries[name]._replace(times=entries[name].times + 1)
        else:
            known = _absolute(value, directory) if isinstance(value, Mapping) else None
            entries[name] = _Entry(known, directory)
    return entries


def _absolute(entry: Mapping[str, Any], directory: str) -> dict[str, Any]:
    """Return the entry with absolute paths."""
    made = dict(entry)
    for name in _FILES:
        if isinstance(made.get(name), str) and made[name]:
            made[name] = os.path.join(directory, made[name])
    plugin = made.get("exec")
    if isinstance(plugin, Mapping) and os.sep in str(plugin.get("command") or ""):
        made["exec"] = {**plugin, "command": os.path.join(directory, str(plugin["command"]))}
    return made
