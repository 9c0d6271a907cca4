# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A failing exec plugin is named, without anything that it printed."""

from __future__ import annotations

import json
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes import configuration
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.connection import (
    kubernetes_connection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.kubeconfig import (
    Kubeconfigs,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    k8s_pull_secret,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import run_here
from tests.kubernetes.integration.plugins import exec_kubeconfig
from tests.kubernetes.integration.test_secret import ONE
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.support.kubernetes.running import run_task
from tests.support.kubernetes.world import Api

_LOUD = "echo example-password >&2"


@pytest.mark.parametrize(
    ("script", "status"),
    [
        (f"{_LOUD}; exit 3", None),
        (f"{_LOUD}; echo example-password", None),
        (_LOUD, {}),
        (_LOUD, {"token": None}),
        (_LOUD, {"token": ""}),
        (_LOUD, {"clientCertificateData": "example-password"}),
    ],
    ids=["exit status", "no JSON", "no token", "null", "empty", "no key"],
)
def test_a_plugin_that_gives_no_credentials(
    api: Api,
    namespace: str,
    tmp_path: Path,
    script: str,
    status: dict[str, Any] | None,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    config = exec_kubeconfig(tmp_path / "config", api.url, script, status)
    result = put(namespace, config)
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "permission_denied"
    assert "the exec plugin of the kubeconfig's user gave no credentials; config-plugin: " in failure["msg"]
    assert len(api.calls) == 0
    assert "example-password" not in f"{json.dumps(result)}{capfd.readouterr()}{caplog.text}"


def test_a_plugin_that_is_not_there(api: Api, namespace: str, tmp_path: Path) -> None:
    config = exec_kubeconfig(tmp_path / "config", api.url, "true")
    (tmp_path / "config-plugin").unlink()
    (failure,) = put(namespace, config)["failed_targets"]
    assert "gave no credentials; config-plugin: " in failure["msg"]


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_plugin_that_gives_a_token(api: Api, namespace: str, tmp_path: Path, end: str) -> None:
    config = exec_kubeconfig(tmp_path / "config", api.url, _LOUD, {"token": api.token + end})
    assert "failed" not in put(namespace, config)


@pytest.mark.parametrize("token", ["example\npassword", "example\u00e4password"])
def test_a_token_that_cannot_be_sent(api: Api, namespace: str, tmp_path: Path, token: str) -> None:
    config = exec_kubeconfig(tmp_path / "config", api.url, "true", {"token": token})
    result = put(namespace, config)
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "permission_denied"
    assert "has a character that no HTTP header can carry" in failure["msg"]
    assert result["targets"][0]["retries"] == len(api.calls) == 0
    assert "example" not in json.dumps(result)


def put(namespace: str, kubeconfig: Path) -> dict[str, Any]:
    params = {"namespace": namespace, "cluster_id": "cls-1", "source": {"inline": ONE}}
    return run_task(k8s_pull_secret, {**params, "kubernetes": {"kubeconfig": str(kubeconfig)}})


@pytest.mark.parametrize("name", ["BearerToken", "authorization"])
@pytest.mark.parametrize(
    ("token", "right"), [("Bearer abc", True), ("Bearer None", False), ("Bearer ", False)]
)
def test_a_token_is_found_where_each_version_of_the_client_puts_it(
    name: str, token: str, right: bool
) -> None:
    found = SimpleNamespace(api_key={name: token}, cert_file=None)
    assert configuration._has_credentials(found) is right


def test_a_plugin_is_given_a_stderr_that_is_a_file_where_the_work_is_done_here(
    api: Api, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a terminal the client passes its own stderr on to the plugin."""
    config = exec_kubeconfig(tmp_path / "config", api.url, _LOUD, {"token": api.token})
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", (tmp_path / "config").open(encoding="utf-8"))
    arguments = {
        "namespace": namespace,
        "name": "n",
        "source": {"inline": ONE},
        "timeout": 20,
        "kubernetes": {"kubeconfig": str(config)},
    }
    result = run_here(
        k8s_pull_secret.target_options,
        k8s_pull_secret.run,
        arguments,
        check_mode=False,
        diff=False,
        stop=threading.Event(),
    )
    assert "failed" not in result, result


def test_what_a_library_keeps_of_stderr_stays_open() -> None:
    """Logging to a closed stream would print the message and its arguments to the real stderr."""
    kept: list[Any] = []

    def task(*_args: Any, **_options: Any) -> dict[str, Any]:
        kept.append(sys.stderr)
        return {}

    for _run in range(2):
        run_here(dict, task, {}, check_mode=False, diff=False, stop=threading.Event())
    assert kept[0] is kept[1]
    assert not kept[0].closed


def test_a_token_of_the_file_itself_is_taken_once(api: Api, tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path / "config", [Cluster("mgmt-1", api.url, api.token)])
    found, plugin = configuration.configure(
        kubernetes_connection({"kubeconfig": str(path)}), 4, Kubeconfigs()
    )
    assert not plugin
    # With the hook the client would read the whole file for each request.
    assert found.refresh_api_key_hook is None
    assert found.auth_settings()["BearerToken"]["value"] == f"Bearer {api.token}"
