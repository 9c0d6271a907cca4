# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A kubeconfig or exec plugin that hangs only affects its own targets."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    k8s_pull_secret,
)
from tests.kubernetes.integration.plugins import exec_kubeconfig
from tests.kubernetes.integration.test_secret import ONE
from tests.support.docker_configs import held
from tests.support.kubernetes.running import run_task
from tests.support.kubernetes.world import Api


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Path]:
    """A pipe at which an exec plugin waits until the end of the test."""
    path = tmp_path / "gate"
    os.mkfifo(path)
    yield path
    # O_RDWR never blocks. The waiting plugins continue.
    handle = os.open(path, os.O_RDWR)
    os.write(handle, b"go\n" * 8)
    os.close(handle)


def put(namespace: str, *kubeconfigs: Path, **params: Any) -> dict[str, Any]:
    """Run with two targets for each kubeconfig: the second one shares the client of the first."""
    targets = [
        {"cluster_id": f"cls-{number}-{slot}", "kubeconfig": str(path)}
        for slot in range(2)
        for number, path in enumerate(kubeconfigs, 1)
    ]
    return run_task(
        k8s_pull_secret, {"namespace": namespace, "source": {"inline": ONE}, "targets": targets, **params}
    )


def failures(result: dict[str, Any]) -> dict[str, str]:
    return {failure["id"]: failure["kind"] for failure in result.get("failed_targets", [])}


def test_a_kubeconfig_that_is_a_pipe_is_refused(api: Api, namespace: str, tmp_path: Path) -> None:
    good, pipe = api.kubeconfig(tmp_path / "good"), tmp_path / "pipe"
    os.mkfifo(pipe)
    result = put(namespace, pipe, good)
    assert failures(result) == {"cls-1-0": "configuration", "cls-1-1": "configuration"}
    assert f"no usable kubeconfig: {pipe}: not a regular file" in result["msg"]
    assert held(api.secret(namespace, "cls-2-0-pull-secret")) == ONE


def test_a_pipe_among_several_kubeconfigs_is_refused(
    api: Api, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, pipe = api.kubeconfig(tmp_path / "good"), tmp_path / "pipe"
    os.mkfifo(pipe)
    params = {"cluster_id": "cls-1", "namespace": namespace, "source": {"inline": ONE}}
    monkeypatch.setenv("KUBECONFIG", f"{good}:{pipe}")
    assert "not a regular file" in run_task(k8s_pull_secret, params)["msg"]
    monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'missing'}:{good}")
    assert "failed" not in run_task(k8s_pull_secret, params)


def test_an_exec_plugin_that_hangs_fails_its_own_targets_within_their_time(
    api: Api, namespace: str, tmp_path: Path, gate: Path
) -> None:
    good = api.kubeconfig(tmp_path / "good")
    slow = exec_kubeconfig(tmp_path / "slow", api.url, f"read line < {gate}")
    # The plugin cannot end before the gate opens, which is after the run.
    result = put(namespace, slow, good, timeout=5)
    assert failures(result) == {"cls-1-0": "timeout", "cls-1-1": "timeout"}
    assert (
        f"the API server of kubeconfig {slow} was not ready within the limit of 5 s (does an exec plugin hang?)"
        in result["msg"]
    )
    assert held(api.secret(namespace, "cls-2-1-pull-secret")) == ONE


def test_an_exec_plugin_that_hangs_when_its_token_expires(
    api: Api, namespace: str, tmp_path: Path, gate: Path
) -> None:
    """The first token has expired: each call asks the plugin for a new one."""
    answer = {"token": api.token, "expirationTimestamp": "2020-01-01T00:00:00Z"}
    once = tmp_path / "once"
    script = f"mkdir {once} || read line < {gate}"
    slow = exec_kubeconfig(tmp_path / "slow", api.url, script, answer)
    result = put(namespace, slow, api.kubeconfig(tmp_path / "good"), timeout=5)
    assert failures(result) == {"cls-1-0": "timeout", "cls-1-1": "timeout"}
    assert f"no token for {api.url.removeprefix('http://')} in " in result["msg"]
    assert api.token not in json.dumps(result)


def test_a_plugin_and_certificates_beside_the_kubeconfig_are_found(
    api: Api, namespace: str, tmp_path: Path
) -> None:
    """Relative paths are relative to the kubeconfig."""
    path = exec_kubeconfig(tmp_path / "own" / "config", api.url, "true", {"token": api.token})
    document = json.loads(path.read_text())
    document["users"][0]["user"]["exec"]["command"] = "./config-plugin"
    path.write_text(json.dumps(document))
    assert "failed" not in put(namespace, path)
