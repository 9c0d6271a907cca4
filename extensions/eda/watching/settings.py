# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is watched: the event source's options, and the list of clusters in them or in a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.secrecy import is_name, shown, shown_path

__all__ = ["Connection", "Settings", "Watched", "parse_clusters", "parse_document", "parse_settings"]

_CONNECTION = ("kubeconfig", "context", "host", "api_key_file", "ca_cert", "validate_certs")
_OPTIONS = ("clusters", "batch", "resync", "silence", "feedback")
# Of what is watched to the clusters that are concerned by it: several may share a secret.
Clusters = dict["Watched", frozenset[str]]


@dataclass(frozen=True)
class Connection:
    """One user of one API server. Secrets are named by their files; none of these fields is one."""

    kubeconfig: Optional[str] = None
    context: Optional[str] = None
    host: Optional[str] = None
    api_key_file: Optional[str] = None
    ca_cert: Optional[str] = None
    validate_certs: bool = True


@dataclass(frozen=True)
class Watched:
    """One Secret of one API server."""

    connection: Connection
    namespace: str
    name: str


@dataclass(frozen=True)
class Settings:
    """The source's options; times in seconds.

    :param clusters: a list, or the path of a file that holds one and is read again when it changes.
    :param delay: how long changes are collected before they are put as one event.
    :param most: clusters in one event.
    :param resync: after which time all clusters are put again; 0: never.
    :param silence: after which time a server that says nothing is taken for lost.
    """

    clusters: Any
    delay: float = 1.0
    most: int = 500
    resync: float = 3600.0
    silence: float = 330.0


def parse_settings(arguments: Mapping[str, Any]) -> Settings:
    """The event source's ``args``.

    :raises ConfigurationError: before anything is begun, so that it is seen when the rulebook is started.
    """
    # What starts with eda_ is the engine's.
    _only({name for name in arguments if not name.startswith("eda_")}, _OPTIONS, "kubernetes_secret")
    clusters = arguments.get("clusters")
    if not clusters and clusters != []:
        raise ConfigurationError("clusters is missing: a list, or the path of a file that holds one")
    if not isinstance(clusters, str):
        parse_clusters(clusters)
    batch = arguments.get("batch") or {}
    if not isinstance(batch, Mapping):
        raise ConfigurationError("batch is not a mapping of delay and max")
    _only(batch, ("delay", "max"), "batch")
    return Settings(
        clusters=clusters,
        delay=_number(batch.get("delay"), "batch.delay", Settings.delay),
        most=max(1, int(_number(batch.get("max"), "batch.max", Settings.most))),
        resync=_number(arguments.get("resync"), "resync", Settings.resync),
        silence=max(1.0, _number(arguments.get("silence"), "silence", Settings.silence)),
    )


def parse_document(text: bytes, path: str) -> Clusters:
    """The clusters of a file, JSON or YAML: the list itself, or a mapping with the list under ``clusters``.

    :raises ConfigurationError: naming the file and what is wrong, and nothing of its content but names.
    """
    where = shown_path(path)
    try:
        document = json.loads(text)
    except ValueError:
        import yaml

        try:
            document = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - safe
        except (yaml.YAMLError, ValueError):
            raise ConfigurationError(f"{where} is neither JSON nor YAML") from None
    if isinstance(document, Mapping):
        document = document.get("clusters")
    try:
        return parse_clusters(document)
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error.message}") from None


def parse_clusters(entries: Any) -> Clusters:
    """What to watch, and whom it concerns.

    :param entries: a list of ``{cluster_id, kubeconfig, context, host, api_key_file, ca_cert,
        validate_certs, watches: [{namespace, name}]}``; a watch with connection options of its own uses
        these alone, since a hosted cluster and its management cluster are two API servers.
    :raises ConfigurationError: naming the entry by its id or its place.
    """
    if not isinstance(entries, list):
        raise ConfigurationError("clusters is not a list")
    found: dict[Watched, set[str]] = {}
    for number, entry in enumerate(entries, 1):
        where = f"entry {number} of clusters"
        if not isinstance(entry, Mapping):
            raise ConfigurationError(f"{where} is not a mapping")
        cluster = _name(entry.get("cluster_id"), f"{where}: cluster_id")
        where = f"cluster {cluster}"
        _only(entry, ("cluster_id", "watches", *_CONNECTION), where)
        watches = entry.get("watches")
        if not isinstance(watches, list) or not watches:
            raise ConfigurationError(f"{where}: watches is not a list of namespace and name")
        own = _connection(entry, where)
        for watch in watches:
            if not isinstance(watch, Mapping):
                raise ConfigurationError(f"{where}: a watch is not a mapping of namespace and name")
            _only(watch, ("namespace", "name", *_CONNECTION), f"{where}: watches")
            watched = Watched(
                _connection(watch, where) if any(watch.get(name) for name in _CONNECTION) else own,
                _name(watch.get("namespace"), f"{where}: watches: namespace"),
                _name(watch.get("name"), f"{where}: watches: name"),
            )
            found.setdefault(watched, set()).add(cluster)
    return {watched: frozenset(clusters) for watched, clusters in found.items()}


def _connection(options: Mapping[str, Any], where: str) -> Connection:
    values: dict[str, Any] = {}
    for name in _CONNECTION[:-1]:
        value = options.get(name)
        if value is None or value == "":
            continue
        if not isinstance(value, str):
            raise ConfigurationError(f"{where}: {name} is not a text")
        values[name] = value
    if "host" in values and ("kubeconfig" in values or "context" in values):
        raise ConfigurationError(f"{where}: host goes without kubeconfig and context")
    verify = options.get("validate_certs")
    if verify is not None and not isinstance(verify, bool):
        raise ConfigurationError(f"{where}: validate_certs is not true or false")
    return Connection(**values, validate_certs=verify is not False)


def _name(value: Any, where: str) -> str:
    """A name, which will be in paths, events and messages."""
    if not isinstance(value, str) or not is_name(value) or "/" in value or " " in value:
        raise ConfigurationError(f"{where} is missing, or is no name")
    return value


def _only(given: Any, known: tuple[str, ...], where: str) -> None:
    unknown = sorted(shown(str(name)) for name in given if name not in known)
    if unknown:
        raise ConfigurationError(f"{where}: unknown: {', '.join(unknown)}")


def _number(value: Any, where: str, default: float) -> float:
    if value is None:
        return default
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1
    # Neither is equal to itself, or less than all.
    if not 0 <= number < 10**9:
        raise ConfigurationError(f"{where} is not a number of at least 0")
    return number
