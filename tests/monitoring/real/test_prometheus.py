# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The alert rules and the dashboard's panels in a real Prometheus that scrapes the adapter's port."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.http_server import MonitoringServer
from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.recorder import MonitoringRecorder
from tests.lab.prometheus import Prometheus, prometheus, promtool
from tests.monitoring.unit.results import failure, result, row, success
from tests.support import monitoring

pytestmark = [pytest.mark.real("root"), pytest.mark.alone]

# The states that the rules reach here. Rules with a ``for`` time are pending.
EXPECTED = {
    "PullSecretJobSlow": "firing",
    "PullSecretJobHighFailureRate": "pending",
    "PullSecretStatusUpdatesFailing": "pending",
    "PullSecretAdapterDown": "inactive",
    "PullSecretBrokerDisconnected": "inactive",
}


def work(recorder: MonitoringRecorder, number: int) -> None:
    """Record some of every kind of event."""
    recorder.event("com.example.reconcile")
    recorder.garbage("not_json")
    recorder.batch(3)
    recorder.waiting(2)
    recorder.run_started()
    recorder.run_ended(
        result(
            row(f"cls-{number}", job_created=True),
            row("cls-1", job=success(seconds=400.0)),
            row("cls-2", "failed", kind="unavailable", job=failure()),
            row("cls-3", "discarded"),
        ),
        1.5,
    )
    recorder.run_ended(None, 1.0)
    recorder.acknowledged(4)


async def unanswered(server: Prometheus) -> list[str]:
    """The panels with a query that returns no data."""
    return [
        f"{query.panel}: {query.expression}"
        for query in monitoring.queries()
        if not monitoring.drawn(
            await server.query(monitoring.filled_in(query.expression, interval="10s", span="1m"))
        )
    ]


@pytest.mark.parametrize("per_cluster", [False, True])
def test_every_panel_draws_and_every_rule_is_evaluated(tmp_path: Path, per_cluster: bool) -> None:
    async def scenario() -> None:
        recorder = MonitoringRecorder(per_cluster=per_cluster)
        recorder.broker(True)
        listening = MonitoringServer(recorder, port=0, host="127.0.0.1")
        target = f"127.0.0.1:{await listening.start()}"
        rules = [monitoring.ALERTS]
        async with (
            contextlib.AsyncExitStack() as stack,
            prometheus(tmp_path, [target], labels=monitoring.NAMES, rules=rules) as server,
        ):
            stack.push_async_callback(listening.close)
            missing = ["not asked yet"]
            number = 0
            try:
                async with asyncio.timeout(60):
                    while missing:
                        number += 1
                        work(recorder, number)
                        await asyncio.sleep(0.25)
                        missing = await unanswered(server)
            except TimeoutError:
                pytest.fail("nothing to draw:\n" + "\n".join(missing))

            # The job contract's expression for a slow Job.
            (slow,) = await server.query("pullsecret_job_duration_seconds > 300")
            assert float(slow["value"][1]) == 400.0
            states: dict[str, str] = {}
            async with asyncio.timeout(60):
                while {**states, **EXPECTED} != states:
                    work(recorder, 0)
                    groups = (await server.get("rules"))["groups"]
                    evaluated = [rule for group in groups for rule in group["rules"]]
                    states = {rule["name"]: rule["state"] for rule in evaluated}
                    await asyncio.sleep(0.25)
            assert set(states) == {rule["alert"] for rule in monitoring.rules()}
            assert {rule["health"] for rule in evaluated} == {"ok"}
            clusters = await server.query("count by (cluster_id) (pullsecret_job_total)")
            labelled = {sample["metric"].get("cluster_id") for sample in clusters}
            assert ({"cls-1", "cls-2"} <= labelled) if per_cluster else (labelled == {None})

    asyncio.run(scenario())


def test_promtool_finds_the_rules_right_and_their_tests_hold() -> None:
    for arguments in (("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")):
        done = promtool(*arguments, cwd=monitoring.DIRECTORY)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.nightly
def test_a_rule_that_is_wrong_is_found(tmp_path: Path) -> None:
    (tmp_path / "alerts_test.yml").write_text((monitoring.DIRECTORY / "alerts_test.yml").read_text())
    text = monitoring.ALERTS.read_text()
    wrong = text.replace("pullsecret_job_duration_seconds > 300", "pullsecret_job_duration_seconds > 500")
    assert wrong != text
    (tmp_path / "alerts.yml").write_text(wrong)
    done = promtool("test", "rules", "alerts_test.yml", cwd=tmp_path)
    assert done.returncode != 0
    assert "PullSecretJobSlow" in done.stdout + done.stderr
