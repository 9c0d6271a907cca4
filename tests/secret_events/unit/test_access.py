# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The access to an API server: kubeconfigs, exec plugins and tokens."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.accesses import Accesses
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.settings import ServerOptions
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.kubeconfig import (
    Kubeconfigs,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.watch_access import (
    Access,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    PullSecretError,
)
from tests.support.yaml_bombs import MERGES

SECRET = "example-password"


def kubeconfig(path: Path, user: dict[str, Any], **cluster: Any) -> Path:
    document = {
        "current-context": "one",
        "contexts": [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in ("one", "two")],
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1/", **cluster}}],
        "users": [{"name": "u", "user": user}],
    }
    path.write_text(json.dumps(document))
    return path


def reach(connection: ServerOptions) -> Access:
    async def scenario() -> Access:
        return await Accesses(nobody).get(connection)

    return asyncio.run(scenario())


def nobody(unused_access: Access) -> Any:
    raise AssertionError


def test_a_kubeconfig_with_a_token(tmp_path: Path) -> None:
    access = reach(ServerOptions(kubeconfig=str(kubeconfig(tmp_path / "k", {"token": SECRET}))))
    assert access.url == "http://127.0.0.1:1"
    assert access.headers() == [("Authorization", f"Bearer {SECRET}")]
    assert SECRET not in repr(access)


def test_files_are_relative_to_the_kubeconfig_and_tokens_are_read_each_time(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{SECRET}\n")
    access = reach(ServerOptions(kubeconfig=str(kubeconfig(tmp_path / "k", {"tokenFile": "token"}))))
    assert access.headers() == [("Authorization", f"Bearer {SECRET}")]
    (tmp_path / "token").write_text("example-2")
    assert access.headers() == [("Authorization", "Bearer example-2")]


def test_several_files_count_as_one_and_the_first_of_a_name_wins(tmp_path: Path) -> None:
    first = kubeconfig(tmp_path / "a", {"token": "first"})
    second = kubeconfig(tmp_path / "b", {"token": "second"})
    login = Kubeconfigs().login(f"{first}{os.pathsep}{tmp_path / 'none'}{os.pathsep}{second}", "two")
    assert login.user["token"] == "first"


def test_a_file_is_parsed_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes import (
        kubeconfig as module,
    )

    parsed = []
    parse = module._parse

    def counted(text: bytes, path: str) -> Any:
        parsed.append(path)
        return parse(text, path)

    monkeypatch.setattr(module, "_parse", counted)
    path = kubeconfig(tmp_path / "k", {"token": "first"})
    configs = Kubeconfigs()
    for context in ("one", "two", None):
        assert configs.login(str(path), context).user["token"] == "first"
    assert len(parsed) == 1
    kubeconfig(path, {"token": "second, and longer"})
    assert configs.login(str(path), None).user["token"] == "second, and longer"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "No such file"),
        ("[", "it is neither JSON nor YAML"),
        ("[]", "it must be a mapping in YAML or JSON"),
        (MERGES, "values after its aliases are expanded"),
        (f"!!bool {SECRET}", "it has a value that does not fit its tag"),
        (f"{SECRET}: [", "it is neither JSON nor YAML"),
        ("{}", "no current-context"),
        ("current-context: three", "no entry named three in its contexts"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_is_named(
    tmp_path: Path, content: str | None, complaint: str
) -> None:
    path = tmp_path / "k"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        reach(ServerOptions(kubeconfig=str(path)))
    assert str(path) in str(caught.value)
    assert SECRET not in str(caught.value)


def test_a_pipe_is_no_kubeconfig(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "k")
    with pytest.raises(ConfigurationError, match="not a regular file"):
        reach(ServerOptions(kubeconfig=str(tmp_path / "k")))


@pytest.mark.parametrize("server", ["", "ftp://a", "https://", "https://a:b", f"{SECRET}@host"])
def test_an_invalid_address_is_not_quoted(tmp_path: Path, server: str) -> None:
    path = kubeconfig(tmp_path / "k", {}, server=server)
    with pytest.raises(ConfigurationError, match="server must be an address") as caught:
        reach(ServerOptions(kubeconfig=str(path)))
    assert SECRET not in str(caught.value)


def test_certificates_that_are_none_are_refused(tmp_path: Path) -> None:
    nonsense = base64.b64encode(b"example").decode()
    path = kubeconfig(tmp_path / "k", {}, server="https://a", **{"certificate-authority-data": nonsense})
    with pytest.raises(ConfigurationError, match="CA certificates of the API server cannot be used"):
        reach(ServerOptions(kubeconfig=str(path)))


def plugin(path: Path, code: str, **more: Any) -> ServerOptions:
    program = path / "plugin"
    program.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{code}\n")
    program.chmod(0o700)
    return ServerOptions(
        kubeconfig=str(kubeconfig(path / "k", {"exec": {"command": "./plugin", "apiVersion": "v", **more}}))
    )


def test_an_exec_plugin_is_asked_as_kubectl_does(tmp_path: Path) -> None:
    code = (
        "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
        "server = info['spec']['cluster']['server']\n"
        "token = '-'.join([*sys.argv[1:], os.environ['NAME'], info['kind'], server])\n"
        "print(json.dumps({'status': {'token': token}}))"
    )
    env = [{"name": "NAME", "value": "value"}]
    access = reach(plugin(tmp_path, code, args=["one"], env=env, provideClusterInfo=True))
    assert access.token == "one-value-ExecCredential-http://127.0.0.1:1/"


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        (f"print({SECRET!r})", "the exec plugin plugin gave no credentials"),
        (f"sys.exit({SECRET!r})", "the exec plugin plugin gave no credentials"),
        ("print(json.dumps({'status': {}}))", "the exec plugin plugin gave no credentials"),
        ("time.sleep(600)", "did not answer within 0.5 s"),
    ],
)
def test_an_exec_plugin_that_fails_is_named_and_its_output_is_not_shown(
    tmp_path: Path,
    code: str,
    complaint: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes import (
        watch_access,
    )

    monkeypatch.setattr(watch_access, "_PLUGIN_LIMIT", 0.5 if "sleep" in code else 60)
    with pytest.raises(PullSecretError, match=complaint) as caught:
        reach(plugin(tmp_path, code))
    captured = capfd.readouterr()
    assert SECRET not in str(caught.value) + captured.out + captured.err


def test_many_watches_ask_once_and_anew_when_they_were_refused(tmp_path: Path) -> None:
    code = (
        f"with open({str(tmp_path / 'asked')!r}, 'a') as file: file.write('x')\n"
        "print(json.dumps({'status': {'token': 'one'}}))"
    )
    connection = plugin(tmp_path, code)

    async def scenario() -> None:
        accesses = Accesses(nobody)
        found = await asyncio.gather(*[accesses.get(connection) for _one in range(50)])
        assert len(set(map(id, found))) == 1
        for _one in range(50):
            accesses.forget(connection, found[0])
        again = await asyncio.gather(*[accesses.get(connection) for _one in range(50)])
        # A late refusal of the old token does not remove the new one.
        accesses.forget(connection, found[0])
        assert await accesses.get(connection) is again[0]

    asyncio.run(scenario())
    assert (tmp_path / "asked").read_text() == "xx"


def test_a_login_in_the_servers_address_is_sent(tmp_path: Path) -> None:
    """The Ansible Operator's kubeconfigs contain one of about 190 letters."""
    user = "u" * 190
    path = kubeconfig(tmp_path / "k", {}, server=f"http://{user}:{SECRET}@localhost:8888")
    access = reach(ServerOptions(kubeconfig=str(path)))
    login = base64.b64encode(f"{user}:{SECRET}".encode()).decode()
    assert access.headers() == [("Authorization", f"Basic {login}")]
    assert SECRET not in repr(access)


@pytest.mark.parametrize("token", ["example\r\nX-Other: y", "example-\u00e4"])
def test_a_token_that_cannot_be_sent_is_refused(tmp_path: Path, token: str) -> None:
    access = reach(ServerOptions(kubeconfig=str(kubeconfig(tmp_path / "k", {"token": token}))))
    with pytest.raises(PullSecretError, match="that no HTTP header can carry") as caught:
        access.headers()
    assert "example" not in str(caught.value)


def test_the_variables_say_what_the_connection_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(kubeconfig(tmp_path / "k", {"token": "kubeconfigs"}))
    monkeypatch.setenv("KUBECONFIG", path)
    monkeypatch.setenv("K8S_AUTH_API_KEY", SECRET)
    monkeypatch.setenv("K8S_AUTH_IMPERSONATE_USER", "jane")
    monkeypatch.setenv("K8S_AUTH_IMPERSONATE_GROUPS", "one,two")
    acting = [("Impersonate-User", "jane"), ("Impersonate-Group", "one"), ("Impersonate-Group", "two")]
    assert reach(ServerOptions()).headers() == [("Authorization", f"Bearer {SECRET}"), *acting]
    program = json.loads((tmp_path / "k").read_text())
    program["users"][0]["user"] = {"exec": {"command": "/bin/false"}}
    (tmp_path / "program").write_text(json.dumps(program))
    with monkeypatch.context() as other:
        other.setenv("K8S_AUTH_KUBECONFIG", str(tmp_path / "program"))
        assert reach(ServerOptions()).token == SECRET
    assert reach(ServerOptions(context="two")).headers() == [("Authorization", "Bearer kubeconfigs"), *acting]
    monkeypatch.setenv("K8S_AUTH_HOST", "http://127.0.0.1:2")
    access = reach(ServerOptions())
    assert (access.url, access.token) == ("http://127.0.0.1:2", SECRET)
    assert reach(ServerOptions(kubeconfig=path)).token == "kubeconfigs"
    monkeypatch.delenv("K8S_AUTH_API_KEY")
    monkeypatch.setenv("K8S_AUTH_USERNAME", "user")
    monkeypatch.setenv("K8S_AUTH_PASSWORD", SECRET)
    login = base64.b64encode(f"user:{SECRET}".encode()).decode()
    assert reach(ServerOptions()).headers()[0] == ("Authorization", f"Basic {login}")
    (tmp_path / "token").write_text("files")
    own = ServerOptions(host="http://127.0.0.1:2", api_key_file=str(tmp_path / "token"))
    assert reach(own).headers()[0] == ("Authorization", "Bearer files")


@pytest.mark.parametrize("user", [{"tokenFile": "other"}, {"token": SECRET}])
def test_the_options_token_file_replaces_the_kubeconfigs_user(tmp_path: Path, user: dict[str, Any]) -> None:
    (tmp_path / "other").write_text("other")
    (tmp_path / "token").write_text("files")
    path = str(kubeconfig(tmp_path / "k", user))
    access = reach(ServerOptions(kubeconfig=path, api_key_file=str(tmp_path / "token")))
    assert access.headers() == [("Authorization", "Bearer files")]


def test_the_options_token_file_replaces_the_pods_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "1")
    (tmp_path / "token").write_text("files")
    access = reach(ServerOptions(validate_certs=False, api_key_file=str(tmp_path / "token")))
    assert (access.url, access.headers()) == (
        "https://127.0.0.1:1",
        [("Authorization", "Bearer files")],
    )
