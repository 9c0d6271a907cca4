# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the DaemonSet tells the syncer, by environment variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

__all__ = ["ON_CHANGE", "Settings", "SettingsError", "from_environment"]

ON_CHANGE = "on_change"
NEVER = "never"
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


# What Kubernetes takes for a name; it needs no quoting in a path.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)


class SettingsError(Exception):
    """A variable is missing or makes no sense; the text names it."""


class Settings(NamedTuple):
    """All settings; seconds where nothing else is said."""

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


def from_environment(environ: Mapping[str, str]) -> Settings:
    """Read them.

    ``SYNCER_API=http://127.0.0.1:PORT`` is for tests: an API server on loopback without TLS.

    :raises SettingsError: for the first that is wrong.
    """
    restart = _text(environ, "SYNCER_RESTART", ON_CHANGE)
    if restart not in (ON_CHANGE, NEVER):
        raise SettingsError(f"SYNCER_RESTART is {ON_CHANGE} or {NEVER}")
    healthz = environ.get("SYNCER_HEALTHZ", "http://127.0.0.1:10248/healthz").strip()
    if healthz and not healthz.startswith("http://"):
        raise SettingsError("SYNCER_HEALTHZ is an http:// address, or empty")
    host, port, tls = _server(environ)
    return Settings(
        node=_name(environ, "NODE_NAME"),
        namespace=_name(environ, "SYNCER_NAMESPACE", "kube-system"),
        secret=_name(environ, "SYNCER_SECRET", "global-pull-secret"),
        status=_name(environ, "SYNCER_STATUS", "global-pull-secret-status"),
        leases=_names(environ, "SYNCER_LEASES"),
        restart=restart,
        kubelet_dir=_text(environ, "SYNCER_KUBELET_DIR", "/var/lib/kubelet"),
        unit=_text(environ, "SYNCER_UNIT", "kubelet.service"),
        healthz=healthz,
        health_window=_seconds(environ, "SYNCER_HEALTH_WINDOW", 12, least=0),
        host=host,
        port=port,
        tls=tls,
        account_dir=_text(environ, "SYNCER_ACCOUNT_DIR", _ACCOUNT),
        recheck=_seconds(environ, "SYNCER_RECHECK", 60, least=0.05),
        lease_seconds=int(_seconds(environ, "SYNCER_LEASE_SECONDS", 60, least=1)),
    )


def _server(environ: Mapping[str, str]) -> tuple[str, int, bool]:
    plain = environ.get("SYNCER_API", "")
    if plain:
        host, dummy, port = plain.partition("http://")[2].rstrip("/").rpartition(":")
        if host != "127.0.0.1" or not port.isdigit():
            raise SettingsError("SYNCER_API is for tests: http://127.0.0.1:PORT")
        return host, int(port), False
    port = _text(environ, "KUBERNETES_SERVICE_PORT", "443")
    if not port.isdigit():
        raise SettingsError("KUBERNETES_SERVICE_PORT is a number")
    return _text(environ, "KUBERNETES_SERVICE_HOST"), int(port), True


def _text(environ: Mapping[str, str], name: str, default: str = "") -> str:
    value = environ.get(name, "").strip() or default
    if not value:
        raise SettingsError(f"{name} is not set")
    return value


def _name(environ: Mapping[str, str], name: str, default: str = "") -> str:
    value = _text(environ, name, default)
    if not _NAME.fullmatch(value):
        raise SettingsError(f"{name} is a name of Kubernetes")
    return value


def _names(environ: Mapping[str, str], name: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in environ.get(name, "").split(",") if part.strip())
    if not all(map(_NAME.fullmatch, found)):
        raise SettingsError(f"{name} is a list of names of Kubernetes, with commas")
    return found


def _seconds(environ: Mapping[str, str], name: str, default: float, *, least: float) -> float:
    text = environ.get(name, "").strip()
    try:
        value = float(text) if text else default
    except ValueError:
        value = -1
    if not least <= value <= 86400:
        raise SettingsError(f"{name} is a number of seconds, {least} or more")
    return value
