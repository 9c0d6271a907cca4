# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rulebook in ansible-rulebook itself: after a change the playbook runs for the cluster that changed."""

from __future__ import annotations

import asyncio
import contextlib
import time
from pathlib import Path
from typing import Any

import pytest

from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.support.rulebook import rulebook
from tests.support.secret_events.api_server import CANARY, TOKEN, ApiServer
from tests.support.waiting import until

pytestmark = [pytest.mark.real("java"), pytest.mark.alone]

# Stands in for the playbook hosted_cluster: it records when it begins and ends and for which clusters. It
# runs for as long as the file `hold` exists.
STUB = """
- name: Write down what was asked for
  hosts: localhost
  gather_facts: false
  vars:
    ids: "{{ clusters | map(attribute='cluster_id') }}"
  tasks:
    - name: Begin
      ansible.builtin.lineinfile:
        path: "{{ log }}"
        line: "{{ {'begin': ids, 'limits': [hosted_cluster_timeout, rollout_timeout]} | to_json }}"
        insertafter: EOF
        create: true
        mode: "0600"
        regexp: "a line of its own"
    - name: Go on
      ansible.builtin.wait_for:
        path: "{{ log }}.hold"
        state: absent
        sleep: 1
    - name: End
      ansible.builtin.lineinfile:
        path: "{{ log }}"
        line: "{{ {'end': ids} | to_json }}"
        regexp: "a line of its own"
        insertafter: EOF
"""


def hosted(directory: Path, cluster: str, server: ApiServer, namespace: str) -> dict[str, Any]:
    """A hosted cluster whose two secrets are on the same server."""
    path = write_kubeconfig(directory / "kubeconfig", [Cluster("mgmt-1", server.url, TOKEN)])
    original = {"namespace": f"original-{namespace}", "name": "pull-secret"}
    named = {"management_kubeconfig": str(path), "hosted_kubeconfig": str(path)}
    return {"cluster_id": cluster, "original": original, "hosted_namespace": namespace, **named}


@pytest.mark.nightly
def test_a_change_runs_the_playbook_for_its_cluster_and_runs_do_not_overlap(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def scenario() -> None:
        async with ApiServer() as server:
            clusters = [hosted(tmp_path, f"cls-{one}", server, f"ns-{one}") for one in range(5)]
            begun = time.monotonic()
            with rulebook(tmp_path, clusters, stub=STUB) as running:
                await running.ended(1)
                started = time.monotonic() - begun
                first = running.lines[0]
                assert sorted(first["begin"]) == [f"cls-{one}" for one in range(5)]
                assert first["limits"] == [60, 5]
                await until(lambda: server.watches == 10)

                # A single change.
                running.hold.touch()
                begun = time.monotonic()
                server.change("ns-3", "additional-pull-secret")
                await running.until(lambda lines: len(lines) == 3)
                seconds = time.monotonic() - begun
                assert running.lines[2]["begin"] == ["cls-3"]

                # While the playbook runs: many changes, also of the cluster that it works on.
                for one in (1, 3, 1, 4, 3):
                    server.change(f"ns-{one}", "additional-pull-secret")
                    # Longer than the batch delay of 1 s, after which the source would report the changes.
                    await asyncio.sleep(0.5)
                running.hold.unlink()
                await running.ended(3)
                assert running.lines[3:] == [
                    {"end": ["cls-3"]},
                    {"begin": ["cls-1", "cls-3", "cls-4"], "limits": [60, 5]},
                    {"end": ["cls-1", "cls-3", "cls-4"]},
                ]
                status = Path(f"/proc/{running.process.pid}/status").read_text()
                resident = int(status.split("VmRSS:")[1].split()[0]) / 1024
            output = running.text
            assert "kubernetes_secret" in output
            assert CANARY not in output
            assert TOKEN not in output
            with capsys.disabled():
                print(
                    f"\nansible-rulebook: first playbook ended after {started:.1f} s; from a change to the "
                    f"playbook's first task {seconds:.1f} s; {resident:.0f} MiB with its JVM"
                )

    asyncio.run(scenario())


def test_nothing_is_lost_when_it_is_killed(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with ApiServer() as server:
            clusters = [hosted(tmp_path, f"cls-{one}", server, f"ns-{one}") for one in range(2)]
            with contextlib.suppress(AssertionError), rulebook(tmp_path, clusters, stub=STUB) as running:
                await running.ended(1)
                # Whether the event was sent or not, no playbook works on it.
                server.change("ns-1", "additional-pull-secret")
                running.process.kill()
                running.process.wait()
            (tmp_path / "log").unlink()
            with rulebook(tmp_path, clusters, stub=STUB) as running:
                # Clusters with a secret and without one.
                await running.ended(2)
                begun = [line["begin"] for line in running.lines if "begin" in line]
                assert begun == [["cls-1"], ["cls-0"]]

    asyncio.run(scenario())
