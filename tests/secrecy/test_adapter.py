# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The adapter with valid and invalid pull secrets in clusters' specs: no log, report or result shows them."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest

from tests.secrecy.documents import INVALID, VALID
from tests.secrecy.watcher import Recording, Watcher
from tests.secrecy.world import World
from tests.support.adapter_jobs.documents import document as adapter_config
from tests.support.secrecy.labs import MANAGED, PROJECT, Labs
from tests.support.secrecy.misplacements import TEXTS
from tests.support.secrecy.needles import Evidence

_NAMESPACE = "hyperfleet-system"


class Adapter:
    """Clusters with canaries, and the adapter's runs for them."""

    def __init__(self, watcher: Watcher, labs: Labs, execution: str) -> None:
        self.world = World(watcher, labs)
        self.watcher, self.labs = watcher, labs
        self.ids: list[str] = []
        self.run_directory = watcher.dest / "run"
        self.run_directory.mkdir()
        (self.run_directory / "lock").touch()
        labs.post("/api/v1/namespaces", {"metadata": {"name": _NAMESPACE}})
        self.config = watcher.inputs / "adapter.json"
        config = adapter_config(
            criteria={"preconditions": [{"expression": "spec.pullSecret.data != nil"}]},
            hyperfleetAPI={"url": labs.hyperfleet.url},
            execution=execution,
            kubernetes={"kubeconfig": str(labs.kubernetes.kubeconfig(watcher.inputs / "kubeconfig"))},
            gcp={"endpoint": f"http://{labs.secret_manager.grpc}"},
            logging={"level": "debug"},
        )
        config["metadata"]["namespace"] = _NAMESPACE
        self.config.write_text(json.dumps(config))

    def cluster(self, name: str, data: Any, project: str = PROJECT) -> None:
        """Add a cluster whose placement is decided."""
        cluster_id = f"cls-{len(self.ids) + 1}"
        self.ids.append(cluster_id)
        text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
        spec = {"provider": "gcp", "gcp": {"projectId": project}, "pullSecret": {"data": text}}
        self.labs.hyperfleet.store.seed([{"id": cluster_id, "name": name, "spec": spec}])
        kinds = ("Available", "Applied", "Health")
        body = {
            "adapter": "placement",
            "observed_generation": 1,
            "conditions": [{"type": kind, "status": "True", "reason": "R", "message": "m"} for kind in kinds],
            "data": {"namespace": MANAGED},
        }
        self.call("PUT", cluster_id, body)

    def call(self, method: str, cluster_id: str, body: Any = None) -> bytes:
        """Send any request for a cluster's statuses."""
        url = f"{self.labs.hyperfleet.url}/api/hyperfleet/v1/clusters/{cluster_id}/statuses"
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(url, data, method=method)) as answer:
            return bytes(answer.read())

    def run(self, *options: str) -> Recording:
        """One run with the highest verbosity."""
        return self.watcher.play(
            "hyperfleet.pull_secret.adapter",
            {
                "adapter_config": str(self.config),
                "cluster_ids": self.ids,
                "adapter_run": str(self.run_directory),
                "adapter_retry": {"tries": 2, "delay": 0.01, "max_delay": 0.01},
            },
            options=["-vvvv", "--diff", *options],
        )

    def leaks(self, recording: Recording) -> list[str]:
        """Return what a run showed, including the statuses and the result file."""
        left = [Evidence("status", cluster_id, self.call("GET", cluster_id)) for cluster_id in self.ids] + [
            Evidence("result file", path.name, path.read_bytes()) for path in self.run_directory.iterdir()
        ]
        return [str(leak) for leak in self.world.leaks(recording, left)]


@pytest.mark.parametrize("execution", ["job", "inline"])
@pytest.mark.nightly
def test_adapter(watcher: Watcher, labs: Labs, execution: str) -> None:
    """Check mode, a first run, a second run, and a run in which every place fails."""
    adapter = Adapter(watcher, labs, execution)
    for kind, documents in (("good", VALID), ("bad", INVALID)):
        for layout, make in documents.items():
            canary = adapter.world.canary(f"{execution}: {kind}, {layout}")
            adapter.cluster(layout, make(canary))
    canary = adapter.world.canary(f"{execution}: an object in a list")
    adapter.cluster("listed", [canary.document])
    for form, text in TEXTS.items():
        canary = adapter.world.canary(f"{execution}: {form} as project")
        adapter.cluster(f"{form} as project", canary.text, text(canary))
        if form != "user and password":
            # A user and a password cannot be distinguished from a name.
            canary = adapter.world.canary(f"{execution}: {form} as the cluster's name")
            adapter.cluster(text(canary), canary.text)
    for step in ("check", "first", "again", "api", "places"):
        if step == "api":
            labs.hyperfleet.faults.add(method="PUT", status=400)
        elif step == "places":
            labs.hyperfleet.faults.clear()
            labs.kubernetes.faults.add(path="*", status=500, times=None, message="injected")
            labs.secret_manager.faults.add(method="*", code="INTERNAL")
        recording = adapter.run(*(["--check"] if step == "check" else []))
        # Some clusters are refused in each step.
        assert recording.status == 2, recording.output[-3000:]
        assert '"component": "pullsecret-adapter"' in recording.output
        leaks = adapter.leaks(recording)
        assert leaks == [], step + "\n" + "\n".join(leaks)
