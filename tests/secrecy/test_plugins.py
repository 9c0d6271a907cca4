# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every plugin of the collection, found by its file, has a test with canaries, none of which shows."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.secrecy.scenarios import SCENARIOS, Tasks
from tests.secrecy.test_event_sources import EVENT_SOURCES
from tests.secrecy.watcher import Watcher
from tests.secrecy.world import as_lines
from tests.support.exhaustive import some
from tests.support.secrecy.labs import MANAGED, PROJECT, Labs

_ROOT = Path(__file__).resolve().parents[2]
_CODE = ("module_utils", "plugin_utils", "doc_fragments")
_CALLBACKS = ("callback job_log",)
# Modules with a file of their own, and that file.
_ELSEWHERE = {
    "module gcp_pull_secret": "test_modules.py",
    "module k8s_pull_secret": "test_modules.py",
    "module dockerconfig_merge": "test_modules.py",
    "module kubelet_auth_sync": "test_nodes.py",
    "module hosted_cluster_pull_secret": "test_hosted_cluster.py",
}


def _plugins() -> Iterator[str]:
    """``kind name`` of each; an action plugin is its module's, and one file has several filters or tests."""
    for directory in sorted((_ROOT / "plugins").iterdir()):
        if directory.name in _CODE or not directory.is_dir():
            continue
        kind = {"modules": "module", "action": "module"}.get(directory.name, directory.name)
        for path in sorted(directory.glob("*.py")):
            names = [path.stem]
            if kind in ("filter", "test"):
                made = runpy.run_path(str(path))[f"{kind.title()}Module"]()
                names = sorted(getattr(made, f"{kind}s")())
            yield from (f"{kind} {name}" for name in names if not name.startswith("_"))
    for path in sorted((_ROOT / "extensions/eda/plugins").glob("*/*.py")):
        yield f"{path.parent.name} {path.stem}"


@pytest.mark.hardening(11)
def test_every_plugin_has_a_scenario() -> None:
    found = set(_plugins())
    for plugin, file in _ELSEWHERE.items():
        assert plugin.split()[1] in Path(__file__).with_name(file).read_text(), f"{plugin} in {file}"
    scenarios = {*SCENARIOS, *_CALLBACKS, *EVENT_SOURCES, *_ELSEWHERE}
    assert sorted(found - scenarios) == [], "add a scenario to tests/secrecy/scenarios.py"
    assert sorted(scenarios - found) == [], "there is no such plugin any more"


@pytest.mark.hardening(10)
def test_every_module_keeps_its_arguments_from_callbacks() -> None:
    """A module without an action plugin of ours would give them to every callback as they are."""
    modules = {path.stem for path in (_ROOT / "plugins/modules").glob("*.py")}
    for name in sorted(modules):
        path = _ROOT / "plugins/action" / f"{name}.py"
        assert path.exists(), f"{name} has no action plugin"
        action = runpy.run_path(str(path))["ActionModule"]
        classes = list(action.__mro__)
        ours = [base.__name__ for base in classes].index("QuietAction")
        assert not [base for base in classes[:ours] if "run" in vars(base)], (
            f"{name}: act is its work, not run"
        )


def _tasks(watcher: Watcher, labs: Labs, scenarios: Iterable[str]) -> Tasks:
    tasks = Tasks(watcher, labs)
    for name in scenarios:
        SCENARIOS[name](tasks)
    job = tasks.canary("pull_secret_job: PULL_SECRET_DATA")
    tasks.in_environment.add(job.name)
    tasks.environment |= {
        "CLUSTER_ID": "cls-job",
        "CLUSTER_NAME": "job",
        "GCP_PROJECT_ID": PROJECT,
        "MANAGEMENT_NAMESPACE": MANAGED,
        "PULL_SECRET_DATA": job.text,
        "LOG_LEVEL": "debug",
    }
    return tasks


# What prints a run -> the plugins that run. The job's log is not printed but with failures of others.
_RUNS = {
    "default": tuple(SCENARIOS),
    "hyperfleet.pull_secret.job_log": ("module pull_secret_job", "module cloud_event"),
}


@pytest.mark.hardening(11)
@pytest.mark.parametrize("module_process", some([False, True]), ids=["ansible's process", "a module's"])
@pytest.mark.parametrize("stdout", some(_RUNS, "hyperfleet.pull_secret.job_log"))
def test_every_plugin_shows_nothing(watcher: Watcher, labs: Labs, stdout: str, module_process: bool) -> None:
    """In one run, as loud as it gets: what each gives, and what it says of a canary where none belongs."""
    tasks = _tasks(watcher, labs, _RUNS[stdout])
    recording = watcher.play(
        tasks.given,
        tasks.variables,
        options=["-vvvv", "--diff"],
        settings={**tasks.environment, "ANSIBLE_STDOUT_CALLBACK": stdout},
        module_process=module_process,
    )
    leaks = tasks.leaks(recording)
    assert leaks == [], as_lines(leaks)
    assert '"component"' in recording.output or '"phase"' in recording.output, recording.output[-2000:]
    for name, says in tasks.says.items():
        assert says in json.dumps(recording.results[name]), f"{name}: {recording.results[name]}"
