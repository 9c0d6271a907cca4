# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Messages about unusable connections name the file or the option, and quote nothing of its content."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    k8s_pull_secret,
)
from tests.kubernetes.integration.test_secret import ONE
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.support.kubernetes.running import run_task
from tests.support.kubernetes.world import Api
from tests.support.yaml_bombs import MERGES


def refused(**kubernetes: Any) -> str:
    """The message of a connection that is refused as a configuration error, without a retry."""
    params = {"namespace": "ns", "cluster_id": "cls-1", "source": {"inline": ONE}, "kubernetes": kubernetes}
    result = run_task(k8s_pull_secret, params)
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "configuration", failure["msg"]
    assert result["targets"][0]["retries"] == 0
    assert "example-password" not in json.dumps(result)
    return str(failure["msg"])


def test_a_kubeconfig_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "missing"
    message = refused(kubeconfig=str(path))
    assert f"no usable kubeconfig: {path}: No such file" in message
    assert message.endswith("; check the path in the option kubeconfig, K8S_AUTH_KUBECONFIG or KUBECONFIG")


def test_nothing_names_a_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    message = refused()
    assert message.endswith("; set the option kubeconfig, or the variable K8S_AUTH_KUBECONFIG or KUBECONFIG")


@pytest.mark.parametrize(
    "entry", [{"proxy-url": "ftp://example-password"}, {"proxy-url": "example-password:3128"}]
)
def test_a_proxy_or_name_that_cannot_be_used(tmp_path: Path, entry: dict[str, Any]) -> None:
    path = write_kubeconfig(tmp_path / "config", [Cluster("mgmt-1", "https://127.0.0.1:1", "t")])
    document = json.loads(path.read_text())
    document["clusters"][0]["cluster"].update(entry)
    path.write_text(json.dumps(document))
    words = (
        f"no connection to 127.0.0.1:1: the settings of the API server of kubeconfig {path} cannot be used ("
    )
    assert words in refused(kubeconfig=str(path))


def test_a_kubeconfig_that_is_a_directory(tmp_path: Path) -> None:
    assert f"no usable kubeconfig: {tmp_path}: Is a directory" in refused(kubeconfig=str(tmp_path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("token: {example-password", "it is neither JSON nor YAML (line"),
        ("kind: Config\ntoken: !!bool example-password", "it has a value that does not fit its tag (line 2)"),
        (MERGES, "it has more than 100000 values"),
        ("- example-password", "it must be a mapping in YAML or JSON"),
        ("", "it is empty"),
        ("kind: Config", "it has no current-context, and no context was given"),
    ],
)
def test_an_invalid_kubeconfig(api: Api, tmp_path: Path, content: str, said: str) -> None:
    good, path = api.kubeconfig(tmp_path / "good"), tmp_path / "config"
    path.write_text(content)
    message = refused(kubeconfig=str(path))
    assert f"no usable kubeconfig: {path}: {said}" in message
    assert "; correct the file" in message or "; name a context of the file" in message
    if "current-context" not in said:
        # Of several kubeconfigs, the message names the invalid one.
        assert f"no usable kubeconfig: {path}: {said}" in refused(kubeconfig=f"{good}:{path}")


def test_a_path_that_may_be_a_secret_is_not_named(tmp_path: Path) -> None:
    path = tmp_path / '{"example-password"}'
    assert "no usable kubeconfig: (path not shown): No such file" in refused(kubeconfig=str(path))


def test_a_credential_in_the_place_of_a_kubeconfig_is_not_named() -> None:
    """A colon makes several paths of it, some of which could be names."""
    message = refused(kubeconfig='robot:example:"password"')
    assert "no usable kubeconfig: (path not shown): No such file" in message


def test_a_users_token_at_the_wrong_place_is_not_shown(api: Api, tmp_path: Path) -> None:
    """The message names the entry and quotes nothing of it."""
    path = api.kubeconfig(tmp_path / "config")
    document = json.loads(path.read_text())
    document["users"][0] = {"name": document["users"][0]["name"], "token": "example-password"}
    path.write_text(json.dumps(document))
    assert f"{path}: the entry named mgmt-1-admin in its users has no user" in refused(kubeconfig=str(path))


def test_an_authority_that_is_not_there(api: Api, tmp_path: Path) -> None:
    path = api.kubeconfig(tmp_path / "config")
    document = json.loads(path.read_text())
    document["clusters"][0]["cluster"] = {"server": "https://localhost:1", "certificate-authority": "ca.pem"}
    path.write_text(json.dumps(document))
    assert f"{path}: {tmp_path / 'ca.pem'} does not exist" in refused(kubeconfig=str(path))
    (tmp_path / "ca.pem").write_text("none")
    assert f"cannot be read: the kubeconfig {path}: NO_CERT" in refused(kubeconfig=str(path))


@pytest.mark.parametrize("kind", ["missing", "directory", "pipe"])
def test_a_ca_cert_that_cannot_be_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "ca.pem"
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    said = {"missing": "No such file", "directory": "Is a directory", "pipe": "not a regular file"}[kind]
    assert f"kubernetes.ca_cert {path}: {said}" in refused(host="https://localhost:1", ca_cert=str(path))


@pytest.mark.parametrize(
    "host", ["https://[::1", "ftp://x", "https://", "https://u:example-password@h:99999"]
)
def test_a_host_that_is_no_address(host: str) -> None:
    said = refused(host=host)
    assert "kubernetes.host must be an address" in said
    assert "kubeconfig" not in said


def test_a_server_of_a_kubeconfig_that_is_no_address(api: Api, tmp_path: Path) -> None:
    path = api.kubeconfig(tmp_path / "config")
    document = json.loads(path.read_text())
    document["clusters"][0]["cluster"]["server"] = "ftp://x"
    path.write_text(json.dumps(document))
    assert "http and https only" in refused(kubeconfig=str(path))
