# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every plugin of the collection has a test with canaries that are not shown. Plugins are found by their files."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.secrecy.test_event_sources import EVENT_SOURCES
from tests.secrecy.watcher import Watcher
from tests.secrecy.world import World, as_lines
from tests.support.adapter_jobs.documents import document as adapter_config
from tests.support.nightly import some
from tests.support.secrecy.labs import MANAGED, PROJECT, Labs
from tests.tools.env import ROOT

_TEXT = Path(__file__).with_name("plugins.yml").read_text()
(_PLAY,) = yaml.safe_load(_TEXT)
_USED = re.findall(r"hyperfleet\.pull_secret\.(\w+)", _TEXT)
_CODE = ("module_utils", "plugin_utils", "doc_fragments")
_CALLBACKS = ("callback job_log",)
# Modules whose tests are in another file, and that file.
_ELSEWHERE = {
    "module gcp_pull_secret": "test_modules.py",
    "module k8s_pull_secret": "test_modules.py",
    "module dockerconfig_merge": "test_modules.py",
    "module kubelet_auth_sync": "test_nodes.py",
    "module hosted_cluster_pull_secret": "test_hosted_cluster.py",
}


def _plugins() -> Iterator[str]:
    """Yield ``kind name`` of each plugin. An action plugin is its module; a file may have several filters."""
    for directory in sorted((ROOT / "plugins").iterdir()):
        if directory.name in _CODE or not directory.is_dir():
            continue
        kind = {"modules": "module", "action": "module"}.get(directory.name, directory.name)
        for path in sorted(directory.glob("*.py")):
            names = [path.stem]
            if kind in ("filter", "test"):
                made = runpy.run_path(str(path))[f"{kind.title()}Module"]()
                names = sorted(getattr(made, f"{kind}s")())
            yield from (f"{kind} {name}" for name in names if not name.startswith("_"))
    for path in sorted((ROOT / "extensions/eda/plugins").glob("*/*.py")):
        yield f"{path.parent.name} {path.stem}"


def test_every_plugin_has_a_scenario() -> None:
    found = set(_plugins())
    for plugin, file in _ELSEWHERE.items():
        assert plugin.split()[1] in Path(__file__).with_name(file).read_text(), f"{plugin} in {file}"
    elsewhere = {*_CALLBACKS, *EVENT_SOURCES, *_ELSEWHERE}
    assert sorted(elsewhere - found) == [], "there is no such plugin any more"
    here = {plugin.split()[1] for plugin in found - elsewhere}
    assert sorted(here - set(_USED)) == [], "add tasks to tests/secrecy/plugins.yml"


def test_every_module_keeps_its_arguments_from_callbacks() -> None:
    """Without one of the collection's action plugins, every callback would receive a module's arguments."""
    modules = {path.stem for path in (ROOT / "plugins/modules").glob("*.py")}
    for name in sorted(modules):
        path = ROOT / "plugins/action" / f"{name}.py"
        assert path.exists(), f"{name} has no action plugin"
        action = runpy.run_path(str(path))["ActionModule"]
        classes = list(action.__mro__)
        ours = [base.__name__ for base in classes].index("QuietAction")
        assert not [base for base in classes[:ours] if "run" in vars(base)], (
            f"{name}: act is its work, not run"
        )


def _variables(world: World) -> dict[str, Any]:
    """Return the playbook's variables, with its canaries."""
    labs, inputs = world.labs, world.watcher.inputs
    canaries = {
        name: world.canary(f"plugins.yml: {name}")
        for name in sorted(set(re.findall(r"canary\.(\w+)", _TEXT)))
    }
    given = {
        name: {
            "text": canary.text,
            "cut": canary.text[:-30],
            "document": canary.document,
            "auth": canary.entries[0].auth,
            "token": canary.entries[0].token,
        }
        for name, canary in canaries.items()
    }
    for cluster in ("cls-adapter", "cls-info", "cls-status"):
        labs.put_hyperfleet(cluster, world.canary(cluster).text.encode())
    token = inputs / "token"
    token.write_text(world.canary("a webhook's token").entries[0].token)
    return {
        "canary": given,
        "labs": labs.options(),
        "adapter_config": str(_adapter_config(world)),
        "token_file": str(token),
        "cluster_files": str(_cluster_files(world)),
        "inventory": str(_inventory(world)),
        "only_secret": world.canary("a variable").text,
        "beside_undefined": [world.canary("a variable beside a template").text, "{{ nope }}"],
    }


def _adapter_config(world: World) -> Path:
    kubeconfig = world.labs.kubernetes.kubeconfig(world.watcher.inputs / "kubeconfig")
    headers = {"X-Token": world.canary("a header of the configuration").entries[0].token}
    config = adapter_config(
        hyperfleetAPI={"url": world.labs.hyperfleet.url, "headers": headers},
        execution="job",
        kubernetes={"kubeconfig": str(kubeconfig)},
    )
    config["metadata"]["namespace"] = MANAGED
    path = world.watcher.inputs / "adapter.json"
    path.write_text(json.dumps(config))
    return path


def _inventory(world: World) -> Path:
    headers = {"X-Token": world.canary("a header of the inventory").entries[0].token}
    hyperfleet = {"url": world.labs.hyperfleet.url, "headers": headers}
    path = world.watcher.inputs / "hyperfleet_clusters.yml"
    path.write_text(
        json.dumps({"plugin": "hyperfleet.pull_secret.hyperfleet_clusters", "hyperfleet": hyperfleet})
    )
    return path


def _cluster_files(world: World) -> Path:
    """Write a valid cluster, one that is cut off, and one whose name is a docker config."""
    good, bad, odd = (world.canary(f"cluster_files: {what}").text for what in ("good", "bad", "name"))
    spec = {"pullSecret": {"data": good}, "gcp": {"projectId": PROJECT}}
    directory = world.watcher.inputs / "clusters"
    directory.mkdir()
    for name, text in (
        ("good", json.dumps({"id": "cls-lookup", "name": "good", "spec": spec})),
        ("bad", json.dumps({"id": "cls-bad", "spec": {"pullSecret": {"data": bad}}})[:-8]),
        ("odd", json.dumps({"id": "cls-odd", "name": odd, "spec": spec})),
    ):
        (directory / f"{name}.json").write_text(text)
    return directory


# Stdout callbacks, and the tasks that run with each. The callback of the job's log prints only that log, and
# failures of other tasks.
_RUNS = {"default": "", "hyperfleet.pull_secret.job_log": ("Module pull_secret_job", "Module cloud_event")}


@pytest.mark.parametrize("module_process", some([False, True]), ids=["ansible's process", "a module's"])
@pytest.mark.parametrize("stdout", some(_RUNS, "hyperfleet.pull_secret.job_log"))
@pytest.mark.cores
def test_every_plugin_shows_nothing(watcher: Watcher, labs: Labs, stdout: str, module_process: bool) -> None:
    """One run with the highest verbosity: each plugin's result, and its message about a misplaced canary."""
    world = World(watcher, labs)
    job = world.canary("PULL_SECRET_DATA")
    world.in_environment.add(job.name)
    environment = {
        "CLUSTER_ID": "cls-job",
        "CLUSTER_NAME": "job",
        "GCP_PROJECT_ID": PROJECT,
        "MANAGEMENT_NAMESPACE": MANAGED,
        "PULL_SECRET_DATA": job.text,
        "LOG_LEVEL": "debug",
        "ANSIBLE_STDOUT_CALLBACK": stdout,
    }
    tasks = [task for task in _PLAY["tasks"] if task["name"].startswith(_RUNS[stdout])]
    playbook = watcher.inputs / "plugins.json"
    playbook.write_text(json.dumps([{**_PLAY, "tasks": tasks}]))
    recording = watcher.play(
        str(playbook),
        _variables(world),
        options=["-vvvv", "--diff"],
        settings=environment,
        module_process=module_process,
    )
    leaks = world.leaks(recording)
    assert leaks == [], as_lines(leaks)
    assert '"component"' in recording.output or '"phase"' in recording.output, recording.output[-2000:]
    for task in tasks:
        result = json.dumps(recording.results[task["name"]])
        assert task["vars"]["says"] in result, f"{task['name']}: {result}"
