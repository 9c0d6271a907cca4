# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What watches share with requests, and what only watches load."""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes import watch_access
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.connection import (
    kubernetes_connection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.watch_transport import (
    load_http_library,
    reach,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.tools.env import ROOT

_MODULES = "ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes"


def build(**options: str) -> watch_access.Access:
    async def scenario() -> watch_access.Access:
        return await watch_access.AccessBuilder().build(kubernetes_connection(options))

    return asyncio.run(scenario())


@pytest.fixture
def pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of a pod's service account."""
    monkeypatch.setattr(watch_access, "ACCOUNT", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    return tmp_path


def test_a_pods_server_is_that_of_its_environment(pod: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K8S_AUTH_VERIFY_SSL", "no")
    access = build()
    assert (access.url, access.token_file) == ("https://[fd00::1]:6443", f"{pod}/token")


@pytest.mark.parametrize(
    ("name", "value"), [("KUBERNETES_SERVICE_HOST", "a/b"), ("KUBERNETES_SERVICE_PORT", "65536")]
)
def test_a_pods_server_that_is_no_address_is_refused(
    pod: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=f"{name} must be"):
        build()


@pytest.mark.parametrize("content", [None, "", "example"])
def test_a_server_is_not_trusted_without_its_authority(pod: Path, content: str | None) -> None:
    """An empty file would otherwise mean the system's CAs."""
    if content is not None:
        (pod / "ca.crt").write_text(content)
    with pytest.raises(ConfigurationError, match=r"^the CA certificates of the API server .*cannot be"):
        build()


@pytest.mark.parametrize(
    ("authority", "sent"),
    [
        (f"api.{'a' * 63}:6443", f"api.{'a' * 63}:6443"),
        ("user:p:w@[fd00::1]:6443", "[fd00::1]:6443"),
        ("[fd00::1]", "[fd00::1]"),
        ("bücher.example:6443", "xn--bcher-kva.example:6443"),
        ("API.example", "API.example"),
    ],
)
def test_a_servers_name_may_have_labels_of_full_length(authority: str, sent: str) -> None:
    async def scenario() -> None:
        access = await watch_access.AccessBuilder().build(
            kubernetes_connection({"host": f"http://{authority}/k"})
        )
        async with reach(access) as server:
            assert (server._host, server._origin) == (sent, f"http://{sent}/k")

    asyncio.run(scenario())


@pytest.mark.parametrize("authority", [f"{'a' * 64}:6443", "a..b:6443", f"{'ü' * 63}", ":6443", "a:0"])
def test_a_servers_name_that_is_invalid_is_refused(authority: str) -> None:
    with pytest.raises(ConfigurationError, match="host must be an address"):
        build(host=f"http://{authority}")


def test_a_path_that_no_request_can_carry_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K8S_AUTH_HOST", "https://h:1/ü")
    with pytest.raises(ConfigurationError, match=r"^K8S_AUTH_HOST must have a path of ASCII") as caught:
        build()
    assert "ü" not in str(caught.value)


def kubeconfig(path: Path, user: dict[str, str], **cluster: str) -> str:
    document = {
        "current-context": "one",
        "contexts": [{"name": "one", "context": {"cluster": "one", "user": "one"}}],
        "clusters": [{"name": "one", "cluster": {"server": "https://127.0.0.1:1", **cluster}}],
        "users": [{"name": "one", "user": user}],
    }
    path.write_text(json.dumps(document))
    return str(path)


def test_an_authority_without_content_is_not_left_out(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "k", {"token": "example"}, **{"certificate-authority-data": "===="})
    with pytest.raises(ConfigurationError, match=r"^the CA certificates of the API server cannot be"):
        build(kubeconfig=path)


@pytest.mark.parametrize("which", ["client-certificate", "client-key"])
def test_an_empty_client_certificate_is_not_left_out(tmp_path: Path, which: str) -> None:
    names = ("client-certificate", "client-key")
    for name in names:
        (tmp_path / name).write_text("" if name == which else "example")
    path = kubeconfig(tmp_path / "k", {name: name for name in names})
    with pytest.raises(ConfigurationError, match=r"^the user's client certificate or its key cannot be used"):
        build(kubeconfig=path)


def test_only_watches_load_the_packages_for_watches() -> None:
    code = (
        f"import sys, {_MODULES}.client, {_MODULES}.configuration, {_MODULES}.watch_transport\n"
        "print(sorted({'httpcore', 'anyio'} & set(sys.modules)))"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", ["anyio", "httpcore"])
def test_a_package_that_is_missing_is_named_at_the_start(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigurationError, match=f"the Python package {name} is missing"):
        load_http_library()


def test_the_event_source_does_not_start_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpcore", None)
    main = runpy.run_path(str(ROOT / "extensions/eda/plugins/event_source/kubernetes_secret.py"))["main"]

    async def scenario() -> None:
        with pytest.raises(ConfigurationError, match="the Python package httpcore is missing"):
            await main(None, {"clusters": []})
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(scenario())
