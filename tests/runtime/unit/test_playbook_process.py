# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A worker process whose parent may be killed at any time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.lab.supervisor import is_running

LIMIT = 60
# The parent forks a worker as ansible-core does. It prints the worker's id once the worker is running.
PARENT = """
import multiprocessing, os, sys, threading, time
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils import playbook_process

def say(text):
    os.write(1, text.encode())

@playbook_process.ends_with_playbook
def run():
    if sys.argv[1] == "sending":
        return {}
    say(f"{os.getpid()}\\n")
    if sys.argv[1] == "stopping":
        stop = threading.Event()
        with playbook_process.stopped_with_playbook(stop):
            stop.wait()
            say("finished\\n")
    elif sys.argv[1] == "finishing":
        with playbook_process.finished_first():
            while not playbook_process._is_gone():
                time.sleep(0.01)
            say("finished\\n")
    else:
        threading.Event().wait()
    return {}

def worker():
    run()
    # A pipe that nobody reads, as that of a killed ansible-playbook: its worker has both ends.
    reader, writer = os.pipe()
    say(f"{os.getpid()}\\n")
    os.write(writer, b"x" * 1_000_000)

process = multiprocessing.get_context("fork").Process(target=worker)
process.start()
process.join()
"""


@pytest.mark.parametrize(
    ("at", "said"), [("waiting", ""), ("stopping", "finished"), ("finishing", "finished"), ("sending", "")]
)
def test_a_worker_ends_with_its_parent(at: str, said: str) -> None:
    """The worker finishes what has begun, also when the parent is killed while the worker sends its result."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, at],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    try:
        parent.kill()
        parent.wait(LIMIT)
        deadline = time.monotonic() + LIMIT
        while is_running(worker):
            assert time.monotonic() < deadline, "the worker is still running"
            time.sleep(0.02)
        assert parent.stdout.read().strip() == said
    finally:
        if is_running(worker):
            os.kill(worker, signal.SIGKILL)
        parent.stdout.close()
