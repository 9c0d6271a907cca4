# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explains which credential pulls an image; ``tests/dockerconfig/oracle`` compares with the readers' own code."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import glob, load
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig.image_credentials import (
    image_credentials,
    image_problem,
)
from tests.dockerconfig.unit.samples import GOOD
from tests.dockerconfig.unit.test_lookup import document
from tests.support.docker_configs import encoded


def said(text: Any, image: str, **more: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    (answers,) = image_credentials(text, [image], **more)
    return answers["kubelet"], answers["containers_image"]


@pytest.mark.parametrize(
    ("key", "image", "kubelet", "containers_image"),
    [
        ("quay.io/team/app", "quay.io/team/app:1", "repository", "repository"),
        ("https://quay.io/v2/team/app", "quay.io/team/app", "repository", "host"),
        ("quay.io/team", "quay.io/team/app", "path", "path"),
        ("quay.io/team", "quay.io/team-evil/app", "path", None),
        ("quay.io", "quay.io/team/app", "host", "host"),
        ("https://quay.io", "quay.io/app", "host", "host"),
        ("quay.io:443", "quay.io:443/app", "host", "host"),
        ("quay.io/v1/", "quay.io/app", "host", None),
        ("*.quay.io", "a.quay.io/app", "glob", None),
        ("*.quay.io/team", "a.quay.io/team", "glob", None),
        ("docker.io", "nginx", "host", "host"),
        ("docker.io/library", "nginx", "path", "path"),
        ("index.docker.io", "nginx", "docker_hub", "docker_hub"),
        ("https://index.docker.io/v1/", "nginx", "docker_hub", "docker_hub"),
        ("registry-1.docker.io", "nginx", None, "docker_hub"),
        ("other.example", "quay.io/app", None, None),
    ],
)
def test_the_rule_by_which_an_entry_applies(
    key: str, image: str, kubelet: str | None, containers_image: str | None
) -> None:
    answers = said(document(key), image)
    for answer, rule in zip(answers, (kubelet, containers_image), strict=True):
        assert answer == {
            "found": rule is not None,
            "registry": key if rule else None,
            "rule": rule,
            "others": [],
        }


def test_kubelet_goes_on_to_the_next_entry_and_containers_image_does_not() -> None:
    kubelet, containers_image = said(document("quay.io", "quay.io/team"), "quay.io/team/app")
    assert (kubelet["registry"], kubelet["others"]) == ("quay.io/team", ["quay.io"])
    assert (containers_image["registry"], containers_image["others"]) == ("quay.io/team", [])


def test_equally_good_entries_are_listed_as_others() -> None:
    _kubelet, containers_image = said(document("https://quay.io", "http://quay.io"), "quay.io/app")
    assert (containers_image["registry"], containers_image["others"]) == (
        "http://quay.io",
        ["https://quay.io"],
    )


def test_an_empty_entry_is_no_credential() -> None:
    raw = json.dumps({"auths": {"quay.io": {"auth": GOOD}, "quay.io/a": {"username": "u", "password": "p"}}})
    kubelet, containers_image = said(raw, "quay.io/a/b")
    assert (kubelet["registry"], containers_image["found"]) == ("quay.io/a", False)
    # Loading repairs the document.
    assert said(load(raw), "quay.io/a/b")[1]["registry"] == "quay.io/a"
    token = {"auths": {"quay.io/a": {"identitytoken": "example-token"}, "quay.io": {"auth": GOOD}}}
    kubelet, containers_image = said(token, "quay.io/a/b")
    # Kubelet tries the empty credential and then the next one; containers/image uses only the empty one.
    assert (kubelet["registry"], containers_image["found"]) == ("quay.io", False)


def test_a_credential_helper_is_for_one_reader() -> None:
    data = {"auths": {"quay.io": {"auth": GOOD}}, "credHelpers": {"quay.io": "a-helper"}}
    kubelet, containers_image = said(data, "quay.io/app", layers={"quay.io": "original"})
    assert (kubelet["rule"], kubelet["layer"]) == ("host", "original")
    assert (containers_image["rule"], containers_image["registry"], containers_image["layer"]) == (
        "credential_helper",
        "quay.io",
        None,
    )
    assert "a-helper" not in json.dumps([kubelet, containers_image])


def test_the_layer_is_that_of_the_entry() -> None:
    layers = {"quay.io": "original", "quay.io/team": "additional"}
    for answer in said(load(document(*layers)), "quay.io/team/app", layers=layers):
        assert answer["layer"] == "additional"
    for answer in said(load(document(*layers)), "other.example/app", layers=layers):
        assert (answer["found"], answer["layer"]) == (False, None)


def test_a_reader_that_refuses_the_name_or_the_file_says_why() -> None:
    kubelet, containers_image = said(document("[2001:db8::1]:5000"), "[2001:db8::1]:5000/app")
    assert kubelet["rule"] == "host"
    assert (containers_image["found"], containers_image["problem"]) == (
        False,
        "not a valid image name [image-name]",
    )
    bad = {"auths": {"quay.io": {"auth": GOOD}, "a.io": {"auth": encoded("no colon")}}}
    kubelet, containers_image = said(bad, "quay.io/app")
    assert kubelet["problem"].startswith("a.io: ")
    assert kubelet["problem"].endswith("[auth-no-colon]")
    assert containers_image["registry"] == "quay.io"
    assert said({"auths": {"quay.io": {"auth": "a b"}}}, "quay.io/app")[1]["problem"].endswith(
        "[auth-not-base64]"
    )


def test_a_key_that_may_be_a_credential_is_not_shown() -> None:
    text = document("quay.io/Example-Password", "quay.io")
    answers = image_credentials(text, ["quay.io/app"])
    assert answers[0]["kubelet"]["registry"] == "quay.io"
    key = "user:example-password@quay.io"
    kubelet, _containers_image = said(document(key), "quay.io/app")
    assert "example-password" not in json.dumps(kubelet)
    assert kubelet["registry"] == "entry 1 (name not shown)"


def test_other_keys_are_ten_at_most() -> None:
    keys = ["quay.io" + "/a" * length for length in range(20)]
    kubelet, _containers_image = said(document(*keys), "quay.io" + "/a" * 19)
    assert (kubelet["registry"], len(kubelet["others"])) == (keys[19], 10)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nginx", True),
        ("quay.io/team/app@sha256:" + "0" * 64, True),
        ("[2001:db8::1]:5000/app", True),
        ("", False),
        ("https://quay.io/team/app", False),
        ("quay.io/", False),
        ("x" * 9999, False),
        ("[" + "a:" * 130 + "]/app", False),
        ("quay.io/app:" + "t" * 128 + "@sha512:" + "0" * 128, True),
        ("app:" + "t" * 128 + "@sha512:" + "0" * 128, True),
    ],
)
def test_what_is_the_name_of_an_image(name: str, expected: bool) -> None:
    assert (image_problem(name) is None) is expected


@pytest.mark.parametrize(
    ("fits", "too_long", "rule"),
    [
        ("a" * 250 + ".io:65535/x", "a" * 251 + ".io:65535/x", "host must be at most 253 characters"),
        ("quay.io/" + "a" * 255 + ":1", "quay.io/" + "a" * 256 + ":1", "repository must be at most 255 char"),
        ("a" * 247, "a" * 248, "repository must be at most 255 characters"),  # plus "library/"
    ],
    ids=["host", "repository", "docker-hub"],
)
def test_a_name_that_is_too_long_is_refused_with_its_rule(fits: str, too_long: str, rule: str) -> None:
    assert image_problem(fits) is None
    assert rule in str(image_problem(too_long))


def test_a_pattern_that_is_longer_than_the_host_costs_no_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    monkeypatch.setattr(glob._Token, "accepts", lambda _self, char: compared.append(char))
    assert not glob.glob_match("*" + "a" * 1000 + "b", "a" * 253)
    assert compared == []
