# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Distinguishes names from secrets that are in the place of a name."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import is_name, shown
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.secrecy import (
    forms_in,
    misplaced,
    quiet,
)

_DOCUMENT = json.dumps({"auths": {"quay.io": {"auth": base64.b64encode(b"example:password").decode()}}})
_ENCODED = base64.b64encode(_DOCUMENT.encode()).decode()
_AUTH = base64.b64encode(b"Example:Password-1").decode()


@pytest.mark.parametrize(
    "name",
    [
        "cls-123",
        "gke_Project-1_europe-west1_Management",
        "arn:aws:eks:eu-west-1:123456789012:cluster/ManagementClusterOne",
        "admin@Management-1",
        "/etc/Kubernetes/Admin.conf",
        "eyJ",
        "",
    ],
)
def test_names(name: str) -> None:
    assert is_name(name) == bool(name)
    assert misplaced({"context": name}) == []


@pytest.mark.parametrize(
    "text", [_DOCUMENT, _ENCODED, _AUTH, f"admin@{_ENCODED}", f"{_ENCODED}@host", f"cluster:{_AUTH}"]
)
def test_docker_configs_and_credentials(text: str) -> None:
    assert not is_name(text)
    assert shown(text) == "(not shown)"
    assert misplaced({"context": text}) == ["context"]


@pytest.mark.parametrize(
    "text",
    [
        "Bearer example",
        "Basic example",
        "eyJhbGciOiJub25lIn0.eyJ4Ijoxf.x",
        "https://user:example-password@quay.io/x",
        "amqp://user@broker.example.com/",
    ],
)
def test_tokens_and_logins_are_not_shown(text: str) -> None:
    assert not is_name(text)


def test_a_digest_is_no_login() -> None:
    assert is_name("docker://quay.io/team/app@sha256:0123")


def test_a_token_is_where_it_belongs() -> None:
    assert misplaced({"kubernetes": {"api_key": "eyJhbGciOiJub25lIn0.eyJ4Ijoxf.x"}}) == []


@pytest.mark.parametrize("before", ["", "\n", "a\n\n", "\n \n\t", "a:\r\n  ", "\n\u2028 ", "\n\x0b\r"])
@pytest.mark.parametrize("key", ["auths", "auth", "password", "Auths"])
def test_a_key_at_the_beginning_of_a_line(before: str, key: str) -> None:
    assert misplaced({"context": f"{before}{key} : a"}) == ["context"]
    assert misplaced({"context": f"{before}x{key}: a"}) == []


def test_empty_lines_are_gone_through_once() -> None:
    """The process has a limit of CPU time, which a quadratic algorithm would exceed a thousandfold."""
    code = (
        f"import resource; from {misplaced.__module__} import misplaced;"
        "resource.setrlimit(resource.RLIMIT_CPU, (20, 20));"
        "print(misplaced({'context': ':' + chr(10) * 1_000_000}))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"[]\n"


def test_a_docker_config_that_ansible_split_at_its_commas() -> None:
    document = '{"auths":{"quay.io":{"email":"example@example.com","password":"Example-1"}}}'
    assert misplaced({"cluster_ids": document.split(",")}) == ["cluster_ids"]
    assert "Example-1" in forms_in({"cluster_ids": document.split(",")})
    assert misplaced({"cluster_ids": ["cls-1", "cls-2"]}) == []


def test_callbacks_see_registries_and_no_credential_in_their_place() -> None:
    arguments = {
        "policy": {"quay.io": "one", "robot:CanaryPassw0rd78": "two"},
        "drop": ["quay.io/team", "quay.io/CanaryPassw0rd77"],
    }
    assert quiet(arguments) == {
        "policy": {"quay.io": "one", "entry 2 (name not shown)": "two"},
        "drop": ["quay.io/team", "entry 2 (quay.io, the rest not shown)"],
    }
