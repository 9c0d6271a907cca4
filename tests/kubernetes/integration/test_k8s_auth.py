# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables ``K8S_AUTH_*``, as AWX credentials and the Ansible Operator set them."""

from __future__ import annotations

import base64
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.client import (
    KubernetesClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import k8s_pull_secret
from tests.kubernetes.integration.test_secret import NAME, ONE, desired
from tests.support.docker_configs import held
from tests.support.kubernetes.running import run_task
from tests.support.kubernetes.world import Api
from tests.support.login import TlsFront

CANARY = "canary-example-password"


class Recorder:
    """A server that answers 404 and records the path and headers of each request."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[tuple[str, str]]]] = []
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append((self.path, self.headers.items()))
                body = json.dumps({"kind": "Status", "reason": "NotFound", "code": 404}).encode()
                self.send_response(404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def values(self, name: str) -> list[str]:
        """The values of a header of the only request."""
        ((_path, headers),) = self.asked
        return [value for header, value in headers if header.lower() == name.lower()]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    made = Recorder()
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def _no_canary(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    caplog.set_level(logging.DEBUG)
    yield
    # During teardown ``caplog.text`` holds only the records of the teardown.
    said = "\n".join(map(logging.Formatter().format, caplog.get_records("call")))
    assert CANARY not in said + "".join(capfd.readouterr())


def ask(**options: str) -> None:
    """Send one GET with these options and the environment."""
    settings = RunSettings(connections={"kubernetes": options})
    deadline = settings.deadline()
    assert KubernetesClients(settings).get(deadline).get("ns", "secrets", "name", deadline) is None


def put(namespace: str, **params: Any) -> dict[str, Any]:
    return run_task(k8s_pull_secret, {**desired(namespace), **params})


def test_awxs_credential_is_enough(
    api: Api, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    front = TlsFront(api.url.removeprefix("http://"), tmp_path)
    try:
        # AWX's credential type "OpenShift or Kubernetes API Bearer Token".
        monkeypatch.setenv("K8S_AUTH_HOST", front.url)
        monkeypatch.setenv("K8S_AUTH_API_KEY", api.token)
        monkeypatch.setenv("K8S_AUTH_VERIFY_SSL", "True")
        monkeypatch.setenv("K8S_AUTH_SSL_CA_CERT", str(front.authority))
        assert "failed" not in put(namespace)
        monkeypatch.delenv("K8S_AUTH_SSL_CA_CERT")
        assert "is not trusted (self-signed" in put(namespace)["msg"]
        monkeypatch.setenv("K8S_AUTH_VERIFY_SSL", "False")
        assert "failed" not in put(namespace)
    finally:
        front.stop()
    assert held(api.secret(namespace, NAME)) == ONE


def test_the_order_is_option_then_variable_then_kubeconfig(
    api: Api, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = api.kubeconfig(tmp_path / "good"), tmp_path / "missing"
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBECONFIG", str(good))
    assert "failed" not in put(namespace)
    monkeypatch.setenv("K8S_AUTH_KUBECONFIG", str(bad))
    assert f"{bad}: No such file" in put(namespace)["msg"]
    assert "failed" not in put(namespace, kubernetes={"kubeconfig": str(good)})
    monkeypatch.setenv("K8S_AUTH_HOST", "http://127.0.0.1:1")
    assert "failed" not in put(namespace, kubernetes={"kubeconfig": str(good)})
    assert "failed" not in put(namespace, kubeconfig=str(good))
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.delenv("K8S_AUTH_HOST")
    monkeypatch.setenv("K8S_AUTH_KUBECONFIG", str(good))
    assert "failed" not in put(namespace)


@pytest.mark.parametrize("by_option", [True, False])
def test_an_api_key_replaces_the_user_of_a_kubeconfig(
    by_option: bool, api: Api, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig(tmp_path / "admin")))

    def with_key(key: str) -> dict[str, Any]:
        if by_option:
            return put(namespace, kubernetes={"api_key": key})
        monkeypatch.setenv("K8S_AUTH_API_KEY", key)
        return put(namespace)

    assert "Unauthorized" in with_key("example-wrong-token")["msg"]
    assert "failed" not in with_key(api.token)


def test_credentials_are_in_no_result(
    api: Api, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("API_KEY", "PASSWORD", "PROXY_HEADERS_PROXY_BASIC_AUTH"):
        monkeypatch.setenv(f"K8S_AUTH_{name}", CANARY)
    monkeypatch.setenv("K8S_AUTH_USERNAME", "user")
    for host in (api.url, "http://127.0.0.1:1", f"ftp://user:{CANARY}@host"):
        monkeypatch.setenv("K8S_AUTH_HOST", host)
        result = put(namespace)
        assert "failed" in result
        assert CANARY not in json.dumps(result)
    assert "K8S_AUTH_HOST must be an address" in result["msg"]


def test_an_api_key_is_a_bearer_token(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K8S_AUTH_HOST", recorder.url)
    monkeypatch.setenv("K8S_AUTH_API_KEY", f"{CANARY}\n")
    ask()
    assert recorder.values("Authorization") == [f"Bearer {CANARY}"]
    assert recorder.values("Impersonate-User") == []


def test_a_user_and_a_password_log_in(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K8S_AUTH_HOST", recorder.url)
    monkeypatch.setenv("K8S_AUTH_USERNAME", "user")
    monkeypatch.setenv("K8S_AUTH_PASSWORD", CANARY)
    ask()
    assert recorder.values("Authorization") == [
        f"Basic {base64.b64encode(f'user:{CANARY}'.encode()).decode()}"
    ]


@pytest.mark.parametrize("user", ["ü", "€"])
def test_logins_are_sent_as_utf8(recorder: Recorder, monkeypatch: pytest.MonkeyPatch, user: str) -> None:
    """The event source sends them as UTF-8 too. Latin-1 cannot encode the second one."""
    monkeypatch.setenv("K8S_AUTH_HOST", "http://api.example:6443")
    monkeypatch.setenv("K8S_AUTH_PROXY", recorder.url)
    monkeypatch.setenv("K8S_AUTH_USERNAME", user)
    monkeypatch.setenv("K8S_AUTH_PASSWORD", f"{CANARY}€")
    monkeypatch.setenv("K8S_AUTH_PROXY_HEADERS_PROXY_BASIC_AUTH", f"{user}:{CANARY}€")
    ask()
    login = base64.b64encode(f"{user}:{CANARY}€".encode()).decode()
    assert recorder.values("Authorization") == [f"Basic {login}"]
    assert recorder.values("Proxy-Authorization") == [f"Basic {login}"]
    monkeypatch.setenv("K8S_AUTH_PROXY_HEADERS_BASIC_AUTH", f"{user}:{CANARY}€")
    recorder.asked.clear()
    ask()
    assert f"Basic {login}" in recorder.values("Authorization")


def test_a_variable_takes_the_place_of_a_kubeconfigs_token(
    api: Api, recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = api.kubeconfig(tmp_path / "config")
    document = json.loads(path.read_text())
    document["clusters"][0]["cluster"]["server"] = recorder.url
    # Neither the credentials of the user nor its exec plugin is used.
    document["users"][0]["user"] = {"exec": {"apiVersion": "v1", "command": "/bin/false"}}
    path.write_text(json.dumps(document))
    monkeypatch.setenv("K8S_AUTH_KUBECONFIG", str(path))
    monkeypatch.setenv("K8S_AUTH_API_KEY", CANARY)
    ask()
    assert recorder.values("Authorization") == [f"Bearer {CANARY}"]


def test_impersonation_headers_are_sent(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("K8S_AUTH_IMPERSONATE_USER", "jane")
    monkeypatch.setenv("K8S_AUTH_IMPERSONATE_GROUPS", "one,two")
    ask(host=recorder.url)
    assert recorder.values("Impersonate-User") == ["jane"]
    assert recorder.values("Impersonate-Group") == ["one", "two"]


def test_a_proxy_is_used_but_for_the_hosts_that_need_none(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8S_AUTH_HOST", "http://api.example:6443")
    monkeypatch.setenv("K8S_AUTH_API_KEY", CANARY)
    monkeypatch.setenv("K8S_AUTH_PROXY", recorder.url)
    monkeypatch.setenv("K8S_AUTH_PROXY_HEADERS_PROXY_BASIC_AUTH", f"user:{CANARY}")
    ask()
    assert recorder.asked[0][0].startswith("http://api.example:6443/api/v1/")
    login = base64.b64encode(f"user:{CANARY}".encode()).decode()
    assert recorder.values("Proxy-Authorization") == [f"Basic {login}"]
    recorder.asked.clear()
    monkeypatch.setenv("K8S_AUTH_HOST", recorder.url)
    monkeypatch.setenv("K8S_AUTH_NO_PROXY", "127.0.0.1")
    ask()
    assert recorder.asked[0][0].startswith("/api/v1/")


def test_a_client_certificate_that_cannot_be_used_is_named(
    namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8S_AUTH_HOST", "https://127.0.0.1:1")
    monkeypatch.setenv("K8S_AUTH_CERT_FILE", str(tmp_path / "cert"))
    monkeypatch.setenv("K8S_AUTH_KEY_FILE", str(tmp_path / "key"))
    assert "K8S_AUTH_CERT_FILE and K8S_AUTH_KEY_FILE: No such file" in put(namespace)["msg"]
    for name in ("cert", "key"):
        (tmp_path / name).write_text(CANARY)
    (failure,) = put(namespace)["failed_targets"]
    assert failure["kind"] == "configuration"
    assert "the client certificate or its key cannot be used" in failure["msg"]


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"CA_CERT": "/missing"}, "K8S_AUTH_CA_CERT /missing: No such file"),
        ({"SSL_CA_CERT": "/missing"}, "K8S_AUTH_SSL_CA_CERT /missing: No such file"),
        ({"CLIENT_CERT": "/missing"}, "cannot be used: K8S_AUTH_CLIENT_CERT: No such file"),
        (
            {"CERT_FILE": "/missing", "CLIENT_KEY": "/missing"},
            "K8S_AUTH_CERT_FILE and K8S_AUTH_CLIENT_KEY: No such file",
        ),
        ({"PROXY": f"{CANARY}"}, "check K8S_AUTH_PROXY"),
        ({"API_KEY": f"€{CANARY}"}, "check K8S_AUTH_API_KEY"),
    ],
)
def test_a_message_names_the_variable_that_is_set(
    namespace: str, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], words: str
) -> None:
    monkeypatch.setenv("K8S_AUTH_HOST", "https://127.0.0.1:1")
    for ending, text in variables.items():
        monkeypatch.setenv(f"K8S_AUTH_{ending}", text)
    result = put(namespace)
    assert words in result["msg"]
    assert "kubernetes." not in result["msg"]
    assert "kubeconfig" not in result["msg"]
    assert CANARY not in json.dumps(result)


def test_the_job_that_names_its_variables_reads_none_of_them(
    recorder: Recorder, api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8S_AUTH_HOST", recorder.url)
    monkeypatch.setenv("K8S_AUTH_API_KEY", CANARY)
    monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig(tmp_path / "config")))
    settings = RunSettings(connections={"kubernetes": {"k8s_auth": False}})
    deadline = settings.deadline()
    assert KubernetesClients(settings).get(deadline).get("ns", "secrets", "name", deadline) is None
    assert recorder.asked == []
