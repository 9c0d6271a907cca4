# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a merge says which credential would be used to pull an image."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import match
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from tests.dockerconfig.integration.conftest import Run
from tests.dockerconfig.integration.test_merge import PLATFORM, TEAM, layers
from tests.support.docker_configs import docker_config

BOTH = ("kubelet", "containers_image")


def test_each_image_has_the_entry_the_rule_and_the_layer_of_each_reader(run: Run) -> None:
    team = {"auths": {"quay.io/team": TEAM["auths"]["quay.io"]}}
    images = ["quay.io/team/app:1", "quay.io/team-evil/app", "cloud.openshift.com/x"]
    (target,) = run(layers=layers(platform=PLATFORM, team=team), images=images)["targets"]
    one, evil, openshift = target["images"]
    path = {"found": True, "registry": "quay.io/team", "rule": "path", "layer": "team"}
    host = {"found": True, "registry": "quay.io", "rule": "host", "layer": "platform", "others": []}
    assert one == {
        "image": "quay.io/team/app:1",
        "kubelet": {**path, "others": ["quay.io"]},
        "containers_image": {**path, "others": []},
    }
    # Kubelet matches a path key where containers/image does not.
    assert evil["kubelet"] == {**path, "others": ["quay.io"]}
    assert evil["containers_image"] == host
    assert openshift["kubelet"] == {**host, "registry": "cloud.openshift.com"}
    assert [text for text in target["warnings"] if text.startswith("images")] == []
    assert "example" not in json.dumps(target["images"])


def test_an_image_without_a_credential_is_a_warning(run: Run) -> None:
    images = ["nginx", "quay.io/app", "[2001:db8::1]:5000/app"]
    (target,) = run(source={"inline": PLATFORM}, images=images)["targets"]
    assert target["warnings"] == [
        "images[0] nginx: no credential for kubelet and containers_image",
        "images[2] (not shown): no credential for kubelet and containers_image",
    ]
    answer: dict[str, Any] = {"found": False, "registry": None, "rule": None, "layer": None, "others": []}
    assert target["images"][0] == {"image": "nginx", **dict.fromkeys(BOTH, answer)}
    problem = "not a valid image name [image-name]"
    assert target["images"][2]["containers_image"] == {**answer, "problem": problem}
    assert not target.get("failed")


def test_a_credential_can_be_required_and_nothing_is_written_without(run: Run, tmp_path: Path) -> None:
    dest = tmp_path / "config.json"
    dest.write_text(json.dumps(TEAM))
    options: dict[str, Any] = {"source": {"inline": PLATFORM}, "dest": str(dest), "require_credentials": True}
    result = run(**options, images=["quay.io/app", "nginx"])
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "not_found"
    assert failure["msg"] == (
        "images[1] nginx: no credential for kubelet and containers_image; "
        "add a layer that has one, or set require_credentials: false"
    )
    assert json.loads(dest.read_text()) == TEAM
    (target,) = run(**options, images=["quay.io/app"])["targets"]
    assert target["actions"] == ["updated"]
    assert target["images"][0]["kubelet"]["layer"] == "inline"


def test_a_failure_names_five_images_at_most(run: Run) -> None:
    images = [f"r{index}.example/app" for index in range(8)]
    result = run(source={"inline": PLATFORM}, images=images, require_credentials=True)
    message = result["failed_targets"][0]["msg"]
    assert "images[4] r4.example/app" in message
    assert "r5.example" not in message
    assert "and 3 more images" in message


def test_check_mode_and_diff_are_the_same_with_and_without(run: Run, tmp_path: Path) -> None:
    options: dict[str, Any] = {"source": {"inline": PLATFORM}, "dest": str(tmp_path / "config.json")}
    options["digest_key"] = "a-key"
    without = run(check_mode=True, diff=True, **options)
    asked = run(check_mode=True, diff=True, **options, images=["quay.io/app"])
    assert asked["diff"] == without["diff"]
    assert asked["targets"][0].pop("images")[0]["kubelet"]["found"]
    for one in (asked, without):
        del one["targets"][0]["operations"]
    assert asked == without
    assert not (tmp_path / "config.json").exists()


def test_images_are_defaults_of_targets_and_are_not_checked_for_absent_ones(run: Run, tmp_path: Path) -> None:
    targets = [
        {"id": "one", "source": {"inline": PLATFORM}},
        {"id": "two", "source": {"inline": TEAM}, "images": ["team.example.com/app"]},
        {"id": "three", "state": "absent", "dest": str(tmp_path / "nothing.json")},
        {"id": "four", "source": {"inline": TEAM}, "images": []},
    ]
    one, two, three, four = run(images=["quay.io/app"], targets=targets)["targets"]
    assert [row["image"] for row in one["images"] + two["images"]] == ["quay.io/app", "team.example.com/app"]
    assert "images" not in three
    assert four["images"] == []


@pytest.mark.parametrize(
    ("images", "says"),
    [
        (["quay.io/app", "https://quay.io/app"], "images[1] is not a valid image name"),
        ([""], "images[0] is not a valid image name"),
        (["quay.io/" + "a" * 5000], "images[0] is not a valid image name"),
        (
            ["quay.io/app", "a" * 2000 + ".io/x"],
            "images[1] is not a valid image name: its host must be at most",
        ),
        (["quay.io/" + "a" * 256], "images[0] is not a valid image name: its repository must be at most 255"),
        (["UPPER"], "images[0] is not a valid image name"),
        (["quay.io/app"] * 1001, "images must have at most 1000 entries"),
    ],
)
def test_a_wrong_image_fails_its_target_without_quoting_it(run: Run, images: list[str], says: str) -> None:
    result = run(targets=[{"source": {"inline": PLATFORM}, "images": images}])
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "configuration"
    assert failure["msg"].startswith(says)
    assert len(failure["msg"]) < 200


def test_the_time_limit_ends_the_look_up_between_images(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    dest = tmp_path / "config.json"
    looked_up: list[str] = []

    def groups(_self: Any, image: str) -> list[Any]:
        looked_up.append(image)
        monkeypatch.setattr(Deadline, "remaining", lambda _self: 0.0)
        return []

    monkeypatch.setattr(match.KubeletFile, "groups", groups)
    result = run(source={"inline": PLATFORM}, images=["quay.io/a", "quay.io/b"], dest=str(dest), timeout=30)
    (failure,) = result["failed_targets"]
    assert failure["kind"] == "timeout"
    assert failure["msg"].startswith("images[1]: the target's time limit of 30 s has passed")
    assert looked_up == ["quay.io/a"]
    assert not dest.exists()


def test_a_password_of_the_document_in_an_image_is_not_shown(run: Run) -> None:
    password = "S3cretPassw0rdXYZ"
    auth = base64.b64encode(f"example-user:{password}".encode()).decode()
    config = {"auths": {"quay.io": {"auth": auth}}}
    result = run(source={"inline": config}, images=[f"docker.io/a:{password}", f"quay.io/a:{password}"])
    (target,) = result["targets"]
    assert [row["image"] for row in target["images"]] == ["docker.io/a:********", "quay.io/a:********"]
    assert target["warnings"] == [
        "images[0] docker.io/a:********: no credential for kubelet and containers_image"
    ]
    assert password not in json.dumps(result)


def test_a_helper_is_named_by_its_rule_and_its_program_by_nothing(run: Run) -> None:
    config = {**docker_config(quay_io="platform"), "credHelpers": {"quay.io": "some-program"}}
    result = run(source={"inline": config}, images=["quay.io/app"])
    row = result["targets"][0]["images"][0]
    assert row["containers_image"] == {
        "found": True,
        "registry": "quay.io",
        "rule": "credential_helper",
        "layer": None,
        "others": [],
    }
    assert row["kubelet"]["rule"] == "host"
    assert "some-program" not in json.dumps(result)
