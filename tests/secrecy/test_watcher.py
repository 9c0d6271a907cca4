# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The watchers detect every kind of leak. Otherwise the tests that find none would prove nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.secrecy.watcher import Recording, Watcher
from tests.support.processes import Ansible
from tests.support.secrecy.canary import Canary
from tests.support.secrecy.needles import Evidence, Needles

# Ways in which the leaky module leaks, and the kinds of evidence, at least one of which must show it.
_WAYS = {
    "result": {"output"},
    "failure": {"output"},
    "diff": {"output"},
    "warning": {"output"},
    "exception": {"output"},
    "stderr": {"output"},
    "log": {"syslog", "journal"},
    "argv": {"argv"},
    "short-lived program": {"argv"},
    "environment": {"environ"},
    "temporary file": {"vanished file"},
    "removed file": {"vanished file"},
    "file removed by a program": {"vanished file"},
    "overwritten file": {"vanished file"},
    "file in home": {"file in home"},
}
# The ways to try again with other callbacks.
_SHOWN = ("result", "failure", "exception", "log")
_SETTINGS = {
    "default": {"ANSIBLE_CALLBACK_RESULT_FORMAT": "json"},
    "yaml": {"ANSIBLE_CALLBACK_RESULT_FORMAT": "yaml", "CANARY_JOURNAL": "1"},
    "minimal": {"ANSIBLE_STDOUT_CALLBACK": "minimal"},
    "oneline": {"ANSIBLE_STDOUT_CALLBACK": "oneline"},
}


def _leak_in_all_ways(watcher: Watcher, canaries: dict[str, Canary], settings: dict[str, str]) -> Recording:
    tasks = [
        {
            "name": way,
            "leaky": {"secret": "{{ secrets[way] }}", "way": "{{ way }}"},
            "vars": {"way": way},
            "ignore_errors": True,
        }
        for way in canaries
    ]
    secrets = {way: f"<{canary.entries[0].password}>" for way, canary in canaries.items()}
    return watcher.play(tasks, {"secrets": secrets}, options=["-vvvv", "--diff"], settings=settings)


@pytest.mark.parametrize("callback", _SETTINGS)
@pytest.mark.nightly
def test_each_way_of_leaking_is_seen(tmp_path: Path, callback: str) -> None:
    ways = {way: kinds for way, kinds in _WAYS.items() if callback == "default" or way in _SHOWN}
    canaries = {way: Canary.make(way) for way in ways}
    recording = _leak_in_all_ways(Watcher(tmp_path), canaries, _SETTINGS[callback])
    leaks = Needles(canaries.values()).leaks(recording.evidence)
    for way, kinds in ways.items():
        seen = {leak.kind for leak in leaks if leak.canary == way}
        assert seen & kinds, f"{way} is seen in {seen} only"
    logs = {leak.name for leak in leaks if leak.canary == "failure" and leak.kind == "file in log"}
    # Ansible's log, the recording callback and JUnit's report.
    assert {"ansible.log", "record.jsonl"} < logs
    assert any(name.endswith(".xml") for name in logs)
    # The tree callback's file, which the next result overwrites.
    assert any(leak.name == "localhost" for leak in leaks if leak.canary == "failure")


@pytest.mark.nightly
def test_arguments_in_a_file_are_seen(tmp_path: Path) -> None:
    canary = Canary.make("unpipelined")
    recording = _leak_in_all_ways(Watcher(tmp_path), {"none": canary}, {"ANSIBLE_PIPELINING": "False"})
    kinds = {leak.kind for leak in Needles([canary]).leaks(recording.evidence)}
    assert "vanished file" in kinds, "the module's file holds its arguments and is removed by a shell"


@pytest.mark.nightly
def test_a_programs_arguments_and_environment_are_seen(tmp_path: Path) -> None:
    canary = Canary.make("ps")
    password = canary.entries[0].password
    recording = Watcher(tmp_path).play(
        [
            {
                "name": "a program without an audit hook",
                "ansible.builtin.command": {"argv": ["true"]},
                "environment": {"SECRET": "{{ secret }}"},
            }
        ],
        {"secret": password},
    )
    kinds = {leak.kind for leak in Needles([canary]).leaks(recording.evidence)}
    assert {"argv", "environ"} <= kinds


@pytest.mark.nightly
def test_a_run_lacks_the_users_own_clusters_and_logins(
    ansible: Ansible, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = ("K8S_AUTH_API_KEY", "KUBECONFIG", "GOOGLE_APPLICATION_CREDENTIALS", "ANSIBLE_VAULT_PASSWORD_FILE")
    for name in own:
        monkeypatch.setenv(name, "/the/users/own")
    variables = ansible.module("ansible.builtin.command", {"argv": ["env"]}).result["stdout"].splitlines()
    assert f"PATH={os.environ['PATH']}" in variables
    assert [line for line in variables if line.partition("=")[0] in own] == []


_TRANSFORMED: dict[str, Callable[[Canary], str]] = {
    "as it is": lambda canary: canary.text,
    "indented by 2": lambda canary: json.dumps(canary.document, indent=2),
    "indented by 4": lambda canary: json.dumps(canary.document, indent=4, ensure_ascii=False),
    "a Python mapping": lambda canary: repr(canary.document),
    "inside JSON": lambda canary: json.dumps({"data": canary.text}),
    "inside JSON inside JSON": lambda canary: json.dumps({"a": json.dumps({"data": canary.text})}),
    "base64": lambda canary: base64.b64encode(canary.text.encode()).decode(),
    "base64 of something around it": lambda canary: base64.b64encode(f"x{canary.text}y".encode()).decode(),
    "base64 in lines": lambda canary: base64.encodebytes(canary.text.encode()).decode(),
    "URL-safe base64": lambda canary: base64.urlsafe_b64encode(f"xy{canary.text}".encode()).decode(),
    "base64 twice": lambda canary: base64.b64encode(base64.b64encode(canary.text.encode())).decode(),
    "in a URL": lambda canary: f"/secrets/{quote(canary.text)}",
    "in hex": lambda canary: canary.text.encode().hex(),
    "wrapped": lambda canary: "\n".join(canary.text[at : at + 11] for at in range(0, len(canary.text), 11)),
    "cut off": lambda canary: repr(canary.text[:80]),
    "a user": lambda canary: canary.entries[1].user,
    "a password": lambda canary: canary.entries[1].password,
    "base64 of a password": lambda canary: base64.b64encode(canary.entries[1].password.encode()).decode(),
    "user and password": lambda canary: base64.b64decode(canary.entries[0].auth).decode(),
    "a token": lambda canary: canary.entries[2].token,
    "twenty characters of a token": lambda canary: canary.entries[2].token[7:27],
    "an address": lambda canary: canary.entries[0].email,
    "a plain digest": lambda canary: hashlib.sha256(canary.text.encode()).hexdigest(),
}


@pytest.mark.parametrize("transformed", _TRANSFORMED)
def test_each_form_is_found(transformed: str) -> None:
    canary, other = Canary.make("one"), Canary.make("other")
    data = f'fatal: [localhost]: FAILED! => {{"msg": "{_TRANSFORMED[transformed](canary)}"}}'.encode()
    leaks = Needles([canary, other]).leaks([Evidence("output", "a run", data)])
    assert {leak.canary for leak in leaks} == {"one"}


def test_other_text_is_not_found_as_a_secret() -> None:
    canary = Canary.make("one")
    shown = json.dumps({"auths": {entry.registry: {"auth": "********"} for entry in canary.entries}})
    assert Needles([canary]).leaks([Evidence("output", "a run", shown.encode() * 50)]) == []


def test_needles_of_the_wrong_canary_find_nothing() -> None:
    canary, other = Canary.make("one"), Canary.make("other")
    assert Needles([other]).leaks([Evidence("output", "a run", canary.text.encode())]) == []
