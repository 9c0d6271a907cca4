# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work of ``cloud_event``: publish an event about each cluster, in one process."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from ..clients.messaging.events import cluster_event, encode_event
from ..clients.messaging.publishers import PUBLISHERS, Publisher
from ..model.errors import ConfigurationError, PullSecretError
from ..model.limits import Limits
from ..model.shown import is_name, shown
from ..model.summary import whole

__all__ = ["run", "spec"]

_TEXTS = ("type", "source", "id", "traceparent")


def spec() -> dict[str, Any]:
    """The module's argument spec."""
    return dict(
        broker={
            "type": "dict",
            "required": True,
            "options": {
                "type": {"type": "str", "required": True, "choices": sorted(PUBLISHERS)},
                "url": {"type": "str"},
                "url_file": {"type": "path"},
                "ca_cert": {"type": "path"},
                "topic": {"type": "str"},
                "exchange": {"type": "str"},
                "exchange_type": {"type": "str", "choices": ["topic", "fanout"], "default": "topic"},
                "project_id": {"type": "str"},
                "endpoint": {"type": "str"},
                "token_file": {"type": "path", "no_log": False},
            },
        },
        cluster_ids={"type": "list", "elements": "str", "default": []},
        targets={
            "type": "list",
            "elements": "dict",
            "default": [],
            "options": {
                "cluster_id": {"type": "str", "required": True},
                "generation": {"type": "int"},
                **{name: {"type": "str"} for name in _TEXTS},
            },
        },
        type={"type": "str"},
        source={"type": "str"},
        timeout={"type": "float", "default": 60.0},
    )


_LIMITS = Limits(spec())
_TARGET_LIMITS = Limits(spec()["targets"]["options"])


def run(
    params: Mapping[str, Any], *, check_mode: bool, diff: bool, stop: threading.Event | None = None
) -> dict[str, Any]:
    """Publish all events, and return the module's result.

    :raises ConfigurationError: the broker is not described, or a package is missing.
    """
    del diff, stop  # A publish is one request, or a few.
    _LIMITS.check(params)
    if params["broker"] is None:
        raise ConfigurationError("broker is null; give it a value")
    publisher = PUBLISHERS[params["broker"]["type"]](params["broker"])
    rows: list[dict[str, Any]] = []
    bodies: list[tuple[dict[str, Any], bytes]] = []
    for target in [*({"cluster_id": one} for one in params["cluster_ids"]), *params["targets"]]:
        row: dict[str, Any] = {
            "id": shown(str(target["cluster_id"])),
            "place": publisher.place,
            "changed": True,
            "actions": ["published"],
        }
        rows.append(row)
        try:
            _TARGET_LIMITS.check(target)
            event = cluster_event(_with_defaults(target, params))
        except ConfigurationError as error:
            _fail(row, error)
            continue
        row["event"] = event["id"]
        bodies.append((row, encode_event(event)))
    if not check_mode:
        _publish(publisher, bodies, params["timeout"])
    return whole(rows)


def _with_defaults(target: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """:raises ConfigurationError: a text cannot be used in an event."""
    found = dict(target)
    for name in ("type", "source"):
        found[name] = found.get(name) or params.get(name)
    for name in _TEXTS:
        if found.get(name) and not is_name(found[name]):
            raise ConfigurationError(f"{name} is not a printable string")
    return found


def _publish(publisher: Publisher, bodies: list[tuple[dict[str, Any], bytes]], timeout: float) -> None:
    if not bodies:
        return
    answers = publisher.publish([body for _row, body in bodies], timeout)
    for (row, _body), error in zip(bodies, answers):
        if error is not None:
            _fail(row, error)


def _fail(row: dict[str, Any], error: PullSecretError) -> None:
    row.update(failed=True, changed=False, actions=[], kind=error.kind, msg=str(error))
