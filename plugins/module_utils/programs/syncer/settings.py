# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The syncer's settings, which the DaemonSet gives it as environment variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from ...clients.kubernetes.service_account import ACCOUNT
from ...model.syncer_limits import (
    LONGEST_LEASE,
    LONGEST_SECONDS,
    MOST_SLOTS,
    is_healthz,
    is_port,
    is_seconds,
    is_unit,
)

__all__ = ["ON_CHANGE", "SyncerSettings", "SyncerSettingsError", "settings_from_environment"]

ON_CHANGE = "on_change"
_NEVER = "never"


# Kubernetes' rule for names, which need no quoting in a path.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
# A server name for TLS must not begin with a dot.
_HOST = re.compile(r"[A-Za-z0-9:][A-Za-z0-9.:-]{0,252}", re.ASCII)


class SyncerSettingsError(Exception):
    """A variable is missing or invalid; the message names it."""


class SyncerSettings(NamedTuple):
    """All settings, in seconds unless noted."""

    node: str
    namespace: str
    secret: str
    status: str
    leases: tuple[str, ...]
    restart: str
    kubelet_dir: str
    unit: str
    healthz: str
    health_window: float
    host: str
    port: int
    tls: bool
    account_dir: str
    recheck: float
    lease_seconds: int


def settings_from_environment(environ: Mapping[str, str]) -> SyncerSettings:
    """Read the settings.

    ``SYNCER_API=http://127.0.0.1:PORT`` is for tests: an API server on loopback without TLS.

    :raises SyncerSettingsError: for the first invalid variable.
    """
    restart = _text(environ, "SYNCER_RESTART", ON_CHANGE)
    if restart not in (ON_CHANGE, _NEVER):
        raise SyncerSettingsError(f"SYNCER_RESTART must be {ON_CHANGE} or {_NEVER}")
    healthz = environ.get("SYNCER_HEALTHZ", "http://127.0.0.1:10248/healthz").strip()
    if healthz and not is_healthz(healthz):
        raise SyncerSettingsError(
            "SYNCER_HEALTHZ must be an address such as http://127.0.0.1:10248/healthz, or empty"
        )
    host, port, tls = _server(environ)
    return SyncerSettings(
        node=_name(environ, "NODE_NAME"),
        namespace=_name(environ, "SYNCER_NAMESPACE", "kube-system"),
        secret=_name(environ, "SYNCER_SECRET", "global-pull-secret"),
        status=_name(environ, "SYNCER_STATUS", "global-pull-secret-status"),
        leases=_names(environ, "SYNCER_LEASES"),
        restart=restart,
        kubelet_dir=_directory(environ, "SYNCER_KUBELET_DIR", "/var/lib/kubelet"),
        unit=_unit(environ, "SYNCER_UNIT", "kubelet.service"),
        healthz=healthz,
        health_window=_seconds(environ, "SYNCER_HEALTH_WINDOW", 12, least=0),
        host=host,
        port=port,
        tls=tls,
        account_dir=_directory(environ, "SYNCER_ACCOUNT_DIR", ACCOUNT),
        recheck=_seconds(environ, "SYNCER_RECHECK", 60, least=0.05),
        lease_seconds=int(_seconds(environ, "SYNCER_LEASE_SECONDS", 60, least=1, most=LONGEST_LEASE)),
    )


def _server(environ: Mapping[str, str]) -> tuple[str, int, bool]:
    plain = environ.get("SYNCER_API", "")
    if plain:
        host, dummy, port = plain.partition("http://")[2].rstrip("/").rpartition(":")
        if host != "127.0.0.1" or not is_port(port):
            raise SyncerSettingsError("SYNCER_API must be http://127.0.0.1:PORT; it is for tests only")
        return host, int(port), False
    port = _text(environ, "KUBERNETES_SERVICE_PORT", "443")
    if not is_port(port):
        raise SyncerSettingsError("KUBERNETES_SERVICE_PORT must be a number from 1 to 65535")
    host = _text(environ, "KUBERNETES_SERVICE_HOST")
    if not _HOST.fullmatch(host):
        raise SyncerSettingsError("KUBERNETES_SERVICE_HOST must be a host name or an address")
    return host, int(port), True


def _text(environ: Mapping[str, str], name: str, default: str = "") -> str:
    value = environ.get(name, "").strip() or default
    if not value:
        raise SyncerSettingsError(f"{name} is not set")
    return value


def _name(environ: Mapping[str, str], name: str, default: str = "") -> str:
    value = _text(environ, name, default)
    if not _NAME.fullmatch(value):
        raise SyncerSettingsError(f"{name} must be a Kubernetes name")
    return value


def _names(environ: Mapping[str, str], name: str) -> tuple[str, ...]:
    parts = (part.strip() for part in environ.get(name, "").split(","))
    found = tuple(dict.fromkeys(part for part in parts if part))
    if not all(map(_NAME.fullmatch, found)):
        raise SyncerSettingsError(f"{name} must be a list of Kubernetes names, separated by commas")
    if len(found) > MOST_SLOTS:
        raise SyncerSettingsError(f"{name} has {len(found)} names, more than {MOST_SLOTS}")
    return found


def _directory(environ: Mapping[str, str], name: str, default: str) -> str:
    value = _text(environ, name, default)
    if not value.startswith("/") or not value.isprintable():
        raise SyncerSettingsError(f"{name} must be an absolute path")
    return value


def _unit(environ: Mapping[str, str], name: str, default: str) -> str:
    value = _text(environ, name, default)
    if not is_unit(value):
        raise SyncerSettingsError(f"{name} must be the name of a service, such as {default}")
    return value


def _seconds(
    environ: Mapping[str, str], name: str, default: float, *, least: float, most: float = LONGEST_SECONDS
) -> float:
    text = environ.get(name, "").strip()
    try:
        value = float(text) if text else default
    except ValueError:
        value = -1
    if not is_seconds(value, least) or value > most:
        raise SyncerSettingsError(f"{name} must be a number of seconds from {least:g} to {most:g}")
    return value
