# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Check and merge docker configs, without writing a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.dockerconfig.integration.conftest import Run
from tests.support.docker_configs import docker_config, encoded

PLATFORM = docker_config(quay_io="platform", cloud_openshift_com="platform")
TEAM = docker_config(quay_io="team", team_example_com="team")


def layers(*, optional: bool = False, **sources: Any) -> list[dict[str, Any]]:
    """Build layers by name from sources or docker configs. ``optional`` applies to all but the first."""
    made: list[dict[str, Any]] = []
    for name, source in sources.items():
        given = source if isinstance(source, dict) and "auths" not in source else {"inline": source}
        made.append({"name": name, "source": given, "optional": optional and bool(made)})
    return made


def test_a_good_config_is_only_checked(run: Run) -> None:
    result = run(source={"inline": PLATFORM})
    (target,) = result["targets"]
    assert (result["changed"], target["place"]) == (False, "nowhere")
    assert target["registries"] == {"quay.io": "inline", "cloud.openshift.com": "inline"}
    assert target["digest"].startswith("hmac-sha256:")
    assert target["warnings"] == []


def test_repairs_are_reported(run: Run) -> None:
    entry = {"username": "user", "password": "example-password"}
    result = run(source={"inline": {"auths": {"registry.example.com": entry}}})
    (warning,) = result["targets"][0]["warnings"]
    assert warning.startswith("registry.example.com: ")
    assert "example-password" not in json.dumps(result)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"auths": {}}',
        '{"auths": {"quay.io": {"auth": "%%example-value%%"}}}',
        '{"auths": {"quay.io": {"auth": "ZXhhbXBsZS12YWx1ZQ=="}}}',
        '{"auths": {"quay.io": {}, "quay.io": {}}}',
    ],
)
def test_a_bad_config_is_a_permanent_failure(run: Run, text: str) -> None:
    result = run(source={"inline": text})
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "invalid_document"
    assert failure["msg"].startswith("inline: ")
    for value in ("example-value", "ZXhhbXBsZS12YWx1ZQ"):
        assert value not in json.dumps(result)


def test_the_later_layer_wins(run: Run) -> None:
    (target,) = run(layers=layers(platform=PLATFORM, team=TEAM))["targets"]
    assert target["registries"] == {
        "quay.io": "team",
        "cloud.openshift.com": "platform",
        "team.example.com": "team",
    }
    (conflict,) = target["conflicts"]
    assert conflict["registry"] == "quay.io"
    assert conflict["winner"] == "team"
    assert list(conflict["losers"]) == ["platform"]


def test_original_precedence_lets_the_first_layer_win(run: Run) -> None:
    (target,) = run(layers=layers(platform=PLATFORM, team=TEAM), precedence="original")["targets"]
    assert target["registries"]["quay.io"] == "platform"
    assert target["conflicts"][0]["winner"] == "platform"


def test_a_policy_decides_for_its_registry_only(run: Run) -> None:
    third = docker_config(quay_io="third", team_example_com="third")
    merged = layers(platform=PLATFORM, team=TEAM, third=third)
    (target,) = run(layers=merged, policy={"quay.io": "platform"})["targets"]
    assert target["registries"]["quay.io"] == "platform"
    assert target["registries"]["team.example.com"] == "third"


def test_a_policy_for_a_layer_that_is_not_there_is_an_error(run: Run) -> None:
    result = run(layers=layers(platform=PLATFORM, team=TEAM), policy={"quay.io": "absent"})
    assert result["msg"] == "policy of quay.io must be one of the layers platform, team"


def test_equal_credentials_are_no_conflict(run: Run) -> None:
    (target,) = run(layers=layers(one=TEAM, two=TEAM))["targets"]
    assert target["conflicts"] == []


def test_registries_can_be_dropped(run: Run) -> None:
    merged = layers(platform=PLATFORM, team=TEAM)
    (target,) = run(layers=merged, drop=["quay.io", "cloud.openshift.com"])["targets"]
    assert target["registries"] == {"team.example.com": "team"}


def test_three_spellings_of_one_registry_are_one(run: Run) -> None:
    old = {"auths": {"https://index.docker.io/v1/": TEAM["auths"]["quay.io"]}}
    new = {"auths": {"docker.io": PLATFORM["auths"]["quay.io"]}}
    (target,) = run(layers=layers(old=old, new=new))["targets"]
    assert list(target["registries"].values()) == ["new"]
    assert len(target["conflicts"]) == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"file": "/nonexistent/config.json"},
        {"env": "EXAMPLE_NOT_SET"},
        {"inline": "{"},
        {"inline": '{"auths": {"quay.io": {"auth": "%%example-value%%"}}}'},
    ],
    ids=["no file", "no variable", "not JSON", "not valid"],
)
def test_an_optional_layer_may_be_missing_or_invalid(run: Run, bad: dict[str, str]) -> None:
    merged = layers(platform=PLATFORM, team=bad, optional=True)
    result = run(layers=merged)
    assert "failed" not in result
    (target,) = result["targets"]
    assert set(target["registries"].values()) == {"platform"}
    (warning,) = target["warnings"]
    assert warning.startswith("layer team left out: ")
    assert "example-value" not in warning
    merged[1]["optional"] = False
    assert run(layers=merged)["failed_targets"][0]["kind"] in ("not_found", "invalid_document")


def test_the_first_layer_may_be_optional_too_but_not_all_may_be_missing(run: Run) -> None:
    missing = {"file": "/nonexistent/config.json"}
    merged: list[dict[str, Any]] = [
        {"name": name, "source": missing, "optional": True} for name in ("one", "two")
    ]
    assert run(layers=merged)["failed_targets"][0]["kind"] == "not_found"
    merged[1]["source"] = {"inline": TEAM}
    assert set(run(layers=merged)["targets"][0]["registries"].values()) == {"two"}


def test_files_and_variables(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "platform.json").write_text(json.dumps(PLATFORM))
    monkeypatch.setenv("EXAMPLE_TEAM", json.dumps(TEAM))
    merged = layers(platform={"file": str(tmp_path / "platform.json")}, team={"env": "EXAMPLE_TEAM"})
    assert run(layers=merged)["targets"][0]["registries"]["quay.io"] == "team"


def test_targets_are_handled_each_on_its_own(run: Run) -> None:
    result = run(
        targets=[
            {"id": "good", "source": {"inline": TEAM}},
            {"id": "bad", "source": {"inline": "{"}},
            {"id": "none"},
            {"id": "two", "layers": layers(platform=PLATFORM, team=TEAM)},
        ]
    )
    assert [target.get("kind") for target in result["targets"]] == [
        None,
        "invalid_document",
        "configuration",
        None,
    ]
    assert result["summary"] == {"total": 4, "changed": 0, "failed": 2}


def test_digests_are_equal_when_the_meaning_is_and_the_key_is(run: Run) -> None:
    def digest(config: Any, key: str) -> str:
        return str(run(source={"inline": config}, digest_key=key)["targets"][0]["digest"])

    assert digest(TEAM, "one") == digest(json.dumps(TEAM, indent=3), "one")
    assert digest(TEAM, "one") != digest(TEAM, "two")
    assert digest(TEAM, "one") != digest(PLATFORM, "one")


EMPTY = {"auths": {"registry.example.com": {"auth": encoded("user:")}}}


def test_strict_refuses_what_probably_fails(run: Run) -> None:
    (target,) = run(source={"inline": EMPTY})["targets"]
    assert target["registries"] == {"registry.example.com": "inline"}
    assert [text.rpartition("[")[2] for text in target["warnings"]] == ["empty-password]"]
    for given in ({"source": {"inline": EMPTY}}, {"layers": layers(platform=PLATFORM, team=EMPTY)}):
        (failure,) = run(**given, strict=True)["failed_targets"]
        assert failure["kind"] == "invalid_document"
        assert "registry.example.com: the password is empty" in failure["msg"]
    (target,) = run(layers=layers(platform=PLATFORM, team=EMPTY, optional=True), strict=True)["targets"]
    assert set(target["registries"]) == set(PLATFORM["auths"])
    assert target["warnings"][0].startswith("layer team left out: ")


def test_an_entry_that_is_dropped_cannot_fail_the_run(run: Run) -> None:
    broken = {"auths": {**TEAM["auths"], "bad.example.com": {"auth": "!!"}}}
    for given in ({"source": {"inline": broken}}, {"layers": layers(platform=PLATFORM, team=broken)}):
        assert "bad.example.com" in run(**given)["failed_targets"][0]["msg"]
        (target,) = run(**given, drop=["https://bad.example.com/v1/", "absent.example.com"])["targets"]
        assert "bad.example.com" not in target["registries"]
        assert target["registries"].keys() >= TEAM["auths"].keys()
        assert [text.partition(";")[0] for text in target["warnings"]] == [
            "drop: no document has the registry absent.example.com"
        ]
