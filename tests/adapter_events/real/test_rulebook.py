# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rulebook in ansible-rulebook: an event arrives, and the playbook runs for its cluster."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from tests.lab.supervisor import free_ports, listing
from tests.support.adapter_events.source import cloud_event
from tests.support.rulebook import Rulebook, prepare

pytestmark = [pytest.mark.real("java"), pytest.mark.alone]

# Stands in for the playbook adapter: it holds the lock while a file `hold` exists, writes down its input,
# and ends with a result.
STUB = """
- name: Look at the clusters
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Begin, and end
      ansible.builtin.command:
        argv:
          - "{{ ansible_playbook_python }}"
          - "{{ log | dirname }}/work.py"
          - "{{ log }}"
          - "{{ adapter_run }}"
          - "{{ {'clusters': cluster_ids, 'traces': adapter_traceparents} | to_json }}"
"""
WORK = """
import fcntl, json, os, sys, time
log, run, asked = sys.argv[1:]
asked = json.loads(asked)

def say(**line):
    with open(log, "a") as stream:
        stream.write(json.dumps(line) + "\\n")

with open(run + "/lock", "r+b") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    say(begin=asked["clusters"], traces=asked["traces"], run=run)
    while os.path.exists(log + ".hold"):
        time.sleep(0.05)
    rows = [{"id": one, "outcome": "reported", "again": None} for one in asked["clusters"]]
    with open(run + "/result.new", "w") as stream:
        json.dump({"version": 1, "clusters": rows}, stream)
    os.rename(run + "/result.new", run + "/result.json")
    say(end=asked["clusters"])
"""
# The rulebook is the collection's, except that the broker is given directly.
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
ROOT = Path(__file__).parents[3]


@contextlib.contextmanager
def rulebook(directory: Path, url: str) -> Iterator[Rulebook]:
    (directory / "stub.yml").write_text(STUB)
    (directory / "work.py").write_text(WORK)
    listen = url.removeprefix("http://")
    text = (ROOT / "extensions/eda/rulebooks/adapter.yml").read_text()
    broker = json.dumps({"type": "webhook", "listen": listen})
    given = 'adapter_config: "{{ adapter_config }}"\n        run_dir'
    assert given in text
    own = directory / "rulebook.yml"
    own.write_text(text.replace(given, f"broker: {broker}\n        run_dir"))
    prepared = prepare(
        directory,
        own,
        adapter_config="/not/used",
        adapter_playbook=str(directory / "stub.yml"),
        adapter_run_dir=str(directory / "runs"),
        print_events=True,
    )
    with prepared.running() as found:
        yield found


async def post(url: str, *bodies: bytes) -> None:
    async with aiohttp.ClientSession() as session:
        for body in bodies:
            for _try in range(1200):
                with contextlib.suppress(aiohttp.ClientConnectionError):
                    async with session.post(url, data=body) as answer:
                        assert answer.status == 202
                        break
                await asyncio.sleep(0.05)


def test_a_batch_is_one_run_and_the_next_begins_when_it_has_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def scenario() -> None:
        url = f"http://127.0.0.1:{free_ports(1)[0]}"
        with rulebook(tmp_path, url) as running:
            running.hold.touch()
            await post(url, cloud_event("cls-1", traceparent=TRACE), cloud_event("cls-2"))
            begun = time.monotonic()
            await running.until(lambda lines: len(lines) == 1)
            seconds = time.monotonic() - begun
            first = running.lines[0]
            assert first["begin"] == ["cls-1", "cls-2"]
            assert first["traces"] == {"cls-1": TRACE}
            await post(url, *(cloud_event(f"cls-{one}") for one in (2, 3, 2, 4)))
            # A run is active: new events wait for the next one. No run may begin, so there is no state to wait for.
            await asyncio.sleep(2)
            assert len(running.lines) == 1
            running.hold.unlink()
            await running.ended(2)
            lines = running.lines
            assert [next(iter(line)) for line in lines] == ["begin", "end", "begin", "end"]
            assert lines[2]["begin"] == ["cls-2", "cls-3", "cls-4"]
            assert not Path(first["run"]).exists()
            # A killed run leaves no result: the next run gets its clusters.
            running.hold.touch()
            await post(url, cloud_event("cls-5"))
            await running.until(lambda lines: len(lines) == 5)
            _kill_the_holder(running.lines[-1]["run"])
            await running.until(lambda lines: len(lines) == 6)
            assert running.lines[-1]["begin"] == ["cls-5"]
            assert running.lines[-1]["run"] != running.lines[-2]["run"]
            running.hold.unlink()
            await running.ended(3)
        with capsys.disabled():
            print(
                f"\nansible-rulebook: from the last event of a batch to its run's first step {seconds:.1f} s"
            )

    asyncio.run(scenario())


async def refused(url: str) -> None:
    """Wait until the connection is refused."""
    with contextlib.suppress(aiohttp.ClientConnectionError):
        async with asyncio.timeout(60), aiohttp.ClientSession() as session:
            while True:
                async with session.post(url, data=b"{}"):
                    await asyncio.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.nightly
def test_a_terminated_rulebook_waits_for_the_run_and_leaves_nothing(
    tmp_path: Path, number: signal.Signals
) -> None:
    async def scenario() -> None:
        url = f"http://127.0.0.1:{free_ports(1)[0]}"
        with rulebook(tmp_path, url) as running:
            running.hold.touch()
            await post(url, cloud_event("cls-1"))
            await running.until(lambda lines: len(lines) == 1)
            running.process.send_signal(number)
            # The source accepts no more events.
            await refused(url)
            assert running.process.poll() is None
            running.hold.unlink()
            assert await asyncio.to_thread(running.process.wait, 60) == 0, running.text
            assert [next(iter(line)) for line in running.lines] == ["begin", "end"]
        assert not list((tmp_path / "runs").iterdir())

    asyncio.run(scenario())


def _kill_the_holder(run: str) -> None:
    """Kill the process that works in this directory; this test started it."""
    import os

    for path in listing(Path("/proc"), "[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            parts = path.read_bytes().split(b"\0")
            if run.encode() in parts and any(part.endswith(b"work.py") for part in parts):
                os.kill(int(path.parent.name), signal.SIGKILL)
