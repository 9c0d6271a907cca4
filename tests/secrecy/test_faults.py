# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nothing shows when servers fail, when errors quote arguments, or when Ansible itself is debugged."""

from __future__ import annotations

from typing import Any

import pytest

from tests.secrecy.watcher import Watcher
from tests.secrecy.world import World
from tests.support.nightly import some
from tests.support.secrecy.labs import MANAGED, PROJECT, Labs

_COLLECTION = "hyperfleet.pull_secret"
# Functions that the collection calls with a document or with a part of one.
_BUGS = (
    "json.loads",
    "json.dumps",
    "base64.b64decode",
    "base64.b64encode",
    "hmac.new",
    "urllib3.HTTPConnectionPool.urlopen",
    "grpc._channel._UnaryUnaryMultiCallable.with_call",
    "google.cloud.secretmanager_v1.SecretManagerServiceClient.add_secret_version",
    "google.cloud.secretmanager_v1.SecretManagerServiceClient.access_secret_version",
    "threading.Thread.start",
    "signal.signal",
)


def _tasks(world: World, labs: Labs, name: str, source: str, **more: Any) -> list[dict[str, Any]]:
    gcp = {"project": PROJECT, "secret": f"s-{name}", "source": source, **labs.options()}
    kubernetes = {"namespace": MANAGED, "name": f"s-{name}", "source": source, **labs.options()}
    merge = {"dest": str(world.watcher.dest / name), "source": source}
    given = (("gcp_pull_secret", gcp), ("k8s_pull_secret", kubernetes), ("dockerconfig_merge", merge))
    return [
        {"name": f"{module} {name}", f"{_COLLECTION}.{module}": options, "ignore_errors": True, **more}
        for module, options in given
    ]


@pytest.mark.nightly
def test_bugs_do_not_quote_what_they_met(watcher: Watcher, labs: Labs) -> None:
    world = World(watcher, labs)
    tasks, sources = [], {}
    for index, bug in enumerate(_BUGS):
        canary = world.canary(bug)
        sources[f"b{index}"] = world.source("file", canary)
        reference = f"{{{{ sources.b{index} }}}}"
        made = _tasks(world, labs, f"b{index}", reference, environment={"CANARY_BUG": bug})
        # A task with an environment runs in a module process.
        tasks.append(_caller(bug, made))
    recording = watcher.play(tasks, {"sources": sources}, options=["-vvv"], module_process=True)
    failed = [name for name, result in recording.results.items() if result.get("failed")]
    assert len(failed) == len(_BUGS), set(recording.results) - set(failed)
    assert "bug in" not in recording.output
    leaks = world.leaks(recording)
    assert leaks == [], "\n".join(map(str, leaks))


@pytest.mark.parametrize("bug", some(_BUGS, "json.loads"))
def test_a_bug_in_ansibles_own_process(watcher: Watcher, labs: Labs, bug: str) -> None:
    world = World(watcher, labs)
    canary = world.canary(bug)
    source = world.source("file", canary)
    task = _caller(bug, _tasks(world, labs, "bug", "{{ source }}"))
    recording = watcher.play([task], {"source": source}, options=["-vvv"], settings={"CANARY_BUG": bug})
    assert [result.get("failed") for result in recording.results.values()] == [True]
    assert "bug in" not in recording.output
    leaks = world.leaks(recording)
    assert leaks == [], "\n".join(map(str, leaks))


def _caller(bug: str, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """The module that calls the function, or one of those that do."""
    return tasks[0 if bug.startswith(("google", "grpc")) else 1]


@pytest.mark.nightly
def test_servers_that_fail(watcher: Watcher, labs: Labs) -> None:
    """The servers' messages quote the requests. The collection's messages do not include such quotations."""
    world = World(watcher, labs)
    canary = world.canary("faults")
    other = world.canary("faults, from Kubernetes")
    sources = [
        world.source("inline", canary),
        world.source("kubernetes", other),
    ]
    said = f"invalid value {canary.text}"
    for code in ("INTERNAL", "INVALID_ARGUMENT", "PERMISSION_DENIED"):
        labs.secret_manager.faults.add("AddSecretVersion", code=code, times=1, message=said)
    for status in (422, 500, 400, 403):
        labs.kubernetes.faults.add(verb="create", path="*secrets*", status=status, message=said)
    labs.kubernetes.faults.add(verb="create", path="*secrets*", drop=True)
    tasks = []
    for index in range(5):
        tasks += _tasks(world, labs, f"f{index}", f"{{{{ sources[{index % 2}] }}}}")[:2]
    recording = watcher.play(tasks, {"sources": sources}, options=["-vvv", "--diff"])
    assert sum(1 for result in recording.results.values() if result.get("failed")) >= 4
    leaks = world.leaks(recording)
    assert leaks == [], "\n".join(map(str, leaks))


@pytest.mark.parametrize(
    "settings",
    some(
        [
            {"ANSIBLE_DEBUG": "1"},
            {"ANSIBLE_STDOUT_CALLBACK": "minimal", "ANSIBLE_DISPLAY_TRACEBACK": "always"},
            {"ANSIBLE_STDOUT_CALLBACK": "oneline", "ANSIBLE_DISPLAY_ARGS_TO_STDOUT": "1"},
            {"ANSIBLE_CALLBACK_RESULT_FORMAT": "yaml", "ANSIBLE_PIPELINING": "False"},
            {"ANSIBLE_KEEP_REMOTE_FILES": "1"},
        ]
    ),
    ids="-".join,
)
@pytest.mark.nightly
def test_ways_of_running(watcher: Watcher, labs: Labs, settings: dict[str, str]) -> None:
    """Runs with debug output, other callbacks, and connections that write arguments to files."""
    world = World(watcher, labs)
    tasks, sources = [], {}
    for kind in ("inline", "mapping", "file", "gcp"):
        canary = world.canary(f"{kind} with {' '.join(settings)}")
        sources[kind] = world.source(kind, canary)
        tasks += _tasks(world, labs, kind, f"{{{{ sources.{kind} }}}}")
    canary = world.canary(f"misplaced with {' '.join(settings)}")
    sources["misplaced"] = {"fil": canary.document}
    tasks += _tasks(world, labs, "misplaced", "{{ sources.misplaced }}")
    recording = watcher.play(
        tasks,
        {"sources": sources},
        options=["-vvvv", "--diff"],
        settings=settings,
        # These settings only matter for a module process.
        module_process="ANSIBLE_PIPELINING" in settings or "ANSIBLE_KEEP_REMOTE_FILES" in settings,
    )
    results = recording.results
    assert not any(
        results[f"{module} file"].get("failed") for module in ("gcp_pull_secret", "k8s_pull_secret")
    )
    assert results["gcp_pull_secret misplaced"]["failed"]
    leaks = world.leaks(recording)
    assert leaks == [], "\n".join(map(str, leaks))
