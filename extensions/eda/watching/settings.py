# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The event source's options, checked once, and the watches that they describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.limits import is_path
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import is_name, shown

__all__ = [
    "CONNECTION",
    "Clusters",
    "KubeconfigSecret",
    "SecretWatchSettings",
    "ServerOptions",
    "Watched",
    "parse_connection",
    "parse_name",
    "parse_only",
    "parse_settings",
]

CONNECTION = ("kubeconfig", "context", "host", "api_key_file", "ca_cert", "validate_certs")
_PATHS = ("kubeconfig", "api_key_file", "ca_cert")
_HOUR, _DAY, _MONTH = 3600, 86400, 30 * 86400
_MOST = 100_000
_OPTIONS = ("clusters", "kubernetes", "batch", "resync", "silence")
# Watched secret to its clusters: several may share a secret.
Clusters = dict["Watched", frozenset[str]]


@dataclass(frozen=True)
class ServerOptions:
    """One user of one API server. Credentials are in files; no field is a secret.

    The variables ``K8S_AUTH_*`` are the defaults of fields that are None.
    """

    kubeconfig: str | None = None
    context: str | None = None
    host: str | None = None
    api_key_file: str | None = None
    ca_cert: str | None = None
    validate_certs: bool | None = None
    secret: KubeconfigSecret | None = None


@dataclass(frozen=True)
class KubeconfigSecret:
    """Where a management cluster stores a hosted cluster's kubeconfig.

    :param name: None means the HostedControlPlane's ``status.kubeConfig``.
    :param plane: the HostedControlPlane; None is the only one of the namespace.
    """

    management: ServerOptions
    namespace: str
    name: str | None = None
    key: str = "kubeconfig"
    plane: str | None = None


@dataclass(frozen=True)
class Watched:
    """One Secret of one API server, or all objects of a kind.

    :param name: None means the HostedControlPlane's ``spec.pullSecret``; ``plane`` as above.
    :param kind: ``clusters`` (of Cluster API) or ``namespaces``, of which only those that come and go count.
    :param selector: the labels of these objects, as ``kubectl -l`` has it.
    """

    connection: ServerOptions
    namespace: str
    name: str | None
    plane: str | None = None
    kind: str | None = None
    selector: str = ""


@dataclass(frozen=True)
class SecretWatchSettings:
    """The source's options; times in seconds.

    :param clusters: a list, or the path of a file with one, which is read again when it changes.
    :param default: the connection for entries without one.
    :param delay: how long changes are collected for one event.
    :param most: maximum number of clusters in one event.
    :param resync: after which time all clusters are put again; 0: never.
    :param silence: after which time a silent server counts as lost.
    """

    clusters: Any
    default: ServerOptions = field(default_factory=ServerOptions)
    delay: float = 1.0
    most: int = 500
    resync: float = 3600.0
    silence: float = 330.0


def parse_settings(arguments: Mapping[str, Any]) -> SecretWatchSettings:
    """Parse the event source's ``args``, except the list of clusters.

    :raises ConfigurationError: at once, so that it is seen when the rulebook is started.
    """
    # Names with eda_ are the engine's.
    parse_only({name for name in arguments if not name.startswith("eda_")}, _OPTIONS, "kubernetes_secret")
    clusters = arguments.get("clusters")
    if not clusters and clusters != []:
        raise ConfigurationError(
            "clusters is missing; give a list of clusters, or the path of a file that holds one"
        )
    if isinstance(clusters, str) and not is_path(clusters):
        raise ConfigurationError("clusters must be the path of a file")
    batch, default = (arguments.get(name) or {} for name in ("batch", "kubernetes"))
    for name, given, known in (("batch", batch, ("delay", "max")), ("kubernetes", default, CONNECTION)):
        if not isinstance(given, Mapping):
            raise ConfigurationError(f"{name} must be a mapping with {', '.join(known)}")
        parse_only(given, known, name)
    return SecretWatchSettings(
        clusters=clusters,
        default=parse_connection(default, "kubernetes"),
        delay=_number(batch.get("delay"), "batch.delay", SecretWatchSettings.delay, 0, _HOUR),
        most=int(_number(batch.get("max"), "batch.max", SecretWatchSettings.most, 1, _MOST)),
        resync=_number(arguments.get("resync"), "resync", SecretWatchSettings.resync, 0, _MONTH),
        silence=_number(arguments.get("silence"), "silence", SecretWatchSettings.silence, 1, _DAY),
    )


def parse_connection(options: Mapping[str, Any], where: str) -> ServerOptions:
    """Return the connection to an API server, from the options in ``CONNECTION``."""
    values: dict[str, Any] = {}
    for name in CONNECTION[:-1]:
        value = options.get(name)
        if value is None or value == "":
            continue
        if not isinstance(value, str):
            raise ConfigurationError(f"{where}: {name} must be a string")
        if name in _PATHS and not is_path(value):
            raise ConfigurationError(f"{where}: {name} must be the path of a file")
        values[name] = value
    if "host" in values and ("kubeconfig" in values or "context" in values):
        raise ConfigurationError(f"{where}: host cannot be combined with kubeconfig or context")
    verify = options.get("validate_certs")
    if verify is not None and not isinstance(verify, bool):
        raise ConfigurationError(f"{where}: validate_certs must be true or false")
    return ServerOptions(**values, validate_certs=verify)


def parse_name(value: Any, where: str) -> str:
    """Return a name for paths, events and messages; a number becomes its text, as in the modules."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not is_name(value) or "/" in value or " " in value:
        raise ConfigurationError(f"{where} is missing or is not a valid name")
    return value


def parse_only(given: Any, known: tuple[str, ...], where: str) -> None:
    """:raises ConfigurationError: an unknown option was given."""
    unknown = sorted(shown(str(name)) for name in given if name not in known)
    if unknown:
        raise ConfigurationError(f"{where}: unknown keys: {', '.join(unknown)}")


def _number(value: Any, where: str, default: float, least: float, most: float) -> float:
    if value is None:
        return default
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = least - 1
    # Both comparisons are false for NaN.
    if isinstance(value, bool) or not least <= number <= most:
        raise ConfigurationError(f"{where} must be a number from {least} to {most}")
    return number
