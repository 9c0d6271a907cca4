# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Concurrent runs, interrupted runs, killed runs and large batches: nothing is done twice or lost."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager import claim
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.claim import (
    ANNOTATION,
    Claim,
)
from tests.secret_manager.integration.elsewhere import start
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.nightly import some
from tests.support.secret_manager import EVERY_TRANSPORT, PLAIN, PROJECT, Module, document, owned

_RUNS = 8


def _together(module: Module, words: list[str], **arguments: Any) -> list[dict[str, Any]]:
    """Run once for each word, all at the same time, each run with its own clients and name."""
    barrier = threading.Barrier(len(words))

    def one(word: str) -> dict[str, Any]:
        barrier.wait(60)
        return module.put(word, **arguments)

    with ThreadPoolExecutor(len(words)) as pool:
        return list(pool.map(one, words))


def _wait(condition: Callable[[], bool], process: BaseProcess | None = None) -> None:
    limit = time.monotonic() + 180
    while not condition() and (process is None or process.is_alive()):
        assert time.monotonic() < limit
        time.sleep(0.002)


@pytest.fixture(params=[False, True], ids=["first run", "update"])
def there(request: pytest.FixtureRequest, module: Module) -> bool:
    if request.param:
        module.lab.seed([owned("cls-1", document("old"))])
    return bool(request.param)


def test_eight_runs_with_one_content_add_one_version(module: Module, there: bool) -> None:
    # Adds are so slow that every run sees the old content before the first add is done.
    module.lab.faults.add("AddSecretVersion", delay=0.2)
    results = _together(module, ["new"] * _RUNS)

    assert not [result["msg"] for result in results if result.get("failed")]
    assert sum("version added" in result["actions"] for result in results) == 1
    assert len(module.states()) == 1 + there
    assert {result["version"] for result in results} == {str(1 + there)}
    assert module.holds("new")


def test_eight_runs_with_one_content_and_lost_answers_add_one_version(module: Module, there: bool) -> None:
    for method in ("CreateSecret", "UpdateSecret", "AddSecretVersion"):
        module.lab.faults.add(method, code="UNAVAILABLE", phase="after", times=2)
    results = _together(module, ["new"] * _RUNS)
    assert not [result["msg"] for result in results if result.get("failed")]
    assert len(module.states()) == 1 + there
    assert module.holds("new")


def test_eight_runs_with_contents_of_their_own_lose_none(module: Module, there: bool) -> None:
    module.lab.faults.add("AddSecretVersion", delay=0.03)
    words = [f"new-{number}" for number in range(5)]
    results = _together(module, words)

    assert not [result["msg"] for result in results if result.get("failed")]
    assert len(module.states()) == len(words) + there
    assert sorted(int(result["version"]) for result in results) == [
        number + there for number in range(1, len(words) + 1)
    ]
    for word, result in zip(words, results, strict=True):
        payload = module.payloads()[int(result["version"]) - 1]
        assert json.loads(payload) == json.loads(document(word))


def test_two_processes_add_one_version(module: Module, there: bool, tmp_path: Path) -> None:
    module.lab.faults.add("AddSecretVersion", delay=0.3)
    arguments = {"cluster_id": "cls-1", "project": PROJECT, "source": {"inline": document("new")}}
    answers = [tmp_path / "first", tmp_path / "second"]
    processes = [start(module.parameters(arguments), answer) for answer in answers]
    for process in processes:
        process.join(60)
    results = [json.loads(answer.read_text()) for answer in answers]
    assert [result["targets"][0].get("msg") for result in results] == [None, None]
    assert sum(result["changed"] for result in results) == 1
    assert len(module.states()) == 1 + there


def _claimed(module: Module, base: int, lifetime: float) -> None:
    claim = Claim.new(base, "another", lifetime)
    module.lab.seed([owned("cls-1", document("old"), annotations={ANNOTATION: str(claim)})])


def test_the_claim_of_another_run_is_waited_for(module: Module) -> None:
    _claimed(module, base=1, lifetime=600)
    result = module.put("new", timeout=3)
    assert result["kind"] == "timeout"
    assert "another run" in result["msg"]
    assert module.count("AddSecretVersion") == 0
    assert module.count("UpdateSecret") == 0


def test_the_claim_of_a_run_that_was_killed_expires(module: Module, monkeypatch: pytest.MonkeyPatch) -> None:
    _claimed(module, base=1, lifetime=600)
    looks = module.lab.faults.add("GetSecret")
    monkeypatch.setattr(claim, "time", SimpleNamespace(time=lambda: time.time() + 601 * (looks.hits > 3)))
    result = module.put("new")
    assert result["actions"] == ["version added"]
    # Reported once, however often it is read.
    assert [entry["operation"] for entry in result["operations"]] == [
        "wait-for-claim",
        "create-secret-version",
    ]
    assert module.holds("new")


def test_a_claim_is_spent_once_its_version_is_there(module: Module) -> None:
    _claimed(module, base=0, lifetime=600)
    assert module.put("new")["actions"] == ["version added"]


@pytest.mark.parametrize("text", ["", "x", "1.2", "1.a.b.c", "one.a.5", "-2.a.5", f"{10**30}.a.5"])
def test_other_text_is_not_a_claim(module: Module, text: str) -> None:
    module.lab.seed([owned("cls-1", document("old"), annotations={ANNOTATION: text})])
    assert module.put("new")["actions"] == ["version added"]


def test_an_add_is_not_begun_that_could_outlive_its_claim(
    module: Module, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    """Writing the first claim takes so long that too little time is left, so the run writes a longer one."""
    first = module.lab.faults.add("UpdateSecret" if there else "CreateSecret", times=1)
    monkeypatch.setattr(claim, "time", SimpleNamespace(time=lambda: time.time() + 7 * first.hits))
    result = module.put("new")
    assert not result.get("failed"), result.get("msg")
    assert module.count("UpdateSecret") == 1 + there
    assert module.count("AddSecretVersion") == 1
    assert len(module.states()) == 1 + there


def test_an_add_is_given_up_before_its_claim_ends_and_its_late_version_is_found(
    module: Module, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    """The service finishes the add after our time limit and before the claim ends; nobody adds another
    version.
    """
    monkeypatch.setattr(claim, "LIFETIME", 20.0)
    monkeypatch.setattr(claim, "MARGIN", 19.0)
    module.lab.faults.add("AddSecretVersion", delay=1.4, times=1)
    # Without a time limit the call would last until the answer, and there would be no late version to find.
    looks = _together(module, ["new"] * 3, api_timeout=60)
    assert not [result["msg"] for result in looks if result.get("failed")]
    assert module.count("AddSecretVersion") == 1
    assert len(module.states()) == 1 + there
    assert sum(result["changed"] for result in looks) == 1


def test_an_add_that_does_not_happen_in_its_time_is_made_again(
    module: Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claim, "LIFETIME", 1.0)
    monkeypatch.setattr(claim, "MARGIN", 0.5)
    fault = module.lab.faults.add("AddSecretVersion", delay=600, times=1)
    # Longer than the claims, so only the claim's end can limit the call.
    result = module.put("new", api_timeout=300, timeout=60)
    assert not result.get("failed"), result.get("msg")
    assert fault.hits == 1
    assert module.count("AddSecretVersion") == 1
    assert module.holds("new")


def test_a_run_that_is_killed_at_its_add_is_waited_for_at_most_21_seconds(
    module: Module, there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = module.lab.faults.add("AddSecretVersion", delay=600, times=1)
    arguments = {"cluster_id": "cls-1", "project": PROJECT, "source": {"inline": document("new")}}
    process = start(module.parameters(arguments), tmp_path / "answer")
    _wait(lambda: fault.hits > 0, process)
    process.kill()
    process.join(60)

    held = Claim.parse(module.secret().annotations[ANNOTATION])
    assert held is not None
    assert 0 < held.remaining() <= 21
    blocked = module.put("new", timeout=3)
    assert blocked["kind"] == "timeout"
    (note,) = [entry for entry in blocked["operations"] if entry["operation"] == "wait-for-claim"]
    assert "another run's claim" in note["message"]
    assert module.count("AddSecretVersion") == 0

    monkeypatch.setattr(claim, "time", SimpleNamespace(time=lambda: time.time() + 21))
    assert module.put("new")["actions"] == ["version added"]


# Interrupted runs.

_CLUSTERS = [f"cls-{number}" for number in range(1, 25)]


_BATCH: dict[str, Any] = {
    "project": PROJECT,
    "source": {"inline": document("new")},
    "targets": [{"cluster_id": cluster} for cluster in _CLUSTERS],
    "concurrency": 4,
}


def test_a_terminated_batch_finishes_what_is_begun_and_tells_the_rest(module: Module, tmp_path: Path) -> None:
    module.lab.faults.add("AddSecretVersion", skip=3, delay=2.0)
    process = start(module.parameters(_BATCH), tmp_path / "answer")
    _wait(lambda: module.count("AddSecretVersion") >= 3, process)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGTERM)
    process.join(60)

    assert process.exitcode == 0
    result = json.loads((tmp_path / "answer").read_text())
    stopped = [entry["id"] for entry in result["targets"] if entry.get("kind") == "stopped"]
    done = [entry["id"] for entry in result["targets"] if not entry.get("failed")]
    assert len(done) >= 3
    assert stopped
    assert done + stopped == _CLUSTERS
    assert "not started" in result["msg"]
    for cluster in done:
        assert module.holds("new", cluster)
    for cluster in stopped:
        assert module.secret(cluster) is None

    module.lab.faults.clear()
    rest = module.run(**_BATCH)
    assert [entry["id"] for entry in rest["targets"] if entry["changed"]] == stopped
    assert all(len(module.states(cluster)) == 1 for cluster in _CLUSTERS)


def test_twenty_kills_lose_nothing_and_do_nothing_twice(
    secret_manager: SecretManagerLab, tmp_path: Path
) -> None:
    # Only gRPC: if a REST request is cut off in its body, the stand-in executes what it has received.
    module = Module(secret_manager, "grpc")
    chance = random.Random(20)
    # Every other cluster has older content, so it gets one more version.
    for cluster in _CLUSTERS[::2]:
        module.lab.seed([owned(cluster, document("old"))])
    parameters = module.parameters({**_BATCH, "api_timeout": 1.0})
    killed = 0
    for number in range(20):
        before = module.lab.calls.count()
        upto = before + chance.randint(1, 12)
        process = start(parameters, tmp_path / f"answer-{number}", margin=0.0)
        _wait(lambda upto=upto: module.lab.calls.count() >= upto, process)  # type: ignore[misc]
        if process.is_alive():
            process.kill()
            killed += 1
        process.join(60)
    assert killed >= 15

    process = start(parameters, tmp_path / "last", margin=0.0)
    process.join(60)
    result = json.loads((tmp_path / "last").read_text())
    assert result["failed_targets"] == []
    for index, cluster in enumerate(_CLUSTERS):
        assert len(module.states(cluster)) == 2 - index % 2, cluster
        assert module.holds("new", cluster)


# Large batches.


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[SimpleNamespace]:
    """A progress file, and everything that is ever read from it."""
    path = tmp_path / "progress"
    seen: list[dict[str, int]] = []
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.005):
            if path.exists():
                seen.append(json.loads(path.read_text()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    yield SimpleNamespace(path=path, seen=seen)
    ended.set()
    watcher.join()


@pytest.mark.parametrize("module", some(EVERY_TRANSPORT, PLAIN), indirect=True)
@pytest.mark.nightly
def test_three_hundred_clusters(module: Module, watched: SimpleNamespace) -> None:
    clusters = [f"cls-{number}" for number in range(300)]
    random.Random(3).shuffle(clusters)
    arguments: dict[str, Any] = {
        "project": PROJECT,
        "targets": [{"cluster_id": cluster, "source": {"inline": document(cluster)}} for cluster in clusters],
        "concurrency": 16,
    }
    module.lab.faults.add("AddSecretVersion", resource="*hyperfleet-cls-7-*", code="PERMISSION_DENIED")
    result = module.run(**arguments, progress_file=str(watched.path))

    assert [entry["id"] for entry in result["targets"]] == clusters
    assert result["summary"] == {"total": 300, "changed": 300, "failed": 1}
    assert [entry["id"] for entry in result["failed_targets"]] == ["cls-7"]
    assert all(module.holds(cluster, cluster) for cluster in clusters if cluster != "cls-7")
    done = [counts["done"] for counts in watched.seen]
    assert done == sorted(done)
    assert json.loads(watched.path.read_text()) == {"done": 300, "total": 300, "failed": 1}

    module.lab.faults.clear()
    again = module.run(**arguments)
    assert [entry["id"] for entry in again["targets"] if entry["changed"]] == ["cls-7"]
    module.lab.calls.clear()
    assert not module.run(**arguments)["changed"]
    assert module.writes() == 0
    assert module.count("ListSecrets") == 1
    assert module.count("GetSecret") == 0
