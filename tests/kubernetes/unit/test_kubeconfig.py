# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubeconfig files: the modules and the event source use the same reader."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes import (
    kubeconfig as module,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.configuration import (
    configure,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.connection import (
    kubernetes_connection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.kubeconfig import (
    Kubeconfigs,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError


def write(path: Path, names: list[str], user: dict[str, Any] | None = None, **cluster: Any) -> Path:
    path.parent.mkdir(exist_ok=True)
    document = {
        "current-context": names[0],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}} for name in names],
        "clusters": [{"name": name, "cluster": {"server": f"http://{name}", **cluster}} for name in names],
        "users": [
            {"name": name, "user": {"token": f"token-{name}"} if user is None else user} for name in names
        ],
    }
    path.write_text(json.dumps(document))
    return path


def test_files_are_absolute_whichever_file_they_are_in(tmp_path: Path) -> None:
    first = write(tmp_path / "a/config", ["one"], {"tokenFile": "token", "client-key": "/key"})
    second = write(
        tmp_path / "b/config",
        ["two"],
        {"exec": {"command": "./plugin"}},
        **{"certificate-authority": "ca.pem"},
    )
    both = f"{first}{os.pathsep}{second}"
    one, two = (Kubeconfigs().login(both, name) for name in ("one", "two"))
    assert (one.user["tokenFile"], one.user["client-key"]) == (str(tmp_path / "a/token"), "/key")
    assert two.cluster["certificate-authority"] == str(tmp_path / "b/ca.pem")
    assert os.path.normpath(two.user["exec"]["command"]) == str(tmp_path / "b/plugin")
    assert (one.directory, two.directory) == (str(tmp_path / "a"), str(tmp_path / "b"))


def test_a_command_without_a_slash_is_searched_on_the_path(tmp_path: Path) -> None:
    path = write(tmp_path / "config", ["one"], {"exec": {"command": "plugin"}})
    assert Kubeconfigs().login(str(path), None).user["exec"]["command"] == "plugin"


def test_the_first_current_context_and_the_first_of_a_name_count(tmp_path: Path) -> None:
    first = write(tmp_path / "a", ["one"])
    second = write(tmp_path / "b", ["two", "one"], {"token": "another"})
    both = f"{first}{os.pathsep}{tmp_path / 'missing'}{os.pathsep}{second}"
    assert Kubeconfigs().login(both, None).user["token"] == "token-one"
    assert Kubeconfigs().login(both, "two").user["token"] == "another"


def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "config", ["one", "two", "two"])
    assert Kubeconfigs().login(str(path), "one").user["token"] == "token-one"
    with pytest.raises(ConfigurationError, match="2 entries named two in its contexts"):
        Kubeconfigs().login(str(path), "two")


def test_of_several_files_one_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        Kubeconfigs().login(f"{tmp_path / 'a'}{os.pathsep}{tmp_path / 'b'}", None)


def test_many_contexts_and_threads_parse_a_file_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    parse = module._parse

    def counted(text: bytes, path: str) -> Any:
        parsed.append(path)
        return parse(text, path)

    monkeypatch.setattr(module, "_parse", counted)
    names = [f"mgmt-{number}" for number in range(100)]
    path, configs = write(tmp_path / "config", names), Kubeconfigs()

    def token(name: str) -> Any:
        configuration, _plugin = configure(
            kubernetes_connection({"kubeconfig": str(path), "context": name}), 4, configs
        )
        return configuration.auth_settings()["BearerToken"]["value"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(token, names)) == [f"Bearer token-{name}" for name in names]
    assert parsed == [str(path)]
