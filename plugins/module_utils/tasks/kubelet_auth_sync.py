# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work of ``kubelet_auth_sync``: bring one node's ``config.json`` and its kubelet in sync.

The docker config is read on the controller (``resolve``) and used on the node (``run``).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import Any

from ..clients.systemd.manager import Systemd, open_systemd
from ..clients.systemd.systemctl import RunCommand
from ..dockerconfig import DockerConfig, DockerConfigError, load
from ..dockerconfig.display import is_displayed
from ..model.errors import ConfigurationError, InvalidDocument
from ..model.limits import Limits
from ..model.outcome import Outcome
from ..model.shown import is_name
from ..places.kubelet.merge import OURS
from ..places.kubelet.result import (
    DEFERRED,
    FAILED,
    HELD,
    NEVER,
    ON_CHANGE,
    PENDING,
    SECONDS,
    Options,
    SyncResult,
)
from ..places.kubelet.sync import Synchroniser
from ..workflows.options import document_options, run_options
from ..workflows.run import Run, key_of_digests

__all__ = ["resolve", "run", "spec", "with_layers"]

_DEFAULTS = Options()
_UNIT = re.compile(r"[A-Za-z0-9:_.@-]{1,200}\.service\Z")
_STATES = ["present", "absent", "restarted", "healthy", "rolled_back"]


def spec() -> dict[str, Any]:
    """The module's argument spec."""
    return dict(
        state={"type": "str", "choices": _STATES, "default": "present"},
        path={"type": "path", "default": "/var/lib/kubelet/config.json"},
        unit={"type": "str", "default": _DEFAULTS.unit},
        healthz={"type": "str", "default": _DEFAULTS.healthz},
        restart={"type": "str", "choices": [ON_CHANGE, NEVER, DEFERRED], "default": _DEFAULTS.restart},
        attempts={"type": "int", "default": _DEFAULTS.attempts},
        backup={"type": "bool", "default": _DEFAULTS.backup},
        rollback={"type": "bool", "default": _DEFAULTS.rollback},
        retry_failed={"type": "bool", "default": _DEFAULTS.retry_failed},
        systemd={"type": "str", "choices": ["auto", "dbus", "systemctl"], "default": "auto"},
        **{name: {"type": "float", "default": getattr(_DEFAULTS, name)} for name in SECONDS},
        **document_options(),
        **run_options(),
    )


_LIMITS = Limits(spec())


def resolve(params: Mapping[str, Any]) -> tuple[DockerConfig, dict[str, Any]]:
    """On the controller: return the docker config for the node, and where it came from.

    :raises PullSecretError: nothing was done.
    """
    if not (params.get("source") or params.get("layers")):
        raise ConfigurationError("source or layers is required")
    here = Run(params, "node", check_mode=True, diff=False)
    here.documents.prepare([params])
    document = here.documents.read(params, here.settings.deadline(), [])
    origins: dict[str, Any] = {
        # The node also numbers the keys that are not shown, among more entries.
        "provenance": {name: layer for name, layer in document.provenance.items() if is_displayed(name)},
        "warnings": list(document.warnings),
        "conflicts": list(document.conflicts),
    }
    return document.config, origins


def with_layers(result: dict[str, Any], origins: Mapping[str, Any]) -> dict[str, Any]:
    """Return the node's result with the origins, warnings and conflicts that only the controller knows."""
    registries = result.get("registries")
    if isinstance(registries, dict):
        result["registries"] = {
            name: origins["provenance"].get(name, layer) if layer == OURS else layer
            for name, layer in registries.items()
        }
    if origins["warnings"]:
        result["warnings"] = [*origins["warnings"], *(result.get("warnings") or ())]
    if origins["conflicts"]:
        result["conflicts"] = origins["conflicts"]
    return result


def run(
    params: Mapping[str, Any],
    *,
    check_mode: bool,
    diff: bool,
    stop: threading.Event | None = None,
    run_command: RunCommand | None = None,
) -> dict[str, Any]:
    """On the node: bring it in sync, and return the module's result."""
    options = _options(params)
    sync = Synchroniser(params["path"], options, _systemd(params, run_command))
    done = _do(sync, params, check_mode, stop or threading.Event())
    outcome = Outcome("", f"file:{params['path']}", changed=done.changed, actions=done.actions)
    outcome.before, outcome.after = done.before, done.after
    outcome.provenance, outcome.warnings = done.provenance, done.warnings
    outcome.extra["restart"] = done.restart_facts
    outcome.extra["state"] = done.state
    outcome.extra["rolled_back"] = done.rolled_back
    key = key_of_digests(params.get("digest_key"))
    result = outcome.result(key)
    del result["id"]
    if diff and done.changed and not done.rolled_back and done.before != done.after:
        result["diff"] = [outcome.diff(key)]
    # A kubelet that runs, and that another task will watch, is as wanted.
    wanted = (PENDING,) if options.restart == DEFERRED or check_mode or done.healthy else ()
    if done.state in {FAILED, HELD, PENDING} - set(wanted):
        result["failed"] = True
        result["kind"] = "held" if done.state == HELD else "kubelet"
        named = done.message.startswith(f"{options.unit}: ")
        result["msg"] = done.message if named else f"{options.unit}: {done.message}"
        if done.state == HELD and done.by_node:
            result["msg"] += "; after repairing the node, set `retry_failed` to try it again"
    return result


def _do(sync: Synchroniser, params: Mapping[str, Any], check_mode: bool, stop: threading.Event) -> SyncResult:
    state = params["state"]
    if state in ("present", "absent"):
        desired = _desired(params) if state == "present" else None
        work = sync.plan if check_mode else sync.apply
        return work(desired, stop=stop.is_set)
    if state == "restarted":
        return (sync.plan_settle if check_mode else sync.settle)(stop=stop.is_set)
    if state == "rolled_back":
        return (sync.plan_roll_back if check_mode else sync.roll_back)(stop=stop.is_set)
    # It touches neither file nor kubelet, and a kubelet that must still be restarted need not be healthy.
    return SyncResult() if check_mode else sync.verify(stop=stop.is_set)


def _desired(params: Mapping[str, Any]) -> DockerConfig:
    """Return what the action plugin has read and sent as ``inline``."""
    text = (params.get("source") or {}).get("inline")
    if not isinstance(text, str):
        raise ConfigurationError(
            "source was not resolved: this module's action plugin reads it on the controller, and did not run; "
            "call the module as hyperfleet.pull_secret.kubelet_auth_sync"
        )
    try:
        return load(text)
    except DockerConfigError as error:
        raise InvalidDocument(str(error)) from None


def _systemd(params: Mapping[str, Any], run_command: RunCommand | None) -> Systemd | None:
    asks = params["state"] in ("restarted", "healthy") or params["restart"] != NEVER
    return open_systemd(params["systemd"], run_command=run_command) if asks else None


def _options(params: Mapping[str, Any]) -> Options:
    """:raises ConfigurationError: names the invalid option."""
    _LIMITS.check(params)
    # Messages quote them, so they must be valid.
    if not _UNIT.match(params["unit"]):
        raise ConfigurationError("unit must be the name of a service, such as kubelet.service")
    if not (params["path"].startswith("/") and is_name(params["path"])):
        raise ConfigurationError("path must be the full path of kubelet's file")
    return Options(**{name: params[name] for name in Options._fields})
