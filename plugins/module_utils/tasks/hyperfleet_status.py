# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work of ``hyperfleet_status``: report an adapter's statuses of its clusters."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..clients.hyperfleet.client import HyperFleetClient, check_api_cluster_id
from ..clients.hyperfleet.cluster_reader import ClusterReader, hyperfleet_client
from ..clients.hyperfleet.printable import shown_conditions
from ..clients.hyperfleet.report_format import FLAVOURS
from ..clients.hyperfleet.statuses import AdapterStatus, Condition, Report
from ..model.encoded import holds_secret
from ..model.errors import ConfigurationError, NotFound
from ..model.limits import Limits
from ..model.outcome import Outcome
from ..workflows.run import Run, Work
from ..workflows.targets import Wanted, build_targets

__all__ = ["run", "target_options", "targets_elsewhere", "targets_of"]

_ADAPTER = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,126}[A-Za-z0-9])?\Z")
_CONDITION = re.compile(r"[A-Za-z][A-Za-z0-9]{0,62}\Z")
_REASON = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,127}\Z")
_MANDATORY = ("Available", "Applied", "Health")


@dataclass(frozen=True)
class _StatusTarget:
    """A report; ``generation`` 0 means the cluster's generation when it is read."""

    cluster_id: str
    report: Report
    when_gone: str


def target_options() -> dict[str, Any]:
    """The options of one target."""
    return dict(
        id={"type": "str"},
        cluster_id={"type": "str"},
        adapter={"type": "str"},
        generation={"type": "int"},
        conditions={
            "type": "list",
            "elements": "dict",
            "options": {
                "type": {"type": "str", "required": True},
                "status": {"type": "str", "required": True, "choices": ["True", "False", "Unknown"]},
                "reason": {"type": "str", "required": True},
                "text": {"type": "str", "default": ""},
            },
        },
        data={"type": "dict"},
        metadata={"type": "dict"},
        when_gone={"type": "str", "choices": ["ignore", "fail"]},
    )


def targets_of(params: Mapping[str, Any]) -> list[Wanted[_StatusTarget]]:
    """Return the task's targets.

    :raises ConfigurationError: two have the same id, or are one adapter's reports on one cluster.
    """
    return build_targets(
        params,
        list(target_options()),
        _build,
        lambda target: f"clusters/{target.cluster_id}/statuses/{target.report.adapter}",
    )


# Called on another machine than the one that does the work: names are the same everywhere.
targets_elsewhere = targets_of


def run(
    params: Mapping[str, Any], *, check_mode: bool, diff: bool, stop: threading.Event | None = None
) -> dict[str, Any]:
    """Handle all targets, and return the module's result."""
    shared = Run(params, "hyperfleet-status", check_mode=check_mode, diff=diff, stop=stop)
    targets, client = targets_of(params), hyperfleet_client(shared.settings)
    on_cluster = FLAVOURS[(params.get("hyperfleet") or {}).get("flavour") or "current"].on_cluster
    unread = [
        wanted.built.cluster_id
        for wanted in targets
        if wanted.built is not None and (on_cluster or not wanted.built.report.generation)
    ]
    clusters = ClusterReader(client, shared.settings)
    clusters.prepare(unread, shared.stop)
    read = frozenset(unread)

    def work(target: _StatusTarget, current: Work) -> None:
        try:
            wanted = target.cluster_id in read
            cluster = clusters.of(target.cluster_id, current.deadline) if wanted else {}
            _report(client, target, cluster, current, whole=not on_cluster, check_mode=check_mode)
        except NotFound:
            if target.when_gone == "fail":
                raise
            current.outcome.extra.update(gone=True, accepted=False)
            current.outcome.changed, current.outcome.actions = False, []

    result = shared.over(targets, _place, work)
    for entry in result["targets"]:
        entry.pop("registries", None)
    return result


def _report(
    client: HyperFleetClient,
    target: _StatusTarget,
    cluster: Mapping[str, Any],
    current: Work,
    *,
    whole: bool,
    check_mode: bool,
) -> None:
    generation = target.report.generation or cluster.get("generation")
    if isinstance(generation, bool) or not isinstance(generation, int) or generation < 1:
        raise ConfigurationError(
            f"cluster {target.cluster_id}: neither the task nor the API gives a valid generation; "
            "set generation to 1 or greater"
        )
    said = target.report
    report = Report(said.adapter, generation, said.conditions, said.data, said.metadata)
    held = client.statuses(target.cluster_id, current.deadline, cluster or None).get(report.adapter)
    outcome = current.outcome
    _compare(outcome, held, report, whole)
    outcome.extra.update(generation=generation, gone=False)
    if check_mode:
        outcome.extra["accepted"] = None
        return
    reported = client.report(target.cluster_id, report, current.deadline, stored=held)
    outcome.extra.update(accepted=reported.accepted, observed_time=reported.observed_time)
    if reported.accepted:
        outcome.settle()
    else:
        # The API has discarded the report: the stored status is unchanged.
        outcome.restart()
        outcome.warnings.append(
            f"the API discarded the report (HTTP {reported.status}): its generation is newer than the cluster's or "
            "older than the last report's, its observed_time is older than the last report's, or its condition "
            "Available is Unknown and it is not the first report"
        )


def _compare(outcome: Outcome, held: AdapterStatus | None, report: Report, whole: bool) -> None:
    """:param whole: whether the API returns the complete status; that of the adapter contract returns
    Available and data.
    """
    new = {condition.type: condition for condition in report.conditions}
    if held is None:
        outcome.did("reported")
    elif _meaning(held.generation, held.data, held.conditions, whole) != _meaning(
        report.generation, report.data, new, whole
    ):
        outcome.did("updated")
    before = held.conditions if held is not None else {}
    outcome.differs("generation", str(held.generation) if held is not None else None, str(report.generation))
    for kind in sorted({*before, *new} if whole else before):
        outcome.differs(kind, _line(before.get(kind)), _line(new.get(kind)))


def _meaning(
    generation: int, data: Mapping[str, Any], conditions: Mapping[str, Condition], whole: bool
) -> tuple[Any, ...]:
    if not whole:
        available = conditions.get("Available")
        return dict(data), available.status if available is not None else None
    return generation, dict(data), dict(conditions)


def _line(condition: Condition | None) -> str | None:
    if condition is None:
        return None
    (said,) = shown_conditions([condition]).values()
    return f"{said['status']} {said['reason']}: {said['message']}"


def _place(wanted: Wanted[Any]) -> str:
    adapter = wanted.options.get("adapter") or "pullsecret"
    try:
        cluster = check_api_cluster_id(wanted.options.get("cluster_id") or "")
    except ConfigurationError:
        cluster = "(not shown)"
    return f"clusters/{cluster}/statuses/{adapter if _is_adapter(adapter) else '(not shown)'}"


def _is_adapter(name: str) -> bool:
    return bool(_ADAPTER.match(name)) and not holds_secret(name)


_LIMITS = Limits(target_options())


def _build(wanted: Mapping[str, Any]) -> _StatusTarget:
    _LIMITS.check(wanted)
    if not wanted.get("cluster_id"):
        raise ConfigurationError("cluster_id is missing")
    adapter = wanted.get("adapter") or "pullsecret"
    if not _is_adapter(adapter):
        raise ConfigurationError(
            "adapter must be at most 128 letters, digits, dashes, dots and underscores, with a letter or digit "
            "at both ends"
        )
    return _StatusTarget(
        check_api_cluster_id(wanted["cluster_id"]),
        Report(
            adapter,
            wanted.get("generation") or 0,
            _conditions(wanted.get("conditions") or ()),
            wanted.get("data") or {},
            wanted.get("metadata") or {},
        ),
        wanted.get("when_gone") or "ignore",
    )


def _conditions(given: Sequence[Mapping[str, Any]]) -> tuple[Condition, ...]:
    conditions: dict[str, Condition] = {}
    for index, one in enumerate(given):
        if not _CONDITION.match(one["type"]):
            raise ConfigurationError(f"conditions[{index}].type must be a word such as Available")
        if not _REASON.match(one["reason"]):
            raise ConfigurationError(f"conditions[{index}].reason must be a word such as JobRunning")
        if one["type"] in conditions:
            raise ConfigurationError(f"conditions: {one['type']} is given twice")
        conditions[one["type"]] = Condition(one["type"], one["status"], one["reason"], one.get("text") or "")
    missing = [kind for kind in _MANDATORY if kind not in conditions]
    if missing:
        raise ConfigurationError(
            f"conditions must have {', '.join(_MANDATORY)}; missing: {', '.join(missing)}"
        )
    return tuple(conditions.values())
