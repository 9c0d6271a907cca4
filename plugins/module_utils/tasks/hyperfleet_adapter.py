# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The work of ``hyperfleet_adapter``: one run of the adapter over a batch of clusters, or over all."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable, cast

from ..clients.hyperfleet.client import HyperFleetClient
from ..clients.kubernetes.client import KubernetesClient, KubernetesClients
from ..model.adapter_settings import LoggingSettings
from ..model.errors import ConfigurationError, PullSecretError
from ..model.limits import Limits
from ..model.tracing import trace_id
from ..runtime.calls import Calls
from ..runtime.retry import Deadline, RetryPolicy
from ..runtime.run_settings import RunSettings
from ..workflows.adapter.config.config import AdapterConfig, load_adapter_config
from ..workflows.adapter.engine.engine import Engine
from ..workflows.adapter.engine.inline import InlineProvisioner
from ..workflows.adapter.engine.lazy_jobs import LazyJobs
from ..workflows.adapter.engine.run_results import (
    ClusterResult,
    log_entries,
    module_result,
    request_counts,
    sweep_problem_entry,
    sweep_warning_entry,
)
from ..workflows.adapter.engine.sweep import Sweep
from ..workflows.adapter.jobs.dry_run import DryRunClient
from ..workflows.adapter.jobs.jobs import Jobs
from ..workflows.options import run_options
from .entry import validated_by_spec

__all__ = ["Log", "Ran", "run", "spec", "work"]

Log = Callable[[Mapping[str, Any], LoggingSettings], None]

# How many clusters are in memory at a time, and are read ahead together.
_CHUNK = 1000
_RETRIES = RetryPolicy(tries=4, delay=0.5, max_delay=5.0)
# How many of a sweep's problems are in its message.
_SHOWN = 3


def spec() -> dict[str, Any]:
    """The module's argument spec."""
    return dict(
        config={"type": "path", "required": True},
        overrides={"type": "dict"},
        cluster_ids={"type": "list", "elements": "str"},
        events={"type": "list", "elements": "dict"},
        traceparents={"type": "dict"},
        all={"type": "bool", "default": False},
        run_directory={"type": "path"},
        results={"type": "str", "choices": ["all", "brief", "log"]},
        concurrency={"type": "int", "default": 16},
        timeout={"type": "float", "default": 60.0},
        api_timeout={"type": "float", "default": 30.0},
        retry={
            "type": "dict",
            "default": {},
            "options": {
                "tries": {"type": "int", "default": 4},
                "delay": {"type": "float", "default": 0.5},
                "max_delay": {"type": "float", "default": 5.0},
            },
        },
    )


def run(
    params: Mapping[str, Any],
    *,
    check_mode: bool,
    diff: bool,  # noqa: ARG001 - the signature of every task
    stop: threading.Event,
) -> dict[str, Any]:
    """Run in a module's process; return the result, with the log and the result file's entries for the action
    plugin.
    """
    log: list[dict[str, Any]] = []
    ran = work(params, check_mode=check_mode, stop=stop, log=lambda entry, _logging: log.append(dict(entry)))
    return {
        **ran.result(params.get("results")),
        "entries": [one.entry() for one in ran.results],
        "calls": request_counts(ran.calls),
        "log": log,
    }


@dataclass(frozen=True)
class Ran:
    """The result of a run.

    :param calls: requests that belong to no cluster's result.
    :param problems: what a sweep could not read.
    :param warnings: what a sweep left out.
    """

    results: list[ClusterResult]
    calls: Calls
    problems: tuple[PullSecretError, ...] = ()
    warnings: tuple[str, ...] = ()

    def result(self, results: str | None) -> dict[str, Any]:
        """Return the module's result, with the requested details."""
        answer = module_result(self.results, results)
        if self.warnings:
            answer["warnings"] = list(self.warnings)
        if self.problems:
            # Results of finished clusters are returned together with the failures.
            more = [answer["msg"]] if "msg" in answer else []
            answer.update(
                failed=True,
                kind=self.problems[0].kind,
                msg="; ".join([f"the sweep is incomplete: {_few(self.problems)}", *more]),
                problems=[{"kind": one.kind, "msg": str(one)} for one in self.problems],
            )
        return answer


def _few(problems: Sequence[PullSecretError]) -> str:
    more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    return "; ".join(str(one) for one in problems[:_SHOWN]) + more


def work(params: Mapping[str, Any], *, check_mode: bool, stop: threading.Event, log: Log) -> Ran:
    """Do the work, and report each cluster as soon as it is done.

    :param log: called from several threads.
    :raises PullSecretError: nothing could be begun.
    """
    Limits(spec()).check(params)
    cluster_ids, traceparents = _wanted(params)
    config = _config(params)
    connections = {"gcp": config.gcp, "kubernetes": config.kubernetes}
    settings = RunSettings.from_options(params, stop, connections, _RETRIES)
    api = _api(config, settings)
    clients = KubernetesClients(settings)

    def connected(deadline: Deadline) -> Jobs:
        client = clients.get(deadline)
        return Jobs(cast(KubernetesClient, DryRunClient(client)) if check_mode else client, config)

    jobs = LazyJobs(connected)

    def on_result(cluster_result: ClusterResult) -> None:
        for entry in log_entries(cluster_result):
            # The log of a check must not say that something was done.
            said = {**entry, "message": f"check mode: {entry['message']}"} if check_mode else entry
            log(said, config.logging)

    options = validated_by_spec(run_options(), _places_options(params, config))
    provisioner = InlineProvisioner(options, stop=stop, check_mode=check_mode)
    engine = Engine(
        config,
        config.criteria(),
        api,
        jobs,
        provisioner,
        settings,
        check_mode=check_mode,
        on_result=on_result,
    )
    if params["all"]:
        sweep = Sweep(
            engine,
            api,
            jobs,
            provisioner,
            settings,
            store=config.deletion.store,
            has_tenant_header=config.hyperfleet.has_tenant_header,
            on_result=on_result,
        )
        # Inline execution creates no Jobs and leaves nothing behind.
        cluster_results = sweep.run(_CHUNK, leftovers=config.execution == "job")
        for entry in (*map(sweep_problem_entry, sweep.problems), *map(sweep_warning_entry, sweep.warnings)):
            log(entry, config.logging)
        return Ran(cluster_results, provisioner.calls, tuple(sweep.problems), tuple(sweep.warnings))
    done: list[ClusterResult] = []
    for start in range(0, len(cluster_ids), _CHUNK):
        done += engine.handle(cluster_ids[start : start + _CHUNK], traceparents)
    return Ran(done, provisioner.calls)


def _wanted(params: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Return (cluster ids, traceparents by id) of events and ids, each once; the last event of a cluster
    counts.
    """
    ids: dict[str, None] = dict.fromkeys(params.get("cluster_ids") or ())
    traceparents: dict[str, Any] = dict(params.get("traceparents") or {})
    for position, event in enumerate(params.get("events") or (), start=1):
        cluster_id = event.get("id")
        if not isinstance(cluster_id, str) or not cluster_id:
            raise ConfigurationError(f"events: item {position} has no id")
        ids[cluster_id] = None
        if event.get("traceparent"):
            traceparents[cluster_id] = event["traceparent"]
    given = params.get("cluster_ids") is not None or params.get("events") is not None
    if params["all"] == given:
        raise ConfigurationError("set either all: true, or cluster_ids or events")
    return list(ids), {
        cluster_id: traceparent
        for cluster_id, traceparent in traceparents.items()
        if trace_id(traceparent) is not None
    }


def _config(params: Mapping[str, Any]) -> AdapterConfig:
    """:raises ConfigurationError: names the field, or the override."""
    config = load_adapter_config(params["config"])
    overrides = params.get("overrides")
    return config.replaced(overrides) if overrides else config


def _api(config: AdapterConfig, settings: RunSettings) -> HyperFleetClient:
    api = config.hyperfleet
    return HyperFleetClient(
        api.connection(),
        retrier=settings.retrier,
        api_timeout=api.timeout,
        connections=settings.concurrency,
        flavour=api.flavour,
    )


def _places_options(params: Mapping[str, Any], config: AdapterConfig) -> dict[str, Any]:
    """Return the connection options of the modules for both secrets."""
    options: dict[str, Any] = {
        name: params[name] for name in ("concurrency", "timeout", "api_timeout", "retry")
    }
    options["gcp"] = dict(config.gcp)
    options["kubernetes"] = dict(config.kubernetes)
    return options
