# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check mode predicts the run without a write; a diff shows registries and digests, never values."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.kubernetes.integration.conftest import Run
from tests.kubernetes.integration.test_faults import STORIES, tell
from tests.kubernetes.integration.test_secret import NAME, ONE, desired
from tests.support.docker_configs import auth, docker_config
from tests.support.kubernetes.world import Api


@pytest.mark.parametrize("story", STORIES)
def test_check_mode_predicts_what_the_run_does(api: Api, namespace: str, run: Run, story: str) -> None:
    params = tell(api, namespace, story)
    before = api.secret(namespace, NAME)
    params["digest_key"] = "example-key"
    predicted = run(**params, check_mode=True, diff=True)
    assert api.writes() == []
    assert {call.verb for call in api.calls.matching()} == {"get"}, "check mode must not even send a dry run"
    assert api.secret(namespace, NAME) == before
    made = run(**params, diff=True)
    for name in ("changed", "summary"):
        assert predicted[name] == made[name]
    assert predicted["diff"] == made["diff"]
    ours = ("id", "place", "changed", "actions", "registries", "digest", "warnings")
    assert [{name: target.get(name) for name in ours} for target in predicted["targets"]] == [
        {name: target.get(name) for name in ours} for target in made["targets"]
    ]


def test_check_mode_of_what_is_right(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace))
    result = run(**desired(namespace), check_mode=True, diff=True)
    assert result["changed"] is False
    assert "diff" not in result


def test_a_diff_names_registries_and_marks_changed_credentials(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace, docker_config(quay_io="one", gone_example_com="one")))
    new = docker_config(quay_io="two", new_example_com="one")
    result = run(**desired(namespace, new, labels={"team": "a"}), diff=True, digest_key="example-key")
    (diff,) = result["diff"]
    assert diff["before_header"] == diff["after_header"] == result["targets"][0]["place"]
    before, after = diff["before"].splitlines(), diff["after"].splitlines()
    assert "registry gone.example.com" in before
    assert "registry gone.example.com" not in after
    assert "registry new.example.com" in after
    assert "registry quay.io (credential differs)" in before
    assert "registry quay.io (credential differs)" in after
    assert "label team: a" in after
    digests = [line for line in (*before, *after) if line.startswith("digest: hmac-sha256:")]
    assert len(set(digests)) == 2
    assert f"digest: {result['targets'][0]['digest']}" in after


@pytest.mark.parametrize("check_mode", [True, False])
def test_no_value_is_shown(api: Api, namespace: str, run: Run, check_mode: bool) -> None:
    run(**desired(namespace, docker_config(quay_io="one")))
    config = docker_config(quay_io="two", registry_redhat_io="three")
    result = run(**desired(namespace, config), check_mode=check_mode, diff=True)
    shown = json.dumps(result)
    assert result["changed"] is True
    for text in ("one", "two", "three"):
        for form in (auth(text), f"example-password-{text}", base64.b64encode(auth(text).encode()).decode()):
            assert form not in shown


def test_a_diff_of_an_ambiguous_write_shows_the_change(api: Api, namespace: str, run: Run) -> None:
    run(**desired(namespace))
    new: Any = docker_config(quay_io="two")
    api.faults.add(verb="patch", drop=True, phase="after")
    result = run(**desired(namespace, new), diff=True)
    assert result["targets"][0]["actions"] == ["updated"]
    assert "credential differs" in result["diff"][0]["before"]


def test_an_invalid_secret_shows_no_value(api: Api, namespace: str, run: Run) -> None:
    text = json.dumps(ONE).replace('"auth"', '"auth": "example-password-hidden", "auth"')
    result = run(**desired(namespace, text), diff=True)
    assert result["failed_targets"][0]["kind"] == "invalid_document"
    assert "example-password" not in json.dumps(result)
